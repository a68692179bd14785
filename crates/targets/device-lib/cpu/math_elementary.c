/* libdevice's elementary functions that are a function of libm or an intrinsic of LLVM each. Others stand in `../lanes`. */
#include "quotient.h"
#include "round.h"

double exp10(double);
float j0f(float), j1f(float), jnf(int, float), y0f(float), y1f(float), ynf(int, float);
double j0(double), j1(double), jn(int, double), y0(double), y1(double), yn(int, double);
float lgammaf_r(float, int *), tgammaf(float), logbf(float);
double lgamma_r(double, int *), tgamma(double), hypot(double, double), expm1(double), log1p(double), logb(double);
float nextafterf(float, float), remainderf(float, float), remquof(float, float, int *);
double erfc(double), nextafter(double, double), remainder(double, double), remquo(double, double, int *);
float modff(float, float *), frexpf(float, int *), ldexpf(float, int);
double acosh(double), asinh(double), atanh(double), modf(double, double *), frexp(double, int *), ldexp(double, int);
int ilogbf(float), ilogb(double);

#define UNARY(name, f32, f64)                               \
  INLINE float __nv_##name##f(float x) { return f32(x); }   \
  INLINE double __nv_##name(double x) { return f64(x); }
#define LIBM(name) UNARY(name, name##f, name)

#define OF_DOUBLE(name, f64) INLINE double __nv_##name(double x) { return f64(x); }
#define BUILTIN(name) OF_DOUBLE(name, __builtin_##name)
#define LIBM_DOUBLE(name) OF_DOUBLE(name, name)

BUILTIN(tan) BUILTIN(asin) BUILTIN(acos) BUILTIN(sinh) BUILTIN(cosh) LIBM_DOUBLE(asinh) LIBM_DOUBLE(acosh) LIBM_DOUBLE(atanh)
LIBM_DOUBLE(exp10) LIBM_DOUBLE(expm1) LIBM_DOUBLE(log1p) LIBM(logb) LIBM_DOUBLE(erfc) LIBM(tgamma)
LIBM(j0) LIBM(j1) LIBM(y0) LIBM(y1)

/* Without `_r` they write the sign to a variable that the whole program has. */
INLINE float __nv_lgammaf(float x) {
  int sign;
  return lgammaf_r(x, &sign);
}
INLINE double __nv_lgamma(double x) {
  int sign;
  return lgamma_r(x, &sign);
}

#define BINARY(name, f32, f64)                                        \
  INLINE float __nv_##name##f(float x, float y) { return f32(x, y); } \
  INLINE double __nv_##name(double x, double y) { return f64(x, y); }
#define LIBM2(name) BINARY(name, name##f, name)
#define BUILTIN2(name) INLINE double __nv_##name(double x, double y) { return __builtin_##name(x, y); }
BUILTIN2(pow) BUILTIN2(fmod) BUILTIN2(hypot)
LIBM2(nextafter) LIBM2(remainder)

INLINE double __nv_powi(double x, int32_t n) { return __builtin_pow(x, (double)n); }
INLINE float __nv_jnf(int32_t n, float x) { return jnf(n, x); }
INLINE double __nv_jn(int32_t n, double x) { return jn(n, x); }
INLINE float __nv_ynf(int32_t n, float x) { return ynf(n, x); }
INLINE double __nv_yn(int32_t n, double x) { return yn(n, x); }
INLINE float __nv_ldexpf(float x, int32_t n) { return ldexpf(x, n); }
INLINE double __nv_ldexp(double x, int32_t n) { return ldexp(x, n); }
INLINE float __nv_scalbnf(float x, int32_t n) { return ldexpf(x, n); }
INLINE double __nv_scalbn(double x, int32_t n) { return ldexp(x, n); }
INLINE float __nv_frexpf(float x, int32_t *e) { return frexpf(x, e); }
INLINE double __nv_frexp(double x, int32_t *e) { return frexp(x, e); }
INLINE float __nv_modff(float x, float *i) { return modff(x, i); }
INLINE double __nv_modf(double x, double *i) { return modf(x, i); }
INLINE float __nv_remquof(float x, float y, int32_t *q) {
  float rest = remquof(x, y, q);
  *q = three_bits(*q);
  return rest;
}
INLINE double __nv_remquo(double x, double y, int32_t *q) {
  double rest = remquo(x, y, q);
  *q = three_bits(*q);
  return rest;
}

/* CUDA: ilogb(0) and ilogb(NaN) are INT_MIN, ilogb(inf) is INT_MAX. */
INLINE int32_t __nv_ilogbf(float x) { return x == 0 || x != x ? INT32_MIN : __builtin_isinf(x) ? INT32_MAX : ilogbf(x); }
INLINE int32_t __nv_ilogb(double x) { return x == 0 || x != x ? INT32_MIN : __builtin_isinf(x) ? INT32_MAX : ilogb(x); }

INLINE void __nv_sincosf(float x, float *s, float *c) {
  *s = __nv_sinf(x);
  *c = __nv_cosf(x);
}
INLINE void __nv_sincos(double x, double *s, double *c) {
  *s = __nv_sin(x);
  *c = __nv_cos(x);
}

/* The fast versions are at least as exact as on the device. */
INLINE float __nv_fast_sinf(float x) { return __nv_sinf(x); }
INLINE float __nv_fast_cosf(float x) { return __nv_cosf(x); }
INLINE float __nv_fast_tanf(float x) { return __nv_tanf(x); }
INLINE float __nv_fast_tanhf(float x) { return __nv_tanhf(x); }
INLINE float __nv_fast_expf(float x) { return __nv_expf(x); }
INLINE float __nv_fast_exp10f(float x) { return __nv_exp10f(x); }
INLINE float __nv_fast_logf(float x) { return __nv_logf(x); }
INLINE float __nv_fast_log2f(float x) { return __nv_log2f(x); }
INLINE float __nv_fast_log10f(float x) { return __nv_log10f(x); }
INLINE void __nv_fast_sincosf(float x, float *s, float *c) { __nv_sincosf(x, s, c); }
