// Cooperative launches: the grid meets between phases.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void phases(int *a, int *b, int rounds) {
  cg::grid_group grid = cg::this_grid();
  unsigned i = grid.thread_rank(), n = grid.size();
  a[i] = i;
  grid.sync();
  for (int r = 0; r < rounds; ++r) {
    b[i] = a[(i + 97) % n] + 1;
    grid.sync();
    int *t = a;
    a = b, b = t;
  }
}

__global__ void with_shared(int *out, int *partial) {
  __shared__ int s[64];
  cg::grid_group grid = cg::this_grid();
  s[threadIdx.x] = threadIdx.x * (blockIdx.x + 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int v : s)
      sum += v;
    partial[blockIdx.x] = sum;
  }
  grid.sync();
  int total = 0;
  for (unsigned b = 0; b < gridDim.x; ++b)
    total += partial[b];
  // The block's shared memory is still its own after the grid has met.
  out[grid.thread_rank()] = total + s[63 - threadIdx.x];
}

int main() {
  int supported = 0, per_sm = 0, sms = 0;
  OK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0));
  EXPECT(supported == 1);
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, phases, 64, 0));
  OK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  int blocks = std::min(6, per_sm * sms), n = blocks * 64, rounds = 6;
  EXPECT(blocks > 0);
  int *a = managed<int>(n), *b = managed<int>(n);
  void *args[] = {&a, &b, &rounds};
  OK(cudaLaunchCooperativeKernel((void *)phases, blocks, 64, args, 0, nullptr));
  finish_kernel();
  for (int i = 0; i < n; ++i)
    EXPECT_AT(i, a[i], (i + 97 * rounds) % n + rounds);
  void *args2[] = {&a, &b};
  OK(cudaLaunchCooperativeKernel((void *)with_shared, dim3(blocks), dim3(64), args2, 0, nullptr));
  finish_kernel();
  int total = 0;
  for (int k = 1; k <= blocks; ++k)
    total += k * 63 * 32;
  for (int i = 0; i < n; ++i)
    EXPECT_AT(i, a[i], total + (63 - i % 64) * (i / 64 + 1));
  return result();
}
