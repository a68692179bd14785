// Warp reductions of sm_80, over whole warps and parts of them.
// RUN: %regrain -O2 --offload-arch=cpu,sm_80 %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"
#include <climits>

static_assert(sizeof(int) == 4);

__global__ void reduce(unsigned *u, int *s, unsigned mask) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#error "the source sees the lowest architecture asked for"
#endif
  int lane = threadIdx.x;
  if (!(mask >> lane & 1))
    return;
  unsigned v = lane * 7u + 3u;
  int w = lane % 2 ? -lane : lane;
  u[lane] = __reduce_add_sync(mask, v);
  u[32 + lane] = __reduce_min_sync(mask, v);
  u[64 + lane] = __reduce_max_sync(mask, v);
  u[96 + lane] = __reduce_and_sync(mask, v);
  u[128 + lane] = __reduce_or_sync(mask, v);
  u[160 + lane] = __reduce_xor_sync(mask, v);
  s[lane] = __reduce_add_sync(mask, w);
  s[32 + lane] = __reduce_min_sync(mask, w);
  s[64 + lane] = __reduce_max_sync(mask, w);
}

int main() {
  unsigned *u = managed<unsigned>(192);
  int *s = managed<int>(96);
  for (unsigned mask : {0xffffffffu, 0x1u, 0x00ff00f0u, 0x80000001u}) {
    reduce<<<1, 32>>>(u, s, mask);
    finish_kernel();
    unsigned add = 0, lo = ~0u, hi = 0, all = ~0u, any = 0, parity = 0;
    int sadd = 0, slo = INT_MAX, shi = INT_MIN;
    for (int i = 0; i < 32; ++i) {
      if (!(mask >> i & 1))
        continue;
      unsigned v = i * 7u + 3u;
      int w = i % 2 ? -i : i;
      add += v, all &= v, any |= v, parity ^= v, sadd += w;
      lo = std::min(lo, v), hi = std::max(hi, v), slo = std::min(slo, w), shi = std::max(shi, w);
    }
    for (int i = 0; i < 32; ++i) {
      if (!(mask >> i & 1))
        continue;
      unsigned want[] = {add, lo, hi, all, any, parity};
      for (int k = 0; k < 6; ++k)
        EXPECT_AT(k, u[k * 32 + i], want[k]);
      EXPECT(s[i] == sadd && s[32 + i] == slo && s[64 + i] == shi);
    }
  }
  return result();
}
