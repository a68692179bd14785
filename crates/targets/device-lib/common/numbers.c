/* libdevice's functions that look at the parts of a number. */
#include "round.h"

/* Rounding to an integer type saturates as cvt does. */
INLINE int64_t __nv_llrintf(float x) { return to_s64(__builtin_rintf(x)); }
INLINE int64_t __nv_llrint(double x) { return to_s64(__builtin_rint(x)); }
INLINE int64_t __nv_llroundf(float x) { return to_s64(__builtin_roundf(x)); }
INLINE int64_t __nv_llround(double x) { return to_s64(__builtin_round(x)); }

INLINE float __nv_saturatef(float x) { return saturate_f32(x); }
INLINE float __nv_nanf(const int8_t *tag) { (void)tag; return bits_f32(0x7fffffffu); }
INLINE double __nv_nan(const int8_t *tag) { (void)tag; return bits_f64(0x7fffffffffffffffull); }
INLINE int32_t __nv_isnanf(float x) { return x != x; }
INLINE int32_t __nv_isnand(double x) { return x != x; }
INLINE int32_t __nv_isinff(float x) { return __builtin_fabsf(x) == __builtin_inff(); }
INLINE int32_t __nv_isinfd(double x) { return __builtin_fabs(x) == __builtin_inf(); }
INLINE int32_t __nv_finitef(float x) { return __builtin_fabsf(x) < __builtin_inff(); }
INLINE int32_t __nv_isfinited(double x) { return __builtin_fabs(x) < __builtin_inf(); }
INLINE int32_t __nv_signbitf(float x) { return (int32_t)(f32_bits(x) >> 31); }
INLINE int32_t __nv_signbitd(double x) { return (int32_t)(f64_bits(x) >> 63); }
INLINE double __nv_rcp64h(double x) { return bits_f64(f64_bits(1.0 / x) & 0xffffffff00000000ull); }
