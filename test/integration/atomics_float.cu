// Floating-point atomics: add, CAS loops, exchange.
// RUN: %regrain -O2 --offload-arch=cpu,sm_80 %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"
#include <cuda_fp16.h>

constexpr int B = 6, T = 64, N = B * T;

__device__ float atomic_max(float *address, float value) {
  int *bits = (int *)address, old = *bits, assumed;
  do {
    assumed = old;
    if (__int_as_float(assumed) >= value)
      break;
    old = atomicCAS(bits, assumed, __float_as_int(value));
  } while (old != assumed);
  return __int_as_float(old);
}

__device__ double atomic_mul(double *address, double value) {
  auto *bits = (unsigned long long *)address;
  unsigned long long old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __double_as_longlong(__longlong_as_double(assumed) * value));
  } while (old != assumed);
  return __longlong_as_double(old);
}

__global__ void all(float *f, double *d, __half2 *h) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&f[0], 0.5f);
  atomicAdd(&d[0], 0.25);
  atomic_max(&f[1], float((i * 37) % N));
  if (i < 20)
    atomic_mul(&d[1], 2.0);
  f[3 + i] = atomicExch(&f[2], float(i + 1));
  atomicAdd(h, __floats2half2_rn(1, 2));
  __shared__ float s;
  __shared__ double sd;
  if (threadIdx.x == 0)
    s = 0, sd = 1;
  __syncthreads();
  atomicAdd(&s, float(threadIdx.x));
  atomicAdd(&sd, 1.0);
  __syncthreads();
  if (threadIdx.x == 0)
    f[3 + N + blockIdx.x] = s + sd;
}

__global__ void histogram(float *bins, const int *keys, int n) {
  __shared__ float local[10];
  for (int i = threadIdx.x; i < 10; i += blockDim.x)
    local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[keys[i]], 1.0f);
  __syncthreads();
  for (int i = threadIdx.x; i < 10; i += blockDim.x)
    atomicAdd(&bins[i], local[i]);
}

int main() {
  float *f = managed<float>(3 + N + B), *bins = managed<float>(10);
  double *d = managed<double>(2);
  __half2 *h = managed<__half2>(1);
  d[1] = 3;
  f[1] = -1;
  all<<<B, T>>>(f, d, h);
  finish_kernel();
  EXPECT_AT(0, f[0], N * 0.5f);
  EXPECT_AT(0, d[0], N * 0.25);
  EXPECT_AT(1, f[1], float(N - 1));
  EXPECT_AT(1, d[1], 3.0 * (1 << 20));
  // Each value but the last one in place was handed to exactly one thread.
  double sum = f[2];
  for (int i = 0; i < N; ++i)
    sum += f[3 + i];
  EXPECT_AT(2, sum, N * (N + 1) / 2.0);
  for (int b = 0; b < B; ++b)
    EXPECT_AT(b, f[3 + N + b], float(T * (T - 1) / 2 + T + 1));
  EXPECT_AT(0, __low2float(*h), float(N));
  EXPECT_AT(0, __high2float(*h), float(2 * N));
  int *keys = managed<int>(5000);
  float want[10] = {};
  for (int i = 0; i < 5000; ++i)
    ++want[keys[i] = i * i % 10];
  histogram<<<B, T>>>(bins, keys, 5000);
  finish_kernel();
  for (int i = 0; i < 10; ++i)
    EXPECT_AT(i, bins[i], want[i]);
  return result();
}
