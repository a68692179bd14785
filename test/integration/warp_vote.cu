// Votes, match, the mask of active lanes, __syncwarp.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

constexpr unsigned ALL = 0xffffffffu;

__global__ void votes(unsigned *out, int limit) {
  int t = threadIdx.x;
  bool p = t % 3 == 0, q = t < limit;
  out[t * 4] = __ballot_sync(ALL, p);
  out[t * 4 + 1] = __any_sync(ALL, q);
  out[t * 4 + 2] = __all_sync(ALL, q);
  out[t * 4 + 3] = __popc(__ballot_sync(ALL, q));
}

__global__ void matches(unsigned *any, unsigned *all, int *pred, const unsigned long long *wide) {
  int t = threadIdx.x;
  any[t] = __match_any_sync(ALL, t / 5);
  any[32 + t] = __match_any_sync(ALL, wide[t]);
  any[64 + t] = __match_any_sync(ALL, float(t % 2));
  all[t] = __match_all_sync(ALL, 17, &pred[t]);
  all[32 + t] = __match_all_sync(ALL, t == 9, &pred[32 + t]);
}

// Some lanes have taken the branch; each loop round has fewer of them.
__global__ void active(unsigned *out) {
  int t = threadIdx.x;
  out[t] = __activemask();
  __syncwarp();
  if (t % 2)
    out[32 + t] = __ballot_sync(0xaaaaaaaau, t > 16);
  else
    out[32 + t] = __ballot_sync(0x55555555u, t > 16);
  unsigned mask = ALL;
  for (int i = 0; i < 32; ++i) {
    mask = __ballot_sync(mask, t > i);
    if (t <= i)
      break;
    out[64 + t] = mask;
  }
}

// Lanes exchange through memory with __syncwarp alone.
__global__ void exchange(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x, w = t & ~31, lane = t & 31;
  s[t] = t;
  __syncwarp();
  int v = s[w + (lane + 1) % 32];
  __syncwarp();
  for (int d = 1; d < 32; d *= 2) {
    s[t] = v;
    __syncwarp();
    int o = s[w + (lane ^ d)];
    __syncwarp();
    v += o;
  }
  if (lane < 8) {
    s[t] = v + lane;
    __syncwarp(0xff);
    v = s[w + 7 - lane];
  }
  out[t] = v;
}

int main() {
  unsigned *u = managed<unsigned>(192);
  for (int limit : {0, 5, 32}) {
    votes<<<1, 32>>>(u, limit);
    finish_kernel();
    for (int t = 0; t < 32; ++t) {
      EXPECT_AT(t, u[t * 4], 0x49249249u);
      EXPECT_AT(t, u[t * 4 + 1], limit > 0);
      EXPECT_AT(t, u[t * 4 + 2], limit == 32);
      EXPECT_AT(t, u[t * 4 + 3], limit);
    }
  }
  auto *wide = managed<unsigned long long>(32);
  for (int t = 0; t < 32; ++t)
    wide[t] = (unsigned long long)(t % 4) << 40;
  unsigned *all = managed<unsigned>(64);
  int *pred = managed<int>(64);
  matches<<<1, 32>>>(u, all, pred, wide);
  finish_kernel();
  for (int t = 0; t < 32; ++t) {
    unsigned five = (t / 5 == 6 ? 3u : 31u) << (t / 5 * 5);
    EXPECT_AT(t, u[t], five);
    EXPECT_AT(t, u[32 + t], 0x11111111u << (t % 4));
    EXPECT_AT(t, u[64 + t], 0x55555555u << (t % 2));
    EXPECT(all[t] == ALL && pred[t]);
    EXPECT(all[32 + t] == 0 && !pred[32 + t]);
  }
  memset(u, 0, 192 * sizeof *u);
  active<<<1, 32>>>(u);
  finish_kernel();
  for (int t = 0; t < 32; ++t) {
    EXPECT_AT(t, u[t], ALL);
    EXPECT_AT(t, u[32 + t], 0xfffe0000u & (t % 2 ? 0xaaaaaaaau : 0x55555555u));
    EXPECT_AT(t, u[64 + t], t == 0 ? 0 : ALL << t);
  }
  int *out = managed<int>(64);
  exchange<<<1, 64>>>(out);
  finish_kernel();
  for (int t = 0; t < 64; ++t) {
    int sum = 0;
    for (int i = t & ~31; i <= (t | 31); ++i)
      sum += i;
    EXPECT_AT(t, out[t], sum + (t % 32 < 8 ? 7 - t % 32 : 0));
  }
  return result();
}
