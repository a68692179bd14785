// Loops by a stride that carry sums, with few and with many rounds; what is left of them, swaps of what is carried, and counts that all threads
// add up.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

__global__ void sums(const float *a, const float *b, float *out, int n) {
  float sum = 0, most = -1;
  int rounds = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    sum += a[i] * b[i];
    most = fmaxf(most, a[i]);
    ++rounds;
  }
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  out[3 * t] = sum, out[3 * t + 1] = most, out[3 * t + 2] = rounds;
}

// A Fibonacci-like pair changes places in each round.
__global__ void pairs(const unsigned *in, unsigned *out, size_t n) {
  unsigned last = 1, now = threadIdx.x;
  for (size_t i = threadIdx.x; i < n; i += blockDim.x) {
    unsigned next = last + now * in[i];
    last = now;
    now = next;
  }
  out[threadIdx.x] = last * 3 + now;
}

__global__ void counts(const int *in, int *count, int *bounds, int n) {
  __shared__ int least, most, all;
  if (threadIdx.x == 0)
    least = 1 << 30, most = -1, all = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicMin(&least, in[i]);
    atomicMax(&most, in[i]);
    if (in[i] % 3 == 0)
      atomicAdd(&all, 1);
    atomicAdd(&count[in[i] % 16], 1);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicMin(&bounds[0], least);
    atomicMax(&bounds[1], most);
    atomicAdd(&bounds[2], all);
  }
}

void check_sums(int blocks, int threads, int n) {
  float *a = managed<float>(n + 1), *b = managed<float>(n + 1), *out = managed<float>(3 * blocks * threads);
  for (int i = 0; i < n; ++i)
    a[i] = i % 97 * 0.25f, b[i] = i % 13 - 6.0f;
  sums<<<blocks, threads>>>(a, b, out, n);
  finish_kernel();
  int all = blocks * threads;
  for (int t = 0; t < all; ++t) {
    float sum = 0, most = -1;
    int rounds = 0;
    for (int i = t; i < n; i += all)
      sum += a[i] * b[i], most = std::max(most, a[i]), ++rounds;
    EXPECT_AT(t, out[3 * t], sum);
    EXPECT_AT(t, out[3 * t + 1], most);
    EXPECT_AT(t, out[3 * t + 2], float(rounds));
  }
  OK(cudaFree(a));
  OK(cudaFree(b));
  OK(cudaFree(out));
}

void check_pairs(int threads, size_t n) {
  unsigned *in = managed<unsigned>(n + 1), *out = managed<unsigned>(threads);
  for (size_t i = 0; i < n; ++i)
    in[i] = i * 2654435761u >> 7;
  pairs<<<1, threads>>>(in, out, n);
  finish_kernel();
  for (int t = 0; t < threads; ++t) {
    unsigned last = 1, now = t;
    for (size_t i = t; i < n; i += threads) {
      unsigned next = last + now * in[i];
      last = now, now = next;
    }
    EXPECT_AT(t, out[t], last * 3 + now);
  }
}

void check_counts(int blocks, int threads, int n) {
  int *in = managed<int>(n), *count = managed<int>(16), *bounds = managed<int>(3), wanted[16] = {}, thirds = 0;
  bounds[0] = 1 << 30, bounds[1] = -1;
  int least = 1 << 30, most = -1;
  for (int i = 0; i < n; ++i) {
    in[i] = i * 40503 % 65521;
    ++wanted[in[i] % 16], thirds += in[i] % 3 == 0;
    least = std::min(least, in[i]), most = std::max(most, in[i]);
  }
  counts<<<blocks, threads>>>(in, count, bounds, n);
  finish_kernel();
  for (int i = 0; i < 16; ++i)
    EXPECT_AT(i, count[i], wanted[i]);
  EXPECT(bounds[0] == least && bounds[1] == most && bounds[2] == thirds);
}

int main() {
  for (int n : {0, 1, 100, 5000, 60001, 300007})
    check_sums(2, 64, n), check_sums(3, 96, n), check_sums(1, 50, n), check_sums(40, 256, n);
  for (size_t n : {0, 63, 64, 4099, 50000})
    check_pairs(64, n), check_pairs(33, n);
  for (int n : {1, 777, 200003})
    check_counts(3, 128, n), check_counts(1, 20, n);
  return result();
}
