// Dot products of bytes and of halves with bytes, of all four kinds of signs, against sums of single products: rows of lanes, masked lanes,
// operands of all lanes, bytes that are never negative, and loops that threads leave at different times.
// RUN: %regrain -O3 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
// RUN: %regrain -O3 --offload-arch=cpu -fregrain-cpu=x86-64 %s -o %t
// RUN: %t
// RUN: %regrain -O3 --offload-arch=cpu -fregrain-cpu=x86-64-v2 %s -o %t
// RUN: %t
#include "check.h"

#include <cstdint>

enum Kind { SS, SU, US, UU, KINDS };

#define DOT(name, instruction)                                                                                                             \
  __device__ uint32_t name(uint32_t a, uint32_t b, uint32_t c) {                                                                           \
    uint32_t sum;                                                                                                                          \
    asm(instruction " %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));                                                              \
    return sum;                                                                                                                            \
  }
DOT(dp4a_su, "dp4a.s32.u32")
DOT(dp4a_us, "dp4a.u32.s32")
DOT(dp2a_lo_su, "dp2a.lo.s32.u32")
DOT(dp2a_lo_us, "dp2a.lo.u32.s32")
DOT(dp2a_hi_su, "dp2a.hi.s32.u32")
DOT(dp2a_hi_us, "dp2a.hi.u32.s32")

// Of all kinds of signs; CUDA has functions where both have one or neither has.
#define KINDS_OF(name)                                                                                                                     \
  template <int KIND> __device__ uint32_t name(uint32_t a, uint32_t b, uint32_t c) {                                                       \
    switch (KIND) {                                                                                                                        \
    case SS: return uint32_t(__##name(int(a), int(b), int(c)));                                                                            \
    case SU: return name##_su(a, b, c);                                                                                                    \
    case US: return name##_us(a, b, c);                                                                                                    \
    default: return __##name(a, b, c);                                                                                                     \
    }                                                                                                                                      \
  }
KINDS_OF(dp4a)
KINDS_OF(dp2a_lo)
KINDS_OF(dp2a_hi)

enum { PLAIN, NOTHING_ADDED, SMALL_A, SMALL_B, SQUARE, CHAIN, LO, HI, MASKED, OF_ALL, LOOP, RESULTS };

template <int KIND>
__global__ void dots(const uint32_t *__restrict__ a, const uint32_t *__restrict__ b, const uint32_t *__restrict__ c, uint32_t *out, int n,
                     uint32_t all) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[PLAIN * n + i] = dp4a<KIND>(a[i], b[i], c[i]);
  out[NOTHING_ADDED * n + i] = dp4a<KIND>(a[i], b[i], 0);
  out[SMALL_A * n + i] = dp4a<KIND>(a[i] & 0x7f7f7f7f, b[i], c[i]);
  out[SMALL_B * n + i] = dp4a<KIND>(a[i], b[i] >> 4 & 0x0f0f0f0f, c[i]);
  out[SQUARE * n + i] = dp4a<KIND>(a[i], a[i], c[i]);
  out[CHAIN * n + i] = dp4a<KIND>(b[i], a[i], dp4a<KIND>(a[i], b[i], dp4a<KIND>(a[i], b[i], c[i])));
  out[LO * n + i] = dp2a_lo<KIND>(a[i], b[i], c[i]);
  out[HI * n + i] = dp2a_hi<KIND>(a[i], b[i], c[i]);
  out[OF_ALL * n + i] = dp4a<KIND>(all, b[i], c[i]);
  if (c[i] & 1) out[MASKED * n + i] = dp4a<KIND>(a[i], b[i], out[MASKED * n + i]);
  uint32_t sum = 0;
  for (uint32_t round = 0; round < (c[i] & 7); ++round) sum = dp4a<KIND>(a[(i + round) % n], b[i], sum);
  out[LOOP * n + i] = sum;
}

static int64_t part(uint32_t word, int number, int bits, bool hasSign) {
  int64_t found = word >> (number * bits) & ((1u << bits) - 1);
  return hasSign && found >> (bits - 1) ? found - (int64_t(1) << bits) : found;
}

static uint32_t dot(int kind, uint32_t a, uint32_t b, uint32_t c) {
  int64_t sum = c;
  for (int i = 0; i < 4; ++i) sum += part(a, i, 8, kind == SS || kind == SU) * part(b, i, 8, kind == SS || kind == US);
  return uint32_t(sum);
}

static uint32_t dot2(int kind, uint32_t a, uint32_t b, uint32_t c, int first) {
  int64_t sum = c;
  for (int i = 0; i < 2; ++i) sum += part(a, i, 16, kind == SS || kind == SU) * part(b, first + i, 8, kind == SS || kind == US);
  return uint32_t(sum);
}

static const uint32_t EDGES[] = {0,          0xffffffff, 0x80808080, 0x7f7f7f7f, 0x7f7f8080, 0x80807f7f,
                                 0x007f80ff, 0xff01fe80, 0x00000080, 0x80000000, 0x7fffffff, 0x01010101};
static const uint32_t SUMS[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff};

template <int KIND> static void check() {
  const int edges = sizeof(EDGES) / sizeof(*EDGES), sums = sizeof(SUMS) / sizeof(*SUMS), n = edges * edges * sums + 1003;
  const uint32_t all = KIND == UU ? 0xfffefdfc : 0x80ff7f01;
  uint32_t *a = managed<uint32_t>(n), *b = managed<uint32_t>(n), *c = managed<uint32_t>(n), *out = managed<uint32_t>(RESULTS * n);
  uint32_t state = 12345;
  auto next = [&] { return state = state * 1664525 + 1013904223, state ^ state >> 15; };
  for (int i = 0; i < n; ++i) {
    bool isEdge = i < edges * edges * sums;
    a[i] = isEdge ? EDGES[i % edges] : next();
    b[i] = isEdge ? EDGES[i / edges % edges] : next();
    c[i] = isEdge ? SUMS[i / edges / edges] : next();
  }
  dots<KIND><<<(n + 127) / 128, 128>>>(a, b, c, out, n, all);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) {
    uint32_t sum = 0;
    for (uint32_t round = 0; round < (c[i] & 7); ++round) sum = dot(KIND, a[(i + round) % n], b[i], sum);
    const uint32_t chain = dot(KIND, b[i], a[i], dot(KIND, a[i], b[i], dot(KIND, a[i], b[i], c[i])));
    EXPECT_AT(i, out[PLAIN * n + i], dot(KIND, a[i], b[i], c[i]));
    EXPECT_AT(i, out[NOTHING_ADDED * n + i], dot(KIND, a[i], b[i], 0));
    EXPECT_AT(i, out[SMALL_A * n + i], dot(KIND, a[i] & 0x7f7f7f7f, b[i], c[i]));
    EXPECT_AT(i, out[SMALL_B * n + i], dot(KIND, a[i], b[i] >> 4 & 0x0f0f0f0f, c[i]));
    EXPECT_AT(i, out[SQUARE * n + i], dot(KIND, a[i], a[i], c[i]));
    EXPECT_AT(i, out[CHAIN * n + i], chain);
    EXPECT_AT(i, out[LO * n + i], dot2(KIND, a[i], b[i], c[i], 0));
    EXPECT_AT(i, out[HI * n + i], dot2(KIND, a[i], b[i], c[i], 2));
    EXPECT_AT(i, out[OF_ALL * n + i], dot(KIND, all, b[i], c[i]));
    EXPECT_AT(i, out[MASKED * n + i], c[i] & 1 ? dot(KIND, a[i], b[i], 0) : 0);
    EXPECT_AT(i, out[LOOP * n + i], sum);
  }
}

int main() {
  check<SS>();
  check<SU>();
  check<US>();
  check<UU>();
  return failures != 0;
}
