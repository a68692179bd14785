// Cooperative groups within a block.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
// RUN: %regrain -O0 --offload-arch=cpu %s -o %t0
// RUN: %t0
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

__global__ void block(int *out) {
  __shared__ int s[128];
  cg::thread_block b = cg::this_thread_block();
  s[b.thread_rank()] = b.thread_rank() + b.group_index().x * 1000;
  b.sync();
  out[b.group_index().x * b.size() + b.thread_rank()] = s[b.size() - 1 - b.thread_rank()];
  if (b.thread_index().y != threadIdx.y || b.group_dim().x != 16)
    out[0] = -1;
}

template <int N> __device__ int tile_sum(int v) {
  auto tile = cg::tiled_partition<N>(cg::this_thread_block());
  for (int d = tile.size() / 2; d > 0; d /= 2)
    v += tile.shfl_xor(v, d);
  tile.sync();
  return v * 100 + tile.thread_rank() + tile.meta_group_rank();
}

__global__ void tiles(int *out) {
  int t = threadIdx.x, n = blockDim.x;
  out[t] = tile_sum<32>(t);
  out[n + t] = tile_sum<8>(t);
  out[2 * n + t] = tile_sum<4>(t);
  out[3 * n + t] = tile_sum<1>(t);
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  out[4 * n + t] = tile.ballot(t % 2) + tile.any(t == 3) * 0x10000 + tile.all(t < 32) * 0x20000;
  out[5 * n + t] = tile.shfl(t, 3) * 10000 + tile.shfl_up(t, 2) * 100 + tile.shfl_down(t, 1);
}

__global__ void reductions(int *out, float *f) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int t = threadIdx.x, n = blockDim.x;
  out[t] = cg::reduce(warp, t, cg::plus<int>());
  out[n + t] = cg::reduce(warp, t ^ 21, cg::greater<int>());
  out[2 * n + t] = cg::inclusive_scan(warp, t, cg::plus<int>());
  out[3 * n + t] = cg::exclusive_scan(warp, 1);
  f[t] = cg::reduce(cg::tiled_partition<8>(cg::this_thread_block()), t * 0.5f, cg::plus<float>());
}

// The lanes that a branch leaves together.
__global__ void coalesced(int *out, int *counter) {
  int t = threadIdx.x;
  out[t] = -1;
  if (t % 3 == 1) {
    auto active = cg::coalesced_threads();
    int base = 0;
    if (active.thread_rank() == 0)
      base = atomicAdd(counter, active.size());
    base = active.shfl(base, 0);
    out[t] = base + active.thread_rank();
  }
}

int main() {
  constexpr int N = 64;
  int *out = managed<int>(6 * 128), *counter = managed<int>(1);
  float *f = managed<float>(N);
  block<<<2, dim3(16, 8)>>>(out);
  finish_kernel();
  for (int i = 0; i < 256; ++i)
    EXPECT_AT(i, out[i], 127 - i % 128 + i / 128 * 1000);
  tiles<<<1, N>>>(out);
  finish_kernel();
  for (int t = 0; t < N; ++t) {
    int sizes[] = {32, 8, 4, 1};
    for (int k = 0; k < 4; ++k) {
      int n = sizes[k], sum = 0;
      for (int i = t / n * n; i < t / n * n + n; ++i)
        sum += i;
      EXPECT_AT(t, out[k * N + t], sum * 100 + t % n + t / n);
    }
    EXPECT_AT(t, out[4 * N + t], 0xaaaa + (t < 16) * 0x10000 + (t < 32) * 0x20000);
    int b = t & ~15, up = t - 2 < b ? t : t - 2, down = t + 1 > b + 15 ? t : t + 1;
    EXPECT_AT(t, out[5 * N + t], (b + 3) * 10000 + up * 100 + down);
  }
  reductions<<<1, N>>>(out, f);
  finish_kernel();
  for (int t = 0; t < N; ++t) {
    int w = t & ~31, sum = 0, hi = 0, scan = 0;
    for (int i = w; i < w + 32; ++i) {
      sum += i, hi = std::max(hi, i ^ 21);
      scan += i <= t ? i : 0;
    }
    EXPECT_AT(t, out[t], sum);
    EXPECT_AT(t, out[N + t], hi);
    EXPECT_AT(t, out[2 * N + t], scan);
    EXPECT_AT(t, out[3 * N + t], t % 32);
    EXPECT_AT(t, f[t], ((t & ~7) * 8 + 28) * 0.5f);
  }
  coalesced<<<1, N>>>(out, counter);
  finish_kernel();
  EXPECT_AT(0, *counter, 21);
  bool seen[21] = {};
  for (int t = 0; t < N; ++t)
    if (t % 3 == 1) {
      EXPECT(out[t] >= 0 && out[t] < 21 && !seen[out[t]]);
      seen[out[t] % 21] = true;
    } else {
      EXPECT_AT(t, out[t], -1);
    }
  return result();
}
