// Static and dynamic shared memory.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
// NOT-HIP: a block has 64 KiB of shared memory, not 96
#include "check.h"

struct Pair {
  double d;
  char c;
};

__global__ void fixed(float *out) {
  __shared__ float tile[8][9];
  __shared__ Pair pairs[8];
  __shared__ unsigned char bytes[3], more[5];
  int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = x * 10 + y + blockIdx.x;
  if (y == 0)
    pairs[x] = {x * 0.5, char('a' + x)};
  if (y == 1 && x < 5)
    more[x] = 7 + x;
  if (y == 2 && x < 3)
    bytes[x] = 100 + x;
  __syncthreads();
  float v = tile[x][y] + pairs[7 - x].d + (pairs[y].c - 'a') + more[(x + y) % 5] - bytes[x % 3];
  out[(blockIdx.x * 8 + y) * 8 + x] = v;
}

extern __shared__ char raw[];

// Several arrays carved out of one block of dynamic memory, under two names and types.
__global__ void carved(int *out, int n) {
  extern __shared__ int ints[];
  double *doubles = (double *)(raw + n * sizeof(int));
  short *shorts = (short *)(doubles + n);
  int t = threadIdx.x;
  ints[t] = t;
  doubles[t] = t * 1.5;
  shorts[t] = -t;
  __syncthreads();
  int r = n - 1 - t;
  out[blockIdx.x * n + t] = ints[r] * 1000 + int(doubles[r] * 2) * 10 + shorts[r];
}

__device__ int *helper() {
  extern __shared__ int ints[];
  return ints;
}

__global__ void large(long long *out, int count) {
  extern __shared__ long long words[];
  for (int i = threadIdx.x; i < count; i += blockDim.x)
    words[i] = (long long)i * i + blockIdx.x;
  __syncthreads();
  long long sum = 0;
  for (int i = threadIdx.x; i < count; i += blockDim.x)
    sum += words[count - 1 - i];
  __syncthreads();
  if (threadIdx.x == 0)
    helper()[0] = 17;
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum + helper()[0];
}

__global__ void size_register(unsigned *out) {
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(*out));
}

int main() {
  float *f = managed<float>(192);
  fixed<<<3, dim3(8, 8)>>>(f);
  finish_kernel();
  for (int b = 0; b < 3; ++b)
    for (int y = 0; y < 8; ++y)
      for (int x = 0; x < 8; ++x) {
        float want = y * 10 + x + b + (7 - x) * 0.5 + y + 7 + (x + y) % 5 - (100 + x % 3);
        EXPECT_AT(x, f[(b * 8 + y) * 8 + x], want);
      }

  int *out = managed<int>(512);
  for (int n : {32, 100, 256}) {
    carved<<<2, n, n * (sizeof(int) + sizeof(double) + sizeof(short))>>>(out, n);
    finish_kernel();
    for (int t = 0; t < 2 * n; ++t) {
      int r = n - 1 - t % n;
      EXPECT_AT(t, out[t], r * 1000 + 3 * r * 10 - r);
    }
  }

  constexpr int bytes = 96 * 1024, count = bytes / 8;
  long long *sums = managed<long long>(128);
  large<<<2, 64, bytes>>>(sums, count);
  EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
  OK(cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  large<<<2, 64, bytes>>>(sums, count);
  finish_kernel();
  for (int b = 0; b < 2; ++b)
    for (int t = 0; t < 64; ++t) {
      long long want = 17;
      for (int i = t; i < count; i += 64)
        want += (long long)(count - 1 - i) * (count - 1 - i) + b;
      EXPECT_AT(t, sums[b * 64 + t], want);
    }
  EXPECT_ERROR(cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 30), cudaErrorInvalidValue);
  cudaGetLastError();
  unsigned *size = managed<unsigned>(1);
  size_register<<<1, 1, 1234>>>(size);
  finish_kernel();
  EXPECT(*size >= 1234 && *size < 1234 + 256);
  return result();
}
