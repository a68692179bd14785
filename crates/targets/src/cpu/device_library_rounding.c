/* Test: the library's directed rounding against the hardware's rounding modes, and fused operations on halves against exact sums, on random
 * bit patterns. */
#include <fenv.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#pragma STDC FENV_ACCESS ON

static uint64_t state = 88172645463325252ull;
static uint64_t next(void) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state;
}
static int failures;

/* Mostly numbers of nearby exponents, some of any exponent, some special ones. */
static float random_f32(void) {
  uint32_t r = (uint32_t)(next() >> 16);
  if ((next() & 7) != 0) r = (r & 0x807fffff) | ((100 + next() % 60) << 23);
  if ((next() & 63) == 0) r = (uint32_t[]){0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 1, 0x7f7fffff, 0x80000001}[next() & 7];
  float x;
  memcpy(&x, &r, 4);
  return x;
}
static double random_f64(void) {
  uint64_t r = next();
  if ((next() & 7) != 0) r = (r & 0x800fffffffffffffull) | ((990 + next() % 70) << 52);
  if ((next() & 63) == 0)
    r = (uint64_t[]){0, 1ull << 63, 0x7ffull << 52, 0xfffull << 52, 0x7ff8ull << 48, 1, 0x7fefffffffffffffull, (1ull << 63) + 1}[next() & 7];
  double x;
  memcpy(&x, &r, 8);
  return x;
}
static int same_f32(float a, float b) { return (a != a && b != b) || memcmp(&a, &b, 4) == 0; }
static int same_f64(double a, double b) { return (a != a && b != b) || memcmp(&a, &b, 8) == 0; }

#define CHECK(same, what, got, wanted, ...)                                                                 \
  do {                                                                                                      \
    if (!same(got, wanted) && failures++ < 20) printf("%s: got %a, expected %a for %a %a %a\n", what, (double)(got), (double)(wanted), __VA_ARGS__); \
  } while (0)

#define MODES(X) X(rn, FE_TONEAREST) X(rz, FE_TOWARDZERO) X(ru, FE_UPWARD) X(rd, FE_DOWNWARD)
#define DECLARE(m, M)                                                                                        \
  float __nv_fadd_##m(float, float), __nv_fsub_##m(float, float), __nv_fmul_##m(float, float), __nv_fdiv_##m(float, float); \
  float __nv_fsqrt_##m(float), __nv_fmaf_##m(float, float, float), __nv_frcp_##m(float), __nv_double2float_##m(double); \
  double __nv_dadd_##m(double, double), __nv_dmul_##m(double, double), __nv_ddiv_##m(double, double);        \
  double __nv_dsqrt_##m(double), __nv_fma_##m(double, double, double), __nv_ll2double_##m(int64_t);          \
  float __nv_ll2float_##m(int64_t), __nv_ull2float_##m(uint64_t), __nv_int2float_##m(int32_t);
MODES(DECLARE)
float __nv_frsqrt_rn(float);

#define HARD(type, name, expr, M) \
  volatile type name;             \
  fesetround(M);                  \
  name = (expr);                  \
  fesetround(FE_TONEAREST)

#define TRIAL(m, M)                                                                          \
  {                                                                                          \
    HARD(float, add, a + b, M); CHECK(same_f32, "fadd_" #m, __nv_fadd_##m(a, b), add, a, b, 0.0); \
    HARD(float, sub, a - b, M); CHECK(same_f32, "fsub_" #m, __nv_fsub_##m(a, b), sub, a, b, 0.0); \
    HARD(float, mul, a * b, M); CHECK(same_f32, "fmul_" #m, __nv_fmul_##m(a, b), mul, a, b, 0.0); \
    HARD(float, div, a / b, M); CHECK(same_f32, "fdiv_" #m, __nv_fdiv_##m(a, b), div, a, b, 0.0); \
    HARD(float, root, sqrtf(a), M); CHECK(same_f32, "fsqrt_" #m, __nv_fsqrt_##m(a), root, a, 0.0, 0.0); \
    HARD(float, narrow, (float)x, M); CHECK(same_f32, "double2float_" #m, __nv_double2float_##m(x), narrow, x, 0.0, 0.0); \
    HARD(double, dadd, x + y, M); CHECK(same_f64, "dadd_" #m, __nv_dadd_##m(x, y), dadd, x, y, 0.0); \
    HARD(double, dmul, x * y, M); CHECK(same_f64, "dmul_" #m, __nv_dmul_##m(x, y), dmul, x, y, 0.0); \
    HARD(double, ddiv, x / y, M); CHECK(same_f64, "ddiv_" #m, __nv_ddiv_##m(x, y), ddiv, x, y, 0.0); \
    HARD(double, droot, sqrt(x), M); CHECK(same_f64, "dsqrt_" #m, __nv_dsqrt_##m(x), droot, x, 0.0, 0.0); \
    HARD(float, ll, (float)n, M); CHECK(same_f32, "ll2float_" #m, __nv_ll2float_##m(n), ll, (double)n, 0.0, 0.0); \
    HARD(double, lld, (double)n, M); CHECK(same_f64, "ll2double_" #m, __nv_ll2double_##m(n), lld, (double)n, 0.0, 0.0); \
    HARD(float, i, (float)(int32_t)n, M); CHECK(same_f32, "int2float_" #m, __nv_int2float_##m((int32_t)n), i, (double)(int32_t)n, 0.0, 0.0); \
    HARD(float, fused, fmaf(a, b, c), M); CHECK(same_f32, "fmaf_" #m, __nv_fmaf_##m(a, b, c), fused, a, b, c); \
    HARD(double, dfused, fma(x, y, z), M); CHECK(same_f64, "fma_" #m, __nv_fma_##m(x, y, z), dfused, x, y, z); \
  }

uint16_t __regrain_fma_f16(uint16_t, uint16_t, uint16_t);

/* A finite half in units of 2^-24. */
static __int128 units(uint16_t h) {
  int exponent = h >> 10 & 31;
  __int128 size = (__int128)(exponent ? (h & 0x3ff) | 0x400 : h & 0x3ff) << (exponent ? exponent - 1 : 0);
  return h >> 15 ? -size : size;
}

/* a * b + c of finite halves, exact in units of 2^-48 and rounded once, to even. */
static uint16_t exact_fma_f16(uint16_t a, uint16_t b, uint16_t c) {
  __int128 sum = units(a) * units(b) + (units(c) << 24);
  if (sum == 0) return units(c) == 0 && units(a) * units(b) == 0 ? (a ^ b) & c & 0x8000 : 0;
  unsigned __int128 size = sum < 0 ? -sum : sum;
  int top = 127, shift;
  while (!(size >> top)) --top;
  shift = top - 10 > 24 ? top - 10 : 24;
  unsigned __int128 rest = size & (((unsigned __int128)1 << shift) - 1), half = (unsigned __int128)1 << (shift - 1);
  uint32_t bits = (uint32_t)(size >> shift);
  bits += rest > half || (rest == half && (bits & 1));
  bits += (uint32_t)(shift - 24) << 10;
  return (uint16_t)((sum < 0 ? 0x8000 : 0) | (bits < 0x7c00 ? bits : 0x7c00));
}

/* Halves of any kind, every other time with a sum that nearly cancels. */
static void check_fma_f16(void) {
  uint16_t a = (uint16_t)next(), b = (uint16_t)(next() >> 20), c = (uint16_t)(next() >> 40);
  if (next() & 1) c = (uint16_t)((exact_fma_f16(a, b, 0x8000) ^ 0x8000) + next() % 5 - 2);
  if ((a & 0x7c00) == 0x7c00 || (b & 0x7c00) == 0x7c00 || (c & 0x7c00) == 0x7c00) return;
  uint16_t got = __regrain_fma_f16(a, b, c), wanted = exact_fma_f16(a, b, c);
  if (got != wanted && failures++ < 20) printf("fma_f16: got %04x, expected %04x for %04x %04x %04x\n", got, wanted, a, b, c);
}

uint16_t __regrain_fma_bf16(uint16_t, uint16_t, uint16_t);
uint16_t __regrain_f64_to_f16_rn(double), __regrain_f64_to_f16_rz(double);
uint16_t __regrain_f64_to_bf16_rn(double), __regrain_f64_to_bf16_rz(double);
float __regrain_f16_to_f32(uint16_t), __regrain_bf16_to_f32(uint16_t);

/* The nearer of the number that `down`, rounded toward zero, is and the next larger one; of two as near the even one. */
static uint16_t nearest(double x, uint16_t down, float value(uint16_t), uint16_t infinity, double beyond) {
  if (isnan(x)) return 0x7fff;
  if (isinf(x)) return down;
  uint16_t sign = down & 0x8000, low = down & 0x7fff, high = low + 1;
  double above = high == infinity ? beyond : value(high), size = fabs(x);
  double to_low = size - value(low), to_high = above - size;
  return sign | (to_low < to_high || (to_low == to_high && (low & 1) == 0) ? low : high);
}
static uint16_t nearest_bf16(double x) { return nearest(x, __regrain_f64_to_bf16_rz(x), __regrain_bf16_to_f32, 0x7f80, 0x1p128); }
static uint16_t nearest_f16(double x) { return nearest(x, __regrain_f64_to_f16_rz(x), __regrain_f16_to_f32, 0x7c00, 0x1p16); }

/* Doubles of any kind, of exponents around what the short formats have, and every other time near the middle between two of their numbers. */
static double random_near_short(int bits) {
  uint64_t r = next();
  if (next() & 7) r = (r & 0x800fffffffffffffull) | ((860 + next() % 310) << 52);
  if (next() & 1) r = (r >> (51 - bits) << (51 - bits)) + next() % 3 - 1;
  double x;
  memcpy(&x, &r, 8);
  return x;
}

static void check_short(const char *name, uint16_t got, uint16_t wanted, double x) {
  if (got != wanted && failures++ < 20) printf("%s: got %04x, expected %04x for %a\n", name, got, wanted, x);
}

static void check_narrowing(void) {
  double x = random_near_short(7), y = random_near_short(10);
  check_short("f64_to_bf16", __regrain_f64_to_bf16_rn(x), nearest_bf16(x), x);
  check_short("f64_to_f16", __regrain_f64_to_f16_rn(y), nearest_f16(y), y);
  uint16_t a = (uint16_t)next(), b = (uint16_t)(next() >> 20), c = (uint16_t)(next() >> 40);
  if (next() & 1) c = (uint16_t)(__regrain_f64_to_bf16_rz(-(double)__regrain_bf16_to_f32(a) * __regrain_bf16_to_f32(b)) + next() % 5 - 2);
  double product = (double)__regrain_bf16_to_f32(a) * __regrain_bf16_to_f32(b), addend = __regrain_bf16_to_f32(c);
  volatile double sum = product + addend, part = sum - product;
  if (isfinite(sum) && ((product - (sum - part)) + (addend - part) != 0)) return;
  check_short("fma_bf16", __regrain_fma_bf16(a, b, c), nearest_bf16(sum), sum);
}

int main(void) {
  for (int k = 0; k < 2000000; ++k) check_fma_f16();
  for (int k = 0; k < 2000000; ++k) check_narrowing();
  for (int k = 0; k < 40000; ++k) {
    volatile float a = random_f32(), b = random_f32(), c = random_f32();
    volatile double x = random_f64(), y = random_f64(), z = random_f64();
    volatile int64_t n = (int64_t)next() >> (next() & 63);
    MODES(TRIAL)
    if (a > 0 && a < INFINITY) {
      float r = __nv_frsqrt_rn(a);
      long double exact = 1.0L / sqrtl((long double)a);
      CHECK(same_f32, "frsqrt_rn", r, (float)exact, (double)a, 0.0, 0.0);
    }
  }
  if (failures) printf("%d failures\n", failures);
  return failures != 0;
}
