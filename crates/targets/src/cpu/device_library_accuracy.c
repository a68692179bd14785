/* Test: functions of our own against the C library in a wider type, within the limits of the CUDA C++ Programming Guide (its appendix on
 * mathematical functions), in units in the last place. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

double exp10(double);

#define FLOAT_UNARY(X)                                                                                                             \
  X(expf, 2, exp) X(exp2f, 2, exp2) X(exp10f, 2, exp10) X(expm1f, 1, expm1) X(logf, 1, log) X(log2f, 1, log2) X(log10f, 2, log10)  \
  X(log1pf, 1, log1p) X(sinf, 2, sin) X(cosf, 2, cos) X(tanf, 4, tan) X(asinf, 2, asin) X(acosf, 2, acos) X(atanf, 2, atan)        \
  X(sinhf, 3, sinh) X(coshf, 2, cosh) X(tanhf, 2, tanh) X(asinhf, 3, asinh) X(acoshf, 4, acosh) X(atanhf, 3, atanh)                \
  X(erff, 2, erf) X(erfcf, 4, erfc) X(normcdff, 5, normcdf_of) X(sqrtf, 0.5, sqrt) X(rsqrtf, 2, rsqrt_of) X(cbrtf, 1, cbrt)        \
  X(rcbrtf, 1, rcbrt_of) X(fabsf, 0, fabs) X(floorf, 0, floor) X(ceilf, 0, ceil) X(truncf, 0, trunc) X(rintf, 0, rint)             \
  X(nearbyintf, 0, rint) X(roundf, 0, round)
#define FLOAT_BINARY(X)                                                                                                            \
  X(powf, 4, pow) X(atan2f, 3, atan2) X(hypotf, 3, hypot) X(rhypotf, 2, rhypot_of) X(fmodf, 0, fmod) X(fdimf, 0.5, fdim)           \
  X(copysignf, 0, copysign) X(fminf, 0, fmin_of) X(fmaxf, 0, fmax_of)

#define DOUBLE_UNARY(X)                                                                                                            \
  X(exp, 1, expl) X(exp2, 1, exp2l) X(log, 1, logl) X(log2, 1, log2l) X(log10, 1, log10l) X(sin, 2, sinl) X(cos, 2, cosl)          \
  X(tanh, 2, tanhl) X(erf, 2, erfl) X(atan, 2, atanl) X(cbrt, 1, cbrtl) X(sqrt, 0.51, sqrtl) X(rsqrt, 2, rsqrtl_of)                \
  X(fabs, 0, fabsl) X(floor, 0, floorl) X(ceil, 0, ceill) X(trunc, 0, truncl) X(rint, 0, rintl) X(nearbyint, 0, rintl)             \
  X(round, 0, roundl)
#define DOUBLE_BINARY(X) X(atan2, 2, atan2l) X(copysign, 0, copysignl) X(fdim, 0.51, fdiml)

static long double rsqrtl_of(long double x) { return 1 / sqrtl(x); }
static double rsqrt_of(double x) { return 1 / sqrt(x); }
static double rcbrt_of(double x) { return 1 / cbrt(x); }
static double normcdf_of(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
/* Of two zeros either will do. */
static double fmin_of(double x, double y) { return x == y ? x : fmin(x, y); }
static double fmax_of(double x, double y) { return x == y ? x : fmax(x, y); }
static double rhypot_of(double x, double y) { return 1 / hypot(x, y); }

static double near(double x, double y) { return x > y ? x - y : y - x; }
/* How far a float lies from a number. */
static double error_f(float got, double wanted) {
  if (got != got || wanted != wanted) return got != got && wanted != wanted ? 0 : INFINITY;
  float rounded = (float)wanted;
  if (rounded == 0 && got == 0) return signbit(rounded) == signbit(got) ? 0 : INFINITY;
  if (isinf(rounded) && isinf(got)) return rounded == got ? 0 : INFINITY;
  int exponent;
  frexp(wanted, &exponent);
  double beyond = isinf(got) ? copysign(0x1p128, got) : (double)got;
  return isinf(wanted) ? INFINITY : ldexp(near(beyond, wanted), 24 - (exponent < -125 ? -125 : exponent));
}

static double error_d(double got, long double wanted) {
  if (got != got || wanted != wanted) return got != got && wanted != wanted ? 0 : INFINITY;
  double rounded = (double)wanted;
  if (rounded == 0 && got == 0) return signbit(rounded) == signbit(got) ? 0 : INFINITY;
  if (isinf(rounded) && isinf(got)) return rounded == got ? 0 : INFINITY;
  int exponent;
  frexpl(wanted, &exponent);
  long double beyond = isinf(got) ? copysignl(0x1p1024L, got) : (long double)got;
  long double off = beyond > wanted ? beyond - wanted : wanted - beyond;
  return isinf(wanted) ? INFINITY : (double)ldexpl(off, 53 - (exponent < -1021 ? -1021 : exponent));
}

struct worst {
  double error, x, y;
};
static int report(const char *name, double limit, struct worst w) {
  if (w.error <= limit) return 0;
  printf("%s: %.3f ulp at %a, %a; expected at most %g\n", name, w.error, w.x, w.y, limit);
  return 1;
}
static void note(struct worst *w, double error, double x, double y) {
  if (error > w->error) *w = (struct worst){error, x, y};
}
static float float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, 4);
  return x;
}

/* Every exponent, both signs, and all special numbers. */
static int check_float(const char *name, double limit, float (*ours)(float), double (*wanted)(double)) {
  struct worst w = {0, 0, 0};
  for (uint64_t bits = 0; bits < 1ull << 32; bits += 39989) {
    float x = float_of((uint32_t)bits);
    note(&w, error_f(ours(x), wanted(x)), x, 0);
  }
  /* Where most results are. */
  for (int i = -100000; i <= 100000; ++i) {
    float x = (float)i * 0x1.4p-10f;
    note(&w, error_f(ours(x), wanted(x)), x, 0);
  }
  const uint32_t special[] = {0, 1, 0x007fffff, 0x00800000, 0x3f800000, 0x3f7fffff, 0x7f7fffff, 0x7f800000, 0x7fc00000};
  for (unsigned i = 0; i < sizeof special / sizeof *special; ++i)
    for (uint32_t sign = 0; sign < 2; ++sign) {
      float x = float_of(special[i] | sign << 31);
      note(&w, error_f(ours(x), wanted(x)), x, 0);
    }
  return report(name, limit, w);
}

static const double specials[] = {0, 1, 2, 3, 0.5, 1.5, 2.5, 0x1p-149, 0x1p-126, 0x1p23, 0x1p24, 0x1.fffffep23, 1e10, 0x1.fffffep127, INFINITY, NAN};
enum { SPECIALS = sizeof specials / sizeof *specials };

static int check_float_2(const char *name, double limit, float (*ours)(float, float), double (*wanted)(double, double)) {
  struct worst w = {0, 0, 0};
  uint64_t state = 1;
  for (int i = 0; i < 200000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    /* All bits at random, or both of moderate size. */
    uint32_t a = (uint32_t)(state >> 32), b = (uint32_t)(state >> 16);
    if (i & 1) a = (a & 0x83ffffff) | 0x3c000000, b = (b & 0x83ffffff) | 0x3e000000;
    float x = float_of(a), y = float_of(b);
    note(&w, error_f(ours(x, y), wanted(x, y)), x, y);
  }
  for (int i = 0; i < 4 * SPECIALS * SPECIALS; ++i) {
    float x = (float)specials[i / 4 % SPECIALS] * (i & 1 ? -1 : 1), y = (float)specials[i / 4 / SPECIALS] * (i & 2 ? -1 : 1);
    note(&w, error_f(ours(x, y), wanted(x, y)), x, y);
  }
  return report(name, limit, w);
}

/* All bits at random, or numbers of one of several sizes, among them some next to multiples of pi/2. */
static double argument_d(int i) {
  static uint64_t state = 7;
  state = state * 6364136223846793005u + 1442695040888963407u;
  uint64_t bits = state >> 31 ^ state << 33;
  const double ranges[] = {0.01, 1, 2, 10, 100, 750, 1e5, 1e12};
  double x;
  memcpy(&x, &bits, 8);
  if (i % 4 == 0) return x;
  if (i % 4 == 1) return ((int64_t)bits >> 44) * 1.57079632679489661923;
  return (double)((int64_t)bits * 0x1p-63) * ranges[i >> 2 & 7];
}

static int check_double(const char *name, double limit, double (*ours)(double), long double (*wanted)(long double)) {
  struct worst w = {0, 0, 0};
  for (int i = 0; i < 100000 + 2 * SPECIALS; ++i) {
    double x = i < 2 * SPECIALS ? specials[i / 2] * (i & 1 ? -1 : 1) : argument_d(i);
    note(&w, error_d(ours(x), wanted(x)), x, 0);
  }
  return report(name, limit, w);
}

static int check_double_2(const char *name, double limit, double (*ours)(double, double), long double (*wanted)(long double, long double)) {
  struct worst w = {0, 0, 0};
  for (int i = 0; i < 100000; ++i) {
    double x = argument_d(i), y = argument_d(i * 7 + 3);
    if (i & 1) x = fabs(x);
    note(&w, error_d(ours(x, y), wanted(x, y)), x, y);
  }
  for (int i = 0; i < 4 * SPECIALS * SPECIALS; ++i) {
    double x = specials[i / 4 % SPECIALS] * (i & 1 ? -1 : 1), y = specials[i / 4 / SPECIALS] * (i & 2 ? -1 : 1);
    note(&w, error_d(ours(x, y), wanted(x, y)), x, y);
  }
  return report(name, limit, w);
}

#define DECLARE(name, limit, reference) float __nv_##name(float);
FLOAT_UNARY(DECLARE)
#define DECLARE_2(name, limit, reference) float __nv_##name(float, float);
FLOAT_BINARY(DECLARE_2)
#define DECLARE_D(name, limit, reference) double __nv_##name(double);
DOUBLE_UNARY(DECLARE_D)
#define DECLARE_D_2(name, limit, reference) double __nv_##name(double, double);
DOUBLE_BINARY(DECLARE_D_2)

int main(void) {
  int failures = 0;
#define CHECK(name, limit, reference) failures += check_float(#name, limit, __nv_##name, reference);
  FLOAT_UNARY(CHECK)
#define CHECK_2(name, limit, reference) failures += check_float_2(#name, limit, __nv_##name, reference);
  FLOAT_BINARY(CHECK_2)
#define CHECK_D(name, limit, reference) failures += check_double(#name, limit, __nv_##name, reference);
  DOUBLE_UNARY(CHECK_D)
#define CHECK_D_2(name, limit, reference) failures += check_double_2(#name, limit, __nv_##name, reference);
  DOUBLE_BINARY(CHECK_D_2)
  return failures != 0;
}
