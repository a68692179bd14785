/* Conversions with a stated rounding: NVVM's d2f/f2i/i2d/... and libdevice's *2*_r*. */
#include "round.h"

#define TO_INTEGER(mode, MODE)                                                                           \
  NVVM(int32_t, f2i_##mode)(float x) { return to_s32(integral_f32(x, MODE), 0); }                        \
  NVVM(int32_t, f2i_##mode##_ftz)(float x) { return to_s32(integral_f32(flush_f32(x), MODE), 0); }       \
  NVVM(uint32_t, f2ui_##mode)(float x) { return to_u32(integral_f32(x, MODE), 0); }                      \
  NVVM(uint32_t, f2ui_##mode##_ftz)(float x) { return to_u32(integral_f32(flush_f32(x), MODE), 0); }     \
  NVVM(int64_t, f2ll_##mode)(float x) { return to_s64(integral_f32(x, MODE)); }                          \
  NVVM(int64_t, f2ll_##mode##_ftz)(float x) { return to_s64(integral_f32(flush_f32(x), MODE)); }         \
  NVVM(uint64_t, f2ull_##mode)(float x) { return to_u64(integral_f32(x, MODE)); }                        \
  NVVM(uint64_t, f2ull_##mode##_ftz)(float x) { return to_u64(integral_f32(flush_f32(x), MODE)); }       \
  NVVM(int32_t, d2i_##mode)(double x) { return to_s32(integral_f64(x, MODE), INT32_MIN); }               \
  NVVM(uint32_t, d2ui_##mode)(double x) { return to_u32(integral_f64(x, MODE), 1u << 31); }              \
  NVVM(int64_t, d2ll_##mode)(double x) { return to_s64(integral_f64(x, MODE)); }                         \
  NVVM(uint64_t, d2ull_##mode)(double x) { return to_u64(integral_f64(x, MODE)); }                       \
  NVVM(float, d2f_##mode)(double x) { return f64_to_f32(x, MODE); }                                      \
  NVVM(float, d2f_##mode##_ftz)(double x) { return flush_f32(f64_to_f32(x, MODE)); }
FOR_MODES(TO_INTEGER)

static INLINE float s64_to_f32(int64_t x, enum rounding mode) {
  return step_f32((float)x, s64_rest_sign(x, (float)x), mode);
}
static INLINE float u64_to_f32(uint64_t x, enum rounding mode) {
  return step_f32((float)x, u64_rest_sign(x, (float)x), mode);
}
static INLINE double s64_to_f64(int64_t x, enum rounding mode) {
  return step_f64((double)x, s64_rest_sign(x, (double)x), mode);
}
static INLINE double u64_to_f64(uint64_t x, enum rounding mode) {
  return step_f64((double)x, u64_rest_sign(x, (double)x), mode);
}
static INLINE float s32_to_f32(int32_t x, enum rounding mode) { return mode == RN ? (float)x : f64_to_f32(x, mode); }
static INLINE float u32_to_f32(uint32_t x, enum rounding mode) { return mode == RN ? (float)x : f64_to_f32(x, mode); }

#define FROM_INTEGER(mode, MODE)                                                      \
  NVVM(float, i2f_##mode)(int32_t x) { return s32_to_f32(x, MODE); }                  \
  NVVM(float, ui2f_##mode)(uint32_t x) { return u32_to_f32(x, MODE); }                \
  NVVM(double, i2d_##mode)(int32_t x) { return x; }                                   \
  NVVM(double, ui2d_##mode)(uint32_t x) { return x; }                                 \
  NVVM(float, ll2f_##mode)(int64_t x) { return s64_to_f32(x, MODE); }                 \
  NVVM(float, ull2f_##mode)(uint64_t x) { return u64_to_f32(x, MODE); }               \
  NVVM(double, ll2d_##mode)(int64_t x) { return s64_to_f64(x, MODE); }                \
  NVVM(double, ull2d_##mode)(uint64_t x) { return u64_to_f64(x, MODE); }
FOR_MODES(FROM_INTEGER)

#define LIBDEVICE(mode, MODE)                                                                        \
  INLINE int32_t __nv_float2int_##mode(float x) { return to_s32(integral_f32(x, MODE), 0); }         \
  INLINE uint32_t __nv_float2uint_##mode(float x) { return to_u32(integral_f32(x, MODE), 0); }       \
  INLINE int64_t __nv_float2ll_##mode(float x) { return to_s64(integral_f32(x, MODE)); }             \
  INLINE uint64_t __nv_float2ull_##mode(float x) { return to_u64(integral_f32(x, MODE)); }           \
  INLINE int32_t __nv_double2int_##mode(double x) { return to_s32(integral_f64(x, MODE), INT32_MIN); } \
  INLINE uint32_t __nv_double2uint_##mode(double x) { return to_u32(integral_f64(x, MODE), 1u << 31); } \
  INLINE int64_t __nv_double2ll_##mode(double x) { return to_s64(integral_f64(x, MODE)); }           \
  INLINE uint64_t __nv_double2ull_##mode(double x) { return to_u64(integral_f64(x, MODE)); }         \
  INLINE float __nv_double2float_##mode(double x) { return f64_to_f32(x, MODE); }                    \
  INLINE float __nv_int2float_##mode(int32_t x) { return s32_to_f32(x, MODE); }                      \
  INLINE float __nv_uint2float_##mode(uint32_t x) { return u32_to_f32(x, MODE); }                    \
  INLINE float __nv_ll2float_##mode(int64_t x) { return s64_to_f32(x, MODE); }                       \
  INLINE float __nv_ull2float_##mode(uint64_t x) { return u64_to_f32(x, MODE); }                     \
  INLINE double __nv_ll2double_##mode(int64_t x) { return s64_to_f64(x, MODE); }                     \
  INLINE double __nv_ull2double_##mode(uint64_t x) { return u64_to_f64(x, MODE); }
LIBDEVICE(rn, RN)
LIBDEVICE(rz, RZ)
LIBDEVICE(ru, RP)
LIBDEVICE(rd, RM)
INLINE double __nv_int2double_rn(int32_t x) { return x; }
INLINE double __nv_uint2double_rn(uint32_t x) { return x; }

/* Reinterpretation and the halves of a double. */
INLINE int32_t __nv_float_as_int(float x) { return (int32_t)f32_bits(x); }
INLINE uint32_t __nv_float_as_uint(float x) { return f32_bits(x); }
INLINE float __nv_int_as_float(int32_t x) { return bits_f32((uint32_t)x); }
INLINE float __nv_uint_as_float(uint32_t x) { return bits_f32(x); }
INLINE int64_t __nv_double_as_longlong(double x) { return (int64_t)f64_bits(x); }
INLINE double __nv_longlong_as_double(int64_t x) { return bits_f64((uint64_t)x); }
INLINE int32_t __nv_double2hiint(double x) { return (int32_t)(f64_bits(x) >> 32); }
INLINE int32_t __nv_double2loint(double x) { return (int32_t)f64_bits(x); }
INLINE double __nv_hiloint2double(int32_t hi, int32_t lo) { return bits_f64((uint64_t)(uint32_t)hi << 32 | (uint32_t)lo); }
NVVM(int32_t, d2i_hi)(double x) { return (int32_t)(f64_bits(x) >> 32); }
NVVM(int32_t, d2i_lo)(double x) { return (int32_t)f64_bits(x); }
NVVM(double, lohi_i2d)(int32_t lo, int32_t hi) { return __nv_hiloint2double(hi, lo); }
NVVM(int32_t, bitcast_f2i)(float x) { return (int32_t)f32_bits(x); }
NVVM(float, bitcast_i2f)(int32_t x) { return bits_f32((uint32_t)x); }
NVVM(int64_t, bitcast_d2ll)(double x) { return (int64_t)f64_bits(x); }
NVVM(double, bitcast_ll2d)(int64_t x) { return bits_f64((uint64_t)x); }
