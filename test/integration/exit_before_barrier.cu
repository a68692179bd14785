// Threads write and exit; the others see it behind a barrier.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-coarsen-threads=2 %s -o %t.coarse
// RUN: %t.coarse
#include "check.h"

__global__ void leave(unsigned *out, unsigned *seen, unsigned limit) {
  const unsigned tid = threadIdx.x;
  seen[tid] = tid;
  __syncthreads();
  if ((tid < 28 || limit < 23) && tid % 8 != 0) {
    seen[tid] = tid + 100;
    return;
  }
  __syncthreads();
  out[tid] = seen[(tid + 1) % 40];
}

__global__ void cases(unsigned *out, unsigned *seen, unsigned limit) {
  const unsigned tid = threadIdx.x;
  seen[tid] = tid;
  __syncthreads();
  switch (tid % 4) {
  case 0: break;
  case 1: seen[tid] = tid + 100 + limit; return;
  default: return;
  }
  __syncthreads();
  out[tid] = seen[tid + 1];
}

int main() {
  unsigned *out = nullptr, *seen = nullptr, host[40], wrong = 0;
  cudaMalloc(&out, sizeof host);
  cudaMalloc(&seen, sizeof host);
  for (unsigned limit = 0; limit < 30; limit += 29) {
    leave<<<1, 40>>>(out, seen, limit);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (unsigned tid = 0; tid < 40; tid += 8) wrong += host[tid] != tid + 1 + (tid < 27 || limit < 23 ? 100 : 0);
    cases<<<1, 40>>>(out, seen, limit);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (unsigned tid = 0; tid < 40; tid += 4) wrong += host[tid] != tid + 101 + limit;
  }
  printf("%u wrong\n", wrong);
  return wrong != 0;
}
