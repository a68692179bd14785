// Unsigned indices into a block's memory wrap, as addresses of 32 bits do on a chip: ~i counts back from a pointer, and so does a difference.
//
// RUN: %regrain --offload-arch=cpu -O3 %s -o %t && %t | FileCheck %s && env REGRAIN_CPU_MODE=coroutine %t | FileCheck %s
// RUN: %regrain --offload-arch=cpu -O0 %s -o %t && %t | FileCheck %s
// RUN: %regrain --offload-arch=cpu -O3 -fregrain-coarsen-blocks=2 -fregrain-coarsen-threads=2 %s -o %t && %t | FileCheck %s
// RUN: %regrain --offload-arch=cpu -O3 -fregrain-emulate=sm_80 %s -o %t && %t | FileCheck %s
// RUN: %regrain --offload-arch=cpu -O3 -fregrain-emulate=gfx90a %s -o %t && %t | FileCheck %s
// CHECK: 0 wrong

#include <cstdio>

constexpr int BLOCKS = 6, THREADS = 128;

__global__ void reversed(unsigned *out) {
  __shared__ unsigned tile[2 * THREADS + 8];
  unsigned *half = tile + THREADS;
  const unsigned *end = half + threadIdx.x + 1;
  tile[threadIdx.x] = threadIdx.x;
  half[threadIdx.x] = THREADS + threadIdx.x;
  __syncthreads();
  unsigned i = threadIdx.x;
  // Both are in front of their pointers.
  unsigned first = end[~i], second = half[i - 2 * i - 1];
  for (unsigned k = 0; k < blockIdx.x; k++) {
    half += 1;
    first += half[~k] - half[k - 2 * k - 1];
  }
  out[blockIdx.x * THREADS + threadIdx.x] = 1000 * first + second;
}

int main() {
  static unsigned host[BLOCKS * THREADS];
  unsigned *out;
  cudaMalloc(&out, sizeof host);
  reversed<<<BLOCKS, THREADS>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (unsigned k = 0; k < BLOCKS * THREADS; k++)
    wrong += host[k] != 1000 * THREADS + THREADS - 1 - k % THREADS;
  printf("%d wrong\n", wrong);
}
