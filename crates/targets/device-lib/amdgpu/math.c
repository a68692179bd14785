/* libdevice's functions over ocml, AMD's mathematical library, or an intrinsic of LLVM where that is as exact. */
#include "quotient.h"
#include "round.h"

/* name_in_libdevice, name_in_ocml */
#define UNARY(nv, ocml)                                                   \
  float __ocml_##ocml##_f32(float);                                       \
  double __ocml_##ocml##_f64(double);                                     \
  INLINE float __nv_##nv##f(float x) { return __ocml_##ocml##_f32(x); }   \
  INLINE double __nv_##nv(double x) { return __ocml_##ocml##_f64(x); }
#define SAME(name) UNARY(name, name)
SAME(sin) SAME(cos) SAME(tan) SAME(asin) SAME(acos) SAME(atan)
SAME(sinh) SAME(cosh) SAME(tanh) SAME(asinh) SAME(acosh) SAME(atanh)
SAME(sinpi) SAME(cospi)
SAME(exp) SAME(exp2) SAME(exp10) SAME(expm1)
SAME(log) SAME(log2) SAME(log10) SAME(log1p) SAME(logb)
SAME(cbrt) SAME(rcbrt) SAME(rsqrt)
SAME(erf) SAME(erfc) SAME(erfcx) SAME(erfinv) SAME(erfcinv) SAME(lgamma)
SAME(j0) SAME(j1) SAME(y0) SAME(y1)
double __ocml_tgamma_f64(double);
INLINE double __nv_tgamma(double x) { return __ocml_tgamma_f64(x); }
/* ocml's own for float is many ulps off below zero. */
INLINE float __nv_tgammaf(float x) { return (float)__ocml_tgamma_f64((double)x); }
UNARY(normcdf, ncdf) UNARY(normcdfinv, ncdfinv)
UNARY(cyl_bessel_i0, i0)
float __ocml_i1_f32(float);
double __ocml_i1_f64(double);
/* ocml's own for double is not a number from -8 down. */
INLINE float __nv_cyl_bessel_i1f(float x) { return __ocml_i1_f32(x); }
INLINE double __nv_cyl_bessel_i1(double x) { return __builtin_copysign(__ocml_i1_f64(__builtin_fabs(x)), x); }

#define BUILTIN(name)                                                     \
  INLINE float __nv_##name##f(float x) { return __builtin_##name##f(x); } \
  INLINE double __nv_##name(double x) { return __builtin_##name(x); }
BUILTIN(sqrt) BUILTIN(fabs) BUILTIN(ceil) BUILTIN(floor) BUILTIN(trunc) BUILTIN(rint) BUILTIN(nearbyint) BUILTIN(round)

#define BINARY(name)                                                                       \
  float __ocml_##name##_f32(float, float);                                                 \
  double __ocml_##name##_f64(double, double);                                              \
  INLINE float __nv_##name##f(float x, float y) { return __ocml_##name##_f32(x, y); }      \
  INLINE double __nv_##name(double x, double y) { return __ocml_##name##_f64(x, y); }
BINARY(pow) BINARY(atan2) BINARY(fmod) BINARY(hypot) BINARY(rhypot) BINARY(nextafter) BINARY(remainder) BINARY(fdim)

#define BUILTIN2(name)                                                                     \
  INLINE float __nv_##name##f(float x, float y) { return __builtin_##name##f(x, y); }      \
  INLINE double __nv_##name(double x, double y) { return __builtin_##name(x, y); }
BUILTIN2(fmin) BUILTIN2(fmax) BUILTIN2(copysign)

INLINE float __nv_fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
INLINE double __nv_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
float __ocml_pown_f32(float, int);
double __ocml_pown_f64(double, int);
INLINE float __nv_powif(float x, int32_t n) { return __ocml_pown_f32(x, n); }
INLINE double __nv_powi(double x, int32_t n) { return __ocml_pown_f64(x, n); }
INLINE float __nv_ldexpf(float x, int32_t n) { return __builtin_ldexpf(x, n); }
INLINE double __nv_ldexp(double x, int32_t n) { return __builtin_ldexp(x, n); }
INLINE float __nv_scalbnf(float x, int32_t n) { return __builtin_ldexpf(x, n); }
INLINE double __nv_scalbn(double x, int32_t n) { return __builtin_ldexp(x, n); }

/* Results through a pointer: ocml's are of private memory. */
#define THROUGH(nv, ocml, real, result)                                   \
  real __ocml_##ocml(real, SPACE(5) result *);                            \
  INLINE real __nv_##nv(real x, result *out) {                            \
    result other;                                                         \
    real value = __ocml_##ocml(x, (SPACE(5) result *)&other);             \
    *out = other;                                                         \
    return value;                                                         \
  }
THROUGH(modff, modf_f32, float, float)
THROUGH(modf, modf_f64, double, double)
THROUGH(frexpf, frexp_f32, float, int32_t)
THROUGH(frexp, frexp_f64, double, int32_t)

#define QUOTIENT(suffix, type, real)                                      \
  real __ocml_remquo_##type(real, real, SPACE(5) int32_t *);              \
  INLINE real __nv_remquo##suffix(real x, real y, int32_t *out) {         \
    int32_t quotient;                                                     \
    real rest = __ocml_remquo_##type(x, y, (SPACE(5) int32_t *)&quotient); \
    *out = three_bits(quotient);                                          \
    return rest;                                                          \
  }
QUOTIENT(f, f32, float)
QUOTIENT(, f64, double)

#define SINCOS(nv, ocml, real)                                            \
  real __ocml_##ocml(real, SPACE(5) real *);                              \
  INLINE void __nv_##nv(real x, real *s, real *c) {                       \
    real cosine;                                                          \
    *s = __ocml_##ocml(x, (SPACE(5) real *)&cosine);                      \
    *c = cosine;                                                          \
  }
SINCOS(sincosf, sincos_f32, float)
SINCOS(sincos, sincos_f64, double)
SINCOS(sincospif, sincospi_f32, float)
SINCOS(sincospi, sincospi_f64, double)

/* CUDA: ilogb(0) and ilogb(NaN) are INT_MIN, ilogb(inf) is INT_MAX. */
int __ocml_ilogb_f32(float), __ocml_ilogb_f64(double);
INLINE int32_t __nv_ilogbf(float x) {
  return x == 0 || x != x ? INT32_MIN : __builtin_isinf(x) ? INT32_MAX : __ocml_ilogb_f32(x);
}
INLINE int32_t __nv_ilogb(double x) {
  return x == 0 || x != x ? INT32_MIN : __builtin_isinf(x) ? INT32_MAX : __ocml_ilogb_f64(x);
}

/* Euclidean norms. */
#define NORMS(suffix, type, real)                                                                          \
  real __ocml_len3_##type(real, real, real), __ocml_len4_##type(real, real, real, real);                   \
  real __ocml_rlen3_##type(real, real, real), __ocml_rlen4_##type(real, real, real, real);                 \
  INLINE real __nv_norm3d##suffix(real a, real b, real c) { return __ocml_len3_##type(a, b, c); }          \
  INLINE real __nv_norm4d##suffix(real a, real b, real c, real d) { return __ocml_len4_##type(a, b, c, d); } \
  INLINE real __nv_rnorm3d##suffix(real a, real b, real c) { return __ocml_rlen3_##type(a, b, c); }        \
  INLINE real __nv_rnorm4d##suffix(real a, real b, real c, real d) { return __ocml_rlen4_##type(a, b, c, d); } \
  /* Of any length, scaled by the largest element so that no square overflows. */                          \
  static real norm_##type(const real *v, int32_t n, bool reciprocal) {                                     \
    real largest = 0, sum = 0;                                                                             \
    bool nan = false;                                                                                      \
    for (int32_t i = 0; i < n; ++i) {                                                                      \
      real a = __builtin_fabs##suffix(v[i]);                                                               \
      if (a == __builtin_inf()) return reciprocal ? 0 : a;                                                 \
      nan |= a != a;                                                                                       \
      largest = a > largest ? a : largest;                                                                 \
    }                                                                                                      \
    if (nan) return __builtin_nan##suffix("");                                                             \
    if (largest == 0) return reciprocal ? (real)__builtin_inf() : 0;                                       \
    int e;                                                                                                 \
    __builtin_frexp##suffix(largest, &e);                                                                  \
    for (int32_t i = 0; i < n; ++i) {                                                                      \
      real scaled = __builtin_ldexp##suffix(v[i], -e);                                                     \
      sum = __builtin_fma##suffix(scaled, scaled, sum);                                                    \
    }                                                                                                      \
    real root = __builtin_sqrt##suffix(sum);                                                               \
    return reciprocal ? __builtin_ldexp##suffix(1 / root, -e) : __builtin_ldexp##suffix(root, e);          \
  }                                                                                                        \
  real __nv_norm##suffix(int32_t n, const real *v) { return norm_##type(v, n, false); }                    \
  real __nv_rnorm##suffix(int32_t n, const real *v) { return norm_##type(v, n, true); }
NORMS(f, f32, float)
NORMS(, f64, double)

/* Bessel functions of higher order by recurrence: upwards for y and where x is the larger, else downwards from a start far
 * above n, scaled by j0 or j1 (Miller's algorithm). */
static double bessel_j(int32_t n, double x) {
  if (n < 0) return (n & 1 ? -1 : 1) * bessel_j(-n, x);
  if (n == 0) return __nv_j0(x);
  if (n == 1 || x != x) return __nv_j1(x);
  double a = __builtin_fabs(x), result;
  if (a == 0 || a == __builtin_inf()) return 0;
  if (a > n) {
    double low = __nv_j0(a);
    result = __nv_j1(a);
    for (int32_t k = 1; k < n; ++k) {
      double next = 2.0 * k / a * result - low;
      low = result;
      result = next;
    }
  } else {
    int32_t start = n + 16 + (int32_t)(8 * __builtin_sqrt((double)n));
    double high = 0, middle = 0x1p-900, found = 0;
    for (int32_t k = start; k > 0; --k) {
      double low = 2.0 * k / a * middle - high;
      high = middle;
      middle = low;
      if (__builtin_fabs(middle) > 0x1p900) {
        high *= 0x1p-1000;
        middle *= 0x1p-1000;
        found *= 0x1p-1000;
      }
      if (k - 1 == n) found = middle;
    }
    double j0 = __nv_j0(a), j1 = __nv_j1(a);
    result = __builtin_fabs(j0) > __builtin_fabs(j1) ? found / middle * j0 : found / high * j1;
  }
  return x < 0 && (n & 1) ? -result : result;
}
static double bessel_y(int32_t n, double x) {
  if (n < 0) return (n & 1 ? -1 : 1) * bessel_y(-n, x);
  if (n == 0) return __nv_y0(x);
  double low = __nv_y0(x), result = __nv_y1(x);
  for (int32_t k = 1; k < n && result > -__builtin_inf(); ++k) {
    double next = 2.0 * k / x * result - low;
    low = result;
    result = next;
  }
  return result;
}
double __nv_jn(int32_t n, double x) { return bessel_j(n, x); }
float __nv_jnf(int32_t n, float x) { return (float)bessel_j(n, x); }
double __nv_yn(int32_t n, double x) { return bessel_y(n, x); }
float __nv_ynf(int32_t n, float x) { return (float)bessel_y(n, x); }

/* The hardware's approximations. */
INLINE float __nv_fast_sinf(float x) { return __builtin_sinf(x); }
INLINE float __nv_fast_cosf(float x) { return __builtin_cosf(x); }
INLINE float __nv_fast_tanf(float x) { return __builtin_sinf(x) / __builtin_cosf(x); }
INLINE float __nv_fast_tanhf(float x) { return __ocml_tanh_f32(x); }
INLINE float __nv_fast_expf(float x) { return __builtin_expf(x); }
INLINE float __nv_fast_exp10f(float x) { return __ocml_exp10_f32(x); }
INLINE float __nv_fast_logf(float x) { return __builtin_logf(x); }
INLINE float __nv_fast_log2f(float x) { return __builtin_log2f(x); }
INLINE float __nv_fast_log10f(float x) { return __builtin_log10f(x); }
INLINE float __nv_fast_powf(float x, float y) { return __builtin_exp2f(y * __builtin_log2f(x)); }
INLINE float __nv_fast_fdividef(float x, float y) { return x / y; }
INLINE void __nv_fast_sincosf(float x, float *s, float *c) {
  *s = __builtin_sinf(x);
  *c = __builtin_cosf(x);
}
