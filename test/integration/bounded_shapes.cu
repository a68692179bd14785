// A kernel that states a bound and never reads how many threads a block has is taken to be launched with just that many; any other number
// gives the same results, by a block function that is compiled cheaply.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t && %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-coarsen-blocks=2 %s -o %t2 && %t2
#include "check.h"

// Sums of warps, and of the threads before one in its warp.
__global__ void __launch_bounds__(256) sums(const int *in, int *total, int *before) {
  int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x % 32;
  int value = in[i], sum = value;
  for (int distance = 1; distance < 32; distance *= 2) {
    int other = __shfl_up_sync(~0u, sum, distance);
    if (lane >= distance)
      sum += other;
  }
  before[i] = sum - value;
  __syncthreads();
  if (lane == 31)
    total[i / 32] = sum;
}

int main() {
  constexpr int blocks = 3, size = blocks * 256;
  int *in = managed<int>(size), *total = managed<int>(size / 32), *before = managed<int>(size);
  for (int i = 0; i < size; ++i)
    in[i] = i * 7 % 13;
  // The number is not a constant for whoever compiles this.
  for (volatile int threads : {32, 96, 128, 256}) {
    for (int i = 0; i < size; ++i)
      before[i] = total[i / 32] = -1;
    sums<<<blocks, threads>>>(in, total, before);
    finish_kernel();
    for (int i = 0, sum = 0; i < size; ++i) {
      bool runs = i % 256 < threads;
      sum = i % 32 == 0 ? 0 : sum;
      EXPECT_AT(i, before[i], runs ? sum : -1);
      sum += in[i];
      if (i % 32 == 31)
        EXPECT_AT(i, total[i / 32], runs ? sum : -1);
    }
  }
  return result();
}
