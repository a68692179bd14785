// A program cannot free anything once a kernel has failed: that is no leak of its own. After a reset of the device it can again.

// REQUIRES: cuda-toolkit
// RUN: %regrain --offload-arch=cpu -O2 -g -fregrain-check=memory,leak %s -o %t && %t 2>&1 | FileCheck %s --implicit-check-not=Leaked
// RUN: not %t reset 2>&1 | FileCheck %s --check-prefixes=CHECK,RESET

#include <cstdio>

__global__ void fails(int *p) {
  if (p[threadIdx.x] == 0) __trap();
}

int main(int argc, char **) {
  int *p;
  cudaMalloc(&p, 128);
  cudaMemset(p, 0, 128);
  fails<<<1, 32>>>(p);
  // CHECK: the kernel fails: 1, the memory cannot be freed: 1
  const bool failed = cudaDeviceSynchronize() != cudaSuccess, refused = cudaFree(p) != cudaSuccess;
  printf("the kernel fails: %d, the memory cannot be freed: %d\n", failed, refused);
  fflush(stdout);
  if (argc > 1) {
    cudaDeviceReset();
    // RESET: Leaked 64 bytes
    cudaMalloc(&p, 64);
  }
  return 0;
}
