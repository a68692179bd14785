// CUB's and Thrust's device-side parts within a kernel.
// RUN: %regrain -O2 -std=c++17 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"
#include <vector>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>

constexpr int T = 128;

__global__ void block(const int *in, int *out) {
  using Reduce = cub::BlockReduce<int, T>;
  using Scan = cub::BlockScan<int, T>;
  using Warp = cub::WarpReduce<int>;
  __shared__ union {
    typename Reduce::TempStorage reduce;
    typename Scan::TempStorage scan;
    typename Warp::TempStorage warp[T / 32];
  } temp;
  int t = threadIdx.x, v = in[blockIdx.x * T + t], r;
  int sum = Reduce(temp.reduce).Sum(v);
  __syncthreads();
  int biggest = Reduce(temp.reduce).Reduce(v, cub::Max());
  __syncthreads();
  Scan(temp.scan).ExclusiveSum(v, r);
  __syncthreads();
  int warp = Warp(temp.warp[t / 32]).Sum(v);
  out[blockIdx.x * T + t] = r;
  if (t == 0)
    out[2 * T + blockIdx.x * 2] = sum, out[2 * T + blockIdx.x * 2 + 1] = biggest;
  if (t % 32 == 0)
    out[2 * T + 4 + blockIdx.x * 4 + t / 32] = warp;
}

__global__ void sort(int *data) {
  using Sort = cub::BlockRadixSort<int, T, 2>;
  __shared__ typename Sort::TempStorage temp;
  int keys[2] = {data[threadIdx.x * 2], data[threadIdx.x * 2 + 1]};
  Sort(temp).Sort(keys);
  data[threadIdx.x * 2] = keys[0], data[threadIdx.x * 2 + 1] = keys[1];
}

int main() {
  int *in = managed<int>(2 * T), *out = managed<int>(4 * T);
  for (int i = 0; i < 2 * T; ++i)
    in[i] = i * 37 % 101 - 20;
  block<<<2, T>>>(in, out);
  finish_kernel();
  for (int b = 0; b < 2; ++b) {
    int sum = 0, biggest = -100, warp = 0;
    for (int t = 0; t < T; ++t) {
      int v = in[b * T + t];
      EXPECT_AT(t, out[b * T + t], sum);
      sum += v, warp += v, biggest = std::max(biggest, v);
      if (t % 32 == 31) {
        EXPECT_AT(t, out[2 * T + 4 + b * 4 + t / 32], warp);
        warp = 0;
      }
    }
    EXPECT_AT(b, out[2 * T + b * 2], sum);
    EXPECT_AT(b, out[2 * T + b * 2 + 1], biggest);
  }
  std::vector<int> sorted(in, in + 2 * T);
  std::sort(sorted.begin(), sorted.end());
  sort<<<1, T>>>(in);
  finish_kernel();
  for (int i = 0; i < 2 * T; ++i)
    EXPECT_AT(i, in[i], sorted[i]);
  return result();
}
