// What a kernel writes behind a small allocation lands in device memory, as on a GPU, and not in the host's heap; memory that is freed is used
// again.
//
// RUN: %regrain --offload-arch=cpu -O2 %s -o %t && %t | FileCheck %s
// CHECK: 0 wrong, host intact, reused

#include <cstdio>
#include <cstdlib>
#include <cstring>

constexpr int SIZE = 1000, BEHIND = 20000;

__global__ void count(int *p) { p[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x * blockDim.x + threadIdx.x; }

int main() {
  int *first, *last, *again;
  char *blocks[64];
  cudaMalloc(&first, 64);
  for (char *&block : blocks)
    memset(block = (char *)malloc(3000), 7, 3000);
  cudaMalloc(&last, SIZE * sizeof(int));
  count<<<(SIZE + BEHIND) / 100, 100>>>(last);
  static int host[SIZE];
  cudaMemcpy(host, last, sizeof host, cudaMemcpyDeviceToHost);
  int wrong = 0, changed = 0;
  for (int k = 0; k < SIZE; k++)
    wrong += host[k] != k;
  for (char *block : blocks) {
    for (int k = 0; k < 3000; k++)
      changed += block[k] != 7;
    free(block);
  }
  cudaFree(last);
  cudaMalloc(&again, SIZE * sizeof(int));
  printf("%d wrong, host %s, %s\n", wrong, changed ? "changed" : "intact", again == last ? "reused" : "elsewhere");
  cudaFree(again);
  cudaFree(first);
}
