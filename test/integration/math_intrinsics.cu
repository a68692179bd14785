// Fast-math intrinsics, directed rounding, integer intrinsics, conversions.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "math.h"
#include <cfenv>

__global__ void fast(float *o, float x, float y) {
  o[0] = __expf(x), o[1] = __logf(x), o[2] = __sinf(x), o[3] = __cosf(x), o[4] = __powf(x, y);
  o[5] = __fdividef(x, y), o[6] = __exp10f(x), o[7] = __log2f(x), o[8] = __log10f(x), o[9] = __tanf(x);
  __sincosf(x, &o[10], &o[11]);
  o[12] = __saturatef(x), o[13] = __frsqrt_rn(x), o[14] = __frcp_rn(x), o[15] = __fsqrt_rn(x);
}

enum { ADD, SUB, MUL, DIV, SQRT, FMA, RCP, OPS };

#define DIRECTED(M)                                                                                \
  f[0] = __fadd_##M(x, y), f[1] = __fsub_##M(x, y), f[2] = __fmul_##M(x, y);                       \
  f[3] = __fdiv_##M(x, y), f[4] = __fsqrt_##M(x), f[5] = __fmaf_##M(x, y, x), f[6] = __frcp_##M(x);\
  d[0] = __dadd_##M(a, b), d[1] = __dsub_##M(a, b), d[2] = __dmul_##M(a, b);                       \
  d[3] = __ddiv_##M(a, b), d[4] = __dsqrt_##M(a), d[5] = __fma_##M(a, b, a), d[6] = __drcp_##M(a); \
  i[0] = __float2int_##M(x * 9), i[1] = __double2int_##M(a * 9), i[2] = __float2ll_##M(-x);        \
  d[7] = __double2float_##M(a), d[8] = __int2float_##M(16777217), d[9] = __ll2double_##M((1LL << 53) + 1); \
  f += OPS, d += 10, i += 3;

__global__ void directed(float *f, double *d, long long *i, float x, float y, double a, double b) {
  DIRECTED(rn) DIRECTED(rz) DIRECTED(ru) DIRECTED(rd)
}

__global__ void integers(long long *o, int x, unsigned u, long long l, unsigned long long w) {
  int k = 0;
  o[k++] = __popc(u), o[k++] = __popcll(w), o[k++] = __clz(x), o[k++] = __clzll(l), o[k++] = __ffs(x);
  o[k++] = __ffsll(l), o[k++] = __brev(u), o[k++] = (long long)__brevll(w), o[k++] = __mul24(x, 77);
  o[k++] = __umul24(u, 77), o[k++] = __mulhi(x, 123456789), o[k++] = __umulhi(u, 3000000000u);
  o[k++] = __mul64hi(l, 1LL << 62), o[k++] = (long long)__umul64hi(w, w), o[k++] = __sad(x, 5, 7);
  o[k++] = __hadd(x, 8), o[k++] = __rhadd(x, 8), o[k++] = __uhadd(u, 9), o[k++] = __byte_perm(u, x, 0x5140);
  o[k++] = __funnelshift_l(u, x, 7), o[k++] = __funnelshift_r(u, x, 39), o[k++] = __funnelshift_lc(u, x, 50);
  o[k++] = __vadd4(u, x), o[k++] = __vabsdiffu4(u, x), o[k++] = __vcmpgts2(u, x), o[k++] = __vmaxu4(u, x);
  o[k++] = __dp4a(x, int(u), 10), o[k++] = __dp2a_lo(x, int(u), 3), o[k++] = __float_as_int(1.5f);
  o[k++] = (long long)__double_as_longlong(-2.0), o[k++] = __double2hiint(3.0), o[k++] = __clz(0) + __ffs(0) + __clzll(0);
}

int main() {
  float x = 0.73f, y = 1.9f, *f = managed<float>(64);
  double a = 0.1, b = 3.7, *d = managed<double>(64);
  long long *i = managed<long long>(64);
  fast<<<1, 1>>>(f, x, y);
  finish_kernel();
  double want[] = {exp(x), log(x), sin(x), cos(x), pow(x, y), x / y, pow(10, x), log2(x), log10(x), tan(x),
                   sin(x), cos(x), x, 1 / sqrt(x), 1.0 / x, sqrt(x)};
  for (int k = 0; k < 16; ++k)
    EXPECT(fabs(f[k] - want[k]) < 2e-6 || !printf("fast %d: %.9g, expected %.9g\n", k, f[k], want[k]));
  directed<<<1, 1>>>(f, d, i, x, y, a, b);
  finish_kernel();
  int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
  for (int m = 0; m < 4; ++m) {
    std::fesetround(modes[m]);
    volatile float vx = x, vy = y, one = 1;
    volatile double va = a, vb = b, done = 1;
    volatile int vi = 16777217;
    volatile long long vl = (1LL << 53) + 1;
    float wf[] = {vx + vy, vx - vy, vx * vy, vx / vy, std::sqrt(vx), std::fma(vx, vy, vx), one / vx};
    volatile float narrowed = float(va), fi = float(vi);
    volatile double dl = double(vl);
    double wd[] = {va + vb, va - vb, va * vb, va / vb, std::sqrt(va), std::fma(va, vb, va), done / va, narrowed, fi, dl};
    volatile float scaled = x * 9, minus = -x;
    volatile double wide = a * 9;
    long long wi[] = {(long long)nearbyint(scaled), (long long)nearbyint(wide), (long long)nearbyint(minus)};
    std::fesetround(FE_TONEAREST);
    for (int k = 0; k < OPS; ++k)
      EXPECT_AT(m * 10 + k, f[m * OPS + k], wf[k]);
    for (int k = 0; k < 10; ++k)
      EXPECT_AT(m * 10 + k, d[m * 10 + k], wd[k]);
    for (int k = 0; k < 3; ++k)
      EXPECT_AT(m * 10 + k, i[m * 3 + k], wi[k]);
  }
  unsigned u = 0xdeadbe17u;
  int n = 0x00012345;
  long long l = 0x0000123456789abcLL;
  unsigned long long w = 0xfedcba9876543210ULL;
  integers<<<1, 1>>>(i, n, u, l, w);
  finish_kernel();
  long long wi[] = {21, 32, 15, 19, 1, 3, 0xe87db57bu, 0x084c2a6e195d3b7fLL, 0x12345LL * 77,
                    (0xadbe17LL * 77) & 0xffffffffLL, 2144, 2607863743LL, l >> 2, (long long)((unsigned __int128)w * w >> 64),
                    0x12345 - 5 + 7, (n + 8) / 2, (n + 9) / 2, (long long)((0xdeadbe17LL + 9) / 2),
                    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x3fc00000, (long long)0xc000000000000000ULL, 0x40080000, 96};
  wi[10] = ((long long)n * 123456789) >> 32;
  wi[11] = (unsigned long long)u * 3000000000u >> 32;
  auto byte = [](unsigned v, int k) { return v >> (8 * k) & 255; };
  unsigned perm = byte(u, 0) | (byte(n, 0) << 8) | (byte(u, 1) << 16) | (byte(n, 1) << 24);
  unsigned add = 0, diff = 0, mx = 0;
  int dp4 = 10;
  for (int k = 0; k < 4; ++k) {
    unsigned p = byte(u, k), q = byte(n, k);
    add |= ((p + q) & 255) << (8 * k), diff |= (p > q ? p - q : q - p) << (8 * k), mx |= std::max(p, q) << (8 * k);
    dp4 += int((signed char)p) * int((signed char)q);
  }
  unsigned cmp = (short(u) > short(n) ? 0xffffu : 0) | (short(u >> 16) > short(n >> 16) ? 0xffff0000u : 0);
  wi[18] = perm, wi[19] = (unsigned)(((unsigned long long)n << 32 | u) << 7 >> 32);
  wi[20] = (unsigned)(((unsigned long long)n << 32 | u) >> 7), wi[21] = u;
  wi[22] = add, wi[23] = diff, wi[24] = cmp, wi[25] = mx, wi[26] = dp4;
  wi[27] = 3 + short(n) * (signed char)byte(u, 0) + short(n >> 16) * (signed char)byte(u, 1);
  for (int k = 0; k < 32; ++k)
    EXPECT_AT(k, k == 18 || (k >= 21 && k <= 25) ? (long long)(unsigned)i[k] : i[k], wi[k]);
  return result();
}
