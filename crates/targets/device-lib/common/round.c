/* Arithmetic with a stated rounding: NVVM intrinsics and the libdevice functions of the same meaning. */
#include "round.h"

#define ID(x) (x)

/* name_<mode><suffix>: f is flushed on the way in and out when asked for */
#define NVVM2(op, mode, MODE)                                                                                        \
  NVVM(float, op##_##mode##_f)(float a, float b) { return op##_f32(a, b, MODE); }                                    \
  NVVM(float, op##_##mode##_ftz_f)(float a, float b) {                                                               \
    return flush_f32(op##_f32(flush_f32(a), flush_f32(b), MODE));                                                    \
  }                                                                                                                  \
  NVVM(double, op##_##mode##_d)(double a, double b) { return op##_f64(a, b, MODE); }
#define ALL2(mode, MODE) NVVM2(add, mode, MODE) NVVM2(mul, mode, MODE) NVVM2(div, mode, MODE)
FOR_MODES(ALL2)

#define SATURATED(mode, MODE)                                                                                        \
  NVVM(float, add_##mode##_sat_f)(float a, float b) { return saturate_f32(add_f32(a, b, MODE)); }                    \
  NVVM(float, add_##mode##_ftz_sat_f)(float a, float b) {                                                            \
    return flush_f32(saturate_f32(add_f32(flush_f32(a), flush_f32(b), MODE)));                                       \
  }                                                                                                                  \
  NVVM(float, fma_##mode##_sat_f)(float a, float b, float c) { return saturate_f32(fma_f32(a, b, c, MODE)); }        \
  NVVM(float, fma_##mode##_ftz_sat_f)(float a, float b, float c) {                                                   \
    return flush_f32(saturate_f32(fma_f32(flush_f32(a), flush_f32(b), flush_f32(c), MODE)));                         \
  }
FOR_MODES(SATURATED)

#define FMA(mode, MODE)                                                                                              \
  NVVM(float, fma_##mode##_f)(float a, float b, float c) { return fma_f32(a, b, c, MODE); }                          \
  NVVM(float, fma_##mode##_ftz_f)(float a, float b, float c) {                                                       \
    return flush_f32(fma_f32(flush_f32(a), flush_f32(b), flush_f32(c), MODE));                                       \
  }                                                                                                                  \
  NVVM(double, fma_##mode##_d)(double a, double b, double c) { return fma_f64(a, b, c, MODE); }                      \
  NVVM(float, sqrt_##mode##_f)(float a) { return sqrt_f32(a, MODE); }                                                \
  NVVM(float, sqrt_##mode##_ftz_f)(float a) { return flush_f32(sqrt_f32(flush_f32(a), MODE)); }                      \
  NVVM(double, sqrt_##mode##_d)(double a) { return sqrt_f64(a, MODE); }                                              \
  NVVM(float, rcp_##mode##_f)(float a) { return div_f32(1.0f, a, MODE); }                                            \
  NVVM(float, rcp_##mode##_ftz_f)(float a) { return flush_f32(div_f32(1.0f, flush_f32(a), MODE)); }                  \
  NVVM(double, rcp_##mode##_d)(double a) { return div_f64(1.0, a, MODE); }
FOR_MODES(FMA)

/* libdevice writes ru and rd for rp and rm. */
#define LIBDEVICE(mode, MODE)                                                            \
  INLINE float __nv_fadd_##mode(float a, float b) { return add_f32(a, b, MODE); }        \
  INLINE float __nv_fsub_##mode(float a, float b) { return add_f32(a, -b, MODE); }       \
  INLINE float __nv_fmul_##mode(float a, float b) { return mul_f32(a, b, MODE); }        \
  INLINE float __nv_fdiv_##mode(float a, float b) { return div_f32(a, b, MODE); }        \
  INLINE float __nv_frcp_##mode(float a) { return div_f32(1.0f, a, MODE); }              \
  INLINE float __nv_fsqrt_##mode(float a) { return sqrt_f32(a, MODE); }                  \
  INLINE float __nv_fmaf_##mode(float a, float b, float c) { return fma_f32(a, b, c, MODE); } \
  INLINE float __nv_fmaf_ieee_##mode(float a, float b, float c) { return fma_f32(a, b, c, MODE); } \
  INLINE double __nv_dadd_##mode(double a, double b) { return add_f64(a, b, MODE); }     \
  INLINE double __nv_dsub_##mode(double a, double b) { return add_f64(a, -b, MODE); }    \
  INLINE double __nv_dmul_##mode(double a, double b) { return mul_f64(a, b, MODE); }     \
  INLINE double __nv_ddiv_##mode(double a, double b) { return div_f64(a, b, MODE); }     \
  INLINE double __nv_drcp_##mode(double a) { return div_f64(1.0, a, MODE); }             \
  INLINE double __nv_dsqrt_##mode(double a) { return sqrt_f64(a, MODE); }                \
  INLINE double __nv_fma_##mode(double a, double b, double c) { return fma_f64(a, b, c, MODE); }
LIBDEVICE(rn, RN)
LIBDEVICE(rz, RZ)
LIBDEVICE(ru, RP)
LIBDEVICE(rd, RM)

/* The nearest float to 1/sqrt(a): the double quotient decides except next to the middle of two floats. */
float __nv_frsqrt_rn(float a) {
  double h = 1.0 / __builtin_sqrt((double)a);
  float d = (float)h;
  if (!(a > 0) || a == __builtin_inff()) return d;
  float other = (double)d < h ? bits_f32(f32_bits(d) + 1) : bits_f32(f32_bits(d) - 1);
  double middle = ((double)d + other) / 2;
  int sign = SIGN(__builtin_fma((double)a, middle * middle, -1.0)); /* > 0: 1/sqrt(a) < middle */
  if (sign == 0) return d;
  bool below = sign > 0;
  return (d < other) == below ? d : other;
}
