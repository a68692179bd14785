/* libdevice functions that libm lacks. The float forms are computed in double. */
#include "round.h"

double erf(double), erfc(double), cbrt(double), hypot(double, double), exp(double), log(double), sin(double), cos(double);

#define SQRT_PI 1.7724538509055160273
#define SQRT_2 1.41421356237309504880
#define FLOAT_OF(name) \
  float __nv_##name##f(float x) { return (float)__nv_##name((double)x); }

/* sin and cos of pi*x: exact reduction to [-1/4, 1/4] first. */
static void sincospi(double x, double *s, double *c) {
  if (!(__builtin_fabs(x) < __builtin_inf())) {
    *s = *c = x - x;
    return;
  }
  double reduced = x - 2.0 * __builtin_trunc(x / 2.0);  /* exact, in (-2, 2) */
  double quarter = __builtin_rint(2.0 * reduced);
  double t = 3.14159265358979323846 * (reduced - 0.5 * quarter);
  double st = sin(t), ct = cos(t);
  switch ((int)quarter & 3) {
  case 0: *s = st; *c = ct; break;
  case 1: *s = ct; *c = -st; break;
  case 2: *s = -st; *c = -ct; break;
  default: *s = -ct; *c = st; break;
  }
  if (*s == 0) *s = __builtin_copysign(0.0, x);
  if (*c == 0) *c = 0.0;
}
double __nv_sinpi(double x) { double s, c; sincospi(x, &s, &c); return s; }
double __nv_cospi(double x) { double s, c; sincospi(x, &s, &c); return c; }
void __nv_sincospi(double x, double *s, double *c) { sincospi(x, s, c); }
FLOAT_OF(sinpi)
FLOAT_OF(cospi)
void __nv_sincospif(float x, float *s, float *c) {
  double ds, dc;
  sincospi(x, &ds, &dc);
  *s = (float)ds;
  *c = (float)dc;
}

double __nv_rcbrt(double x) { return 1.0 / cbrt(x); }

/* Euclidean norms, scaled by the largest element so that no square overflows. */
static double norm_of(const double *v, int n, bool reciprocal) {
  double largest = 0;
  bool nan = false;
  for (int i = 0; i < n; ++i) {
    double a = __builtin_fabs(v[i]);
    if (a == __builtin_inf()) return reciprocal ? 0.0 : a;
    nan |= a != a;
    largest = a > largest ? a : largest;
  }
  if (nan) return __builtin_nan("");
  if (largest == 0) return reciprocal ? __builtin_inf() : 0.0;
  int e;
  __builtin_frexp(largest, &e);
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    double scaled = __builtin_ldexp(v[i], -e);
    sum = __builtin_fma(scaled, scaled, sum);
  }
  double root = __builtin_sqrt(sum);
  return reciprocal ? __builtin_ldexp(1.0 / root, -e) : __builtin_ldexp(root, e);
}
double __nv_norm3d(double a, double b, double c) { double v[] = {a, b, c}; return norm_of(v, 3, false); }
double __nv_norm4d(double a, double b, double c, double d) { double v[] = {a, b, c, d}; return norm_of(v, 4, false); }
double __nv_rnorm3d(double a, double b, double c) { double v[] = {a, b, c}; return norm_of(v, 3, true); }
double __nv_rnorm4d(double a, double b, double c, double d) { double v[] = {a, b, c, d}; return norm_of(v, 4, true); }
double __nv_rhypot(double a, double b) { double v[] = {a, b}; return norm_of(v, 2, true); }
double __nv_norm(int32_t n, const double *v) { return norm_of(v, n, false); }
double __nv_rnorm(int32_t n, const double *v) { return norm_of(v, n, true); }
float __nv_norm4df(float a, float b, float c, float d) { return (float)__nv_norm4d(a, b, c, d); }
float __nv_rnorm4df(float a, float b, float c, float d) { return (float)__nv_rnorm4d(a, b, c, d); }
static double sum_of_squares(int32_t n, const float *v) {
  double sum = 0;
  for (int32_t i = 0; i < n; ++i) {
    if (__builtin_fabsf(v[i]) == __builtin_inff()) return __builtin_inf();
    sum += (double)v[i] * v[i];
  }
  return sum;
}
float __nv_normf(int32_t n, const float *v) { return (float)__builtin_sqrt(sum_of_squares(n, v)); }
float __nv_rnormf(int32_t n, const float *v) { return (float)(1.0 / __builtin_sqrt(sum_of_squares(n, v))); }

/* erfc(x) * exp(x^2): a continued fraction for large x, the product (with the rest of x^2) below. */
double __nv_erfcx(double x) {
  if (x != x) return x;
  if (x > 10) {
    if (x > 1e8) return 1.0 / (x * SQRT_PI);
    double f = x;
    for (int k = 60; k > 0; --k) f = x + 0.5 * k / f;
    return 1.0 / (f * SQRT_PI);
  }
  double square = x * x, rest = __builtin_fma(x, x, -square);
  double e = exp(square);
  return e == __builtin_inf() ? e : __builtin_fma(e, rest, e) * erfc(x);
}
FLOAT_OF(erfcx)

/* The inverse of erfc on (0, 1]: Newton's method on log(erfc(x)), which is concave, so that it converges from anywhere. */
static double erfcinv_small(double y) {
  double l = -log(y), x = l > 3 ? __builtin_sqrt(l - 0.5 * log(3.14159265358979 * (l > 1 ? l : 1))) : 0.5 * l;
  for (int i = 0; i < 40; ++i) {
    double f = erfc(x);
    double delta = -SQRT_PI / 2 * exp(x * x) * f * (log(y) - log(f));
    if (y > 0.1) delta = -SQRT_PI / 2 * exp(x * x) * (y - f);
    x += delta;
    if (!(__builtin_fabs(delta) > 1e-16 * __builtin_fabs(x))) break;
  }
  return x;
}
double __nv_erfcinv(double y) {
  if (!(y >= 0 && y <= 2)) return __builtin_nan("");
  if (y == 0) return __builtin_inf();
  if (y == 2) return -__builtin_inf();
  return y <= 1 ? erfcinv_small(y) : -erfcinv_small(2 - y);
}
FLOAT_OF(erfcinv)

double __nv_erfinv(double y) {
  double a = __builtin_fabs(y);
  if (!(a <= 1)) return __builtin_nan("");
  if (a == 1) return y * __builtin_inf();
  if (a > 0.5) return __builtin_copysign(erfcinv_small(1 - a), y);
  double x = y * SQRT_PI / 2;
  for (int i = 0; i < 20; ++i) {
    double delta = (y - erf(x)) * (SQRT_PI / 2) * exp(x * x);
    x += delta;
    if (!(__builtin_fabs(delta) > 1e-17 * __builtin_fabs(x))) break;
  }
  return x;
}
FLOAT_OF(erfinv)

/* erfc(-x / sqrt 2) / 2, with the rounding error of the argument put back by erfc's derivative. */
double __nv_normcdf(double x) {
  if (x > 38.5) return 1.0;
  if (x < -38.6) return x != x ? x : 0.0;
  const double hi = 0.70710678118654752440, lo = -4.8336466567264567e-17;
  double t = -x * hi, rest = __builtin_fma(-x, hi, -t) - x * lo;
  double value = 0.5 * erfc(t);
  return value - rest * exp(-t * t) / SQRT_PI;
}
double __nv_normcdfinv(double p) { return -SQRT_2 * __nv_erfcinv(2 * p); }
FLOAT_OF(normcdfinv)

/* Modified Bessel functions: the power series (all terms positive), the asymptotic series for large |x|. */
static double bessel_i(int order, double x) {
  double a = __builtin_fabs(x), sum = 1, term = 1;
  if (a < 30) {
    double q = a * a / 4;
    for (int k = 1; k < 200 && term > 1e-18 * sum; ++k) {
      term *= q / ((double)k * (k + order));
      sum += term;
    }
    return order == 1 ? sum * a / 2 : sum;
  }
  if (a == __builtin_inf()) return a;
  double mu = 4.0 * order * order;
  for (int k = 1; k < 40 && __builtin_fabs(term) > 1e-18; ++k) {
    double odd = 2.0 * k - 1;
    term *= (odd * odd - mu) / (8.0 * a * k);
    sum += term;
  }
  double root = exp(a / 2);
  return root * (sum / __builtin_sqrt(2 * 3.14159265358979323846 * a)) * root;
}
double __nv_cyl_bessel_i0(double x) { return x != x ? x : bessel_i(0, x); }
double __nv_cyl_bessel_i1(double x) { return x != x ? x : x < 0 ? -bessel_i(1, x) : bessel_i(1, x); }
FLOAT_OF(cyl_bessel_i0)
FLOAT_OF(cyl_bessel_i1)
