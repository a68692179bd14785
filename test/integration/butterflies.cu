// Threads that exchange with the one whose number has one bit flipped, near and far: in shared and in global memory, with blocks that begin
// anywhere.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

// One step of a bitonic sort of all numbers.
__global__ void step(int *a, unsigned n, unsigned j, unsigned k) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;
  if (other > i && other < n) {
    int mine = a[i], its = a[other];
    if ((i & k) == 0 ? mine > its : mine < its)
      a[i] = its, a[other] = mine;
  }
}

// All steps of the blocks' own numbers.
__global__ void steps(int *a) {
  extern __shared__ int tile[];
  int t = threadIdx.x, first = blockIdx.x * blockDim.x;
  tile[t] = a[first + t];
  __syncthreads();
  for (int k = 2; k <= blockDim.x; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      int other = t ^ j;
      if (other > t) {
        int mine = tile[t], its = tile[other];
        if ((t & k) == 0 ? mine > its : mine < its)
          tile[t] = its, tile[other] = mine;
      }
      __syncthreads();
    }
  a[first + t] = tile[t];
}

// The numbers of threads begin at `from`: bits change within a row.
__global__ void flips(const int *in, int *out, long long from, long long mask) {
  long long i = from + threadIdx.x;
  out[threadIdx.x] = in[i ^ mask];
}

void sort(int blocks, int threads) {
  const unsigned n = blocks * threads;
  int *a = managed<int>(n), *wanted = managed<int>(n);
  for (unsigned i = 0; i < n; ++i)
    wanted[i] = a[i] = i * 7919u % 1021;
  for (unsigned k = 2; k <= n; k *= 2)
    for (unsigned j = k / 2; j > 0; j /= 2) {
      step<<<blocks, threads>>>(a, n, j, k);
      finish_kernel();
      for (unsigned i = 0; i < n; ++i)
        if ((i ^ j) > i && (i ^ j) < n && ((i & k) == 0) == (wanted[i] > wanted[i ^ j]) && wanted[i] != wanted[i ^ j])
          std::swap(wanted[i], wanted[i ^ j]);
      for (unsigned i = 0; i < n; ++i)
        EXPECT_AT(i, a[i], wanted[i]);
    }
}

int main() {
  sort(4, 64), sort(2, 256), sort(3, 96), sort(8, 16), sort(5, 33);
  for (int threads : {32, 128, 512}) {
    const int n = 4 * threads;
    int *a = managed<int>(n);
    for (int i = 0; i < n; ++i)
      a[i] = i * 40503 % 65521;
    steps<<<4, threads, threads * sizeof(int)>>>(a);
    finish_kernel();
    for (int i = 1; i < n; ++i)
      EXPECT(i % threads == 0 || a[i - 1] <= a[i]);
  }
  int *in = managed<int>(4096), *out = managed<int>(128);
  for (int i = 0; i < 4096; ++i)
    in[i] = i * 3 + 1;
  for (long long from : {0, 1, 16, 64, 100, 127, 256})
    for (long long mask : {0, 1, 2, 3, 16, 48, 64, 128, 129, 1024, 2047})
      for (int threads : {128, 64, 3, 50}) {
        flips<<<1, threads>>>(in, out, from, mask);
        finish_kernel();
        for (int t = 0; t < threads; ++t)
          EXPECT_AT(t, out[t], in[(from + t) ^ mask]);
      }
  return result();
}
