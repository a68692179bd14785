/* NVVM's approximations and unary float operations, and minima and maxima of float and double. */
#include "round.h"

#define UNARY_F(name, expr)                                                           \
  NVVM(float, name##_f)(float x) { return (expr); }                                   \
  NVVM(float, name##_ftz_f)(float y) { float x = flush_f32(y); return flush_f32(expr); }

UNARY_F(sin_approx, SIN_F32(x))
UNARY_F(cos_approx, COS_F32(x))
UNARY_F(lg2_approx, LOG2_F32(x))
UNARY_F(rsqrt_approx, RSQRT_F32(x))
UNARY_F(sqrt_approx, __builtin_sqrtf(x))
UNARY_F(ceil, __builtin_ceilf(x))
UNARY_F(floor, __builtin_floorf(x))
UNARY_F(trunc, __builtin_truncf(x))
UNARY_F(round, __builtin_rintf(x))
UNARY_F(saturate, saturate_f32(x))
NVVM(float, sqrt_f)(float x) { return __builtin_sqrtf(x); }
NVVM(float, rcp_approx_ftz_f)(float x) { return flush_f32(1.0f / flush_f32(x)); }
NVVM(float, ex2_approx_f32)(float x) { return EXP2_F32(x); }
NVVM(float, ex2_approx_ftz_f32)(float x) { return flush_f32(EXP2_F32(flush_f32(x))); }
NVVM(float, ex2_approx_f)(float x) { return EXP2_F32(x); }
NVVM(float, ex2_approx_ftz_f)(float x) { return flush_f32(EXP2_F32(flush_f32(x))); }
NVVM(float, fabs_f32)(float x) { return __builtin_fabsf(x); }
NVVM(float, fabs_ftz_f32)(float x) { return __builtin_fabsf(flush_f32(x)); }
NVVM(double, fabs_f64)(double x) { return __builtin_fabs(x); }
NVVM(float, fabs_f)(float x) { return __builtin_fabsf(x); }
NVVM(float, fabs_ftz_f)(float x) { return __builtin_fabsf(flush_f32(x)); }
NVVM(double, fabs_d)(double x) { return __builtin_fabs(x); }

NVVM(double, lg2_approx_d)(double x) { return LOG2_F64(x); }
NVVM(double, ex2_approx_d)(double x) { return EXP2_F64(x); }
NVVM(double, rsqrt_approx_d)(double x) { return RSQRT_F64(x); }
NVVM(double, rsqrt_approx_ftz_d)(double x) { return RSQRT_F64(x); }
NVVM(double, rcp_approx_ftz_d)(double x) { return 1.0 / x; }
NVVM(double, ceil_d)(double x) { return __builtin_ceil(x); }
NVVM(double, floor_d)(double x) { return __builtin_floor(x); }
NVVM(double, trunc_d)(double x) { return __builtin_trunc(x); }
NVVM(double, round_d)(double x) { return __builtin_rint(x); }
NVVM(double, saturate_d)(double x) { return saturate_f64(x); }

NVVM(float, div_approx_f)(float a, float b) { return a / b; }
NVVM(float, div_approx_ftz_f)(float a, float b) { return flush_f32(flush_f32(a) / flush_f32(b)); }
NVVM(float, div_full)(float a, float b) { return a / b; }
NVVM(float, div_full_ftz)(float a, float b) { return flush_f32(flush_f32(a) / flush_f32(b)); }

NVVM(float, move_float)(float x) { return x; }
NVVM(double, move_double)(double x) { return x; }
NVVM(int16_t, move_i16)(int16_t x) { return x; }
NVVM(int32_t, move_i32)(int32_t x) { return x; }
NVVM(int64_t, move_i64)(int64_t x) { return x; }

/* .NaN: a NaN operand wins. .xorsign.abs: of the magnitudes, with the product's sign. */
#define NAN_F bits_f32(0x7fffffffu)
static INLINE float with_xor_sign(float r, float a, float b) {
  return r != r ? r : bits_f32((f32_bits(r) & 0x7fffffffu) | ((f32_bits(a) ^ f32_bits(b)) & 0x80000000u));
}
#define MINMAX(op)                                                                                                   \
  static INLINE float op##_nan(float a, float b) { return a != a || b != b ? NAN_F : __builtin_##op##f(a, b); }      \
  static INLINE float op##_xorsign(float a, float b) {                                                               \
    return with_xor_sign(__builtin_##op##f(__builtin_fabsf(a), __builtin_fabsf(b)), a, b);                           \
  }                                                                                                                  \
  static INLINE float op##_nan_xorsign(float a, float b) {                                                           \
    return with_xor_sign(op##_nan(__builtin_fabsf(a), __builtin_fabsf(b)), a, b);                                    \
  }                                                                                                                  \
  NVVM(double, op##_d)(double a, double b) { return __builtin_##op(a, b); }                                          \
  NVVM(float, op##_f)(float a, float b) { return __builtin_##op##f(a, b); }                                          \
  NVVM(float, op##_ftz_f)(float a, float b) { return __builtin_##op##f(flush_f32(a), flush_f32(b)); }                \
  NVVM(float, op##_nan_f)(float a, float b) { return op##_nan(a, b); }                                               \
  NVVM(float, op##_ftz_nan_f)(float a, float b) { return op##_nan(flush_f32(a), flush_f32(b)); }                     \
  NVVM(float, op##_xorsign_abs_f)(float a, float b) { return op##_xorsign(a, b); }                                   \
  NVVM(float, op##_ftz_xorsign_abs_f)(float a, float b) { return op##_xorsign(flush_f32(a), flush_f32(b)); }         \
  NVVM(float, op##_nan_xorsign_abs_f)(float a, float b) { return op##_nan_xorsign(a, b); }                           \
  NVVM(float, op##_ftz_nan_xorsign_abs_f)(float a, float b) { return op##_nan_xorsign(flush_f32(a), flush_f32(b)); }
MINMAX(fmin)
MINMAX(fmax)
