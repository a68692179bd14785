/* Arithmetic of half and bfloat16: NVVM intrinsics and what inline PTX needs. */
#include "half.h"

INLINE float __regrain_f16_to_f32(uint16_t x) { return f16_to_f32(x); }
INLINE float __regrain_bf16_to_f32(uint16_t x) { return bf16_to_f32(x); }

#define FROM_WIDER(mode, MODE)                                                                                      \
  INLINE uint16_t __regrain_f32_to_f16_##mode(float x) { return MODE == RN ? f32_to_f16(x) : f64_to_f16(x, MODE); } \
  INLINE uint16_t __regrain_f32_to_bf16_##mode(float x) { return MODE == RN ? f32_to_bf16(x) : f64_to_bf16(x, MODE); } \
  uint16_t __regrain_f64_to_f16_##mode(double x) { return MODE == RN ? f32_to_f16(f64_to_odd_f32(x)) : f64_to_f16(x, MODE); } \
  uint16_t __regrain_f64_to_bf16_##mode(double x) { return MODE == RN ? f32_to_bf16(f64_to_odd_f32(x)) : f64_to_bf16(x, MODE); } \
  uint16_t __regrain_s64_to_f16_##mode(int64_t x) { return f64_to_f16(s64_to_odd(x), MODE); }                       \
  uint16_t __regrain_u64_to_f16_##mode(uint64_t x) { return f64_to_f16(u64_to_odd(x), MODE); }                      \
  uint16_t __regrain_s64_to_bf16_##mode(int64_t x) { return f64_to_bf16(s64_to_odd(x), MODE); }                     \
  uint16_t __regrain_u64_to_bf16_##mode(uint64_t x) { return f64_to_bf16(u64_to_odd(x), MODE); }
FOR_MODES(FROM_WIDER)

static INLINE uint16_t flush_f16(uint16_t x) { return (x & 0x7c00) ? x : x & 0x8000; }
static INLINE uint16_t flush_bf16(uint16_t x) { return (x & 0x7f80) ? x : x & 0x8000; }
static INLINE float relu(float x) { return x != x ? x : x > 0 ? x : 0.0f; }

INLINE uint16_t __regrain_fma_f16(uint16_t a, uint16_t b, uint16_t c) {
  return f32_to_f16(fma_to_odd_f32(f16_to_f32(a), f16_to_f32(b), f16_to_f32(c)));
}
INLINE uint16_t __regrain_fma_bf16(uint16_t a, uint16_t b, uint16_t c) {
  return f32_to_bf16(f64_to_odd_f32(fma_to_odd(bf16_to_f32(a), bf16_to_f32(b), bf16_to_f32(c))));
}
INLINE uint16_t __regrain_relu_f16(uint16_t x) { return (x & 0x7fff) > 0x7c00 ? 0x7fff : x & 0x8000 ? 0 : x; }
INLINE uint16_t __regrain_relu_bf16(uint16_t x) { return (x & 0x7fff) > 0x7f80 ? 0x7fff : x & 0x8000 ? 0 : x; }
INLINE uint16_t __regrain_sat_f16(uint16_t x) { return f32_to_f16(saturate_f32(f16_to_f32(x))); }
INLINE uint16_t __regrain_sat_bf16(uint16_t x) { return f32_to_bf16(saturate_f32(bf16_to_f32(x))); }
INLINE uint16_t __regrain_ftz_f16(uint16_t x) { return flush_f16(x); }
INLINE uint16_t __regrain_ftz_bf16(uint16_t x) { return flush_bf16(x); }
INLINE float __regrain_ftz_f32(float x) { return flush_f32(x); }
INLINE float __regrain_relu_f32(float x) { return relu(x); }
INLINE float __regrain_sat_f32(float x) { return saturate_f32(x); }
INLINE double __regrain_sat_f64(double x) { return saturate_f64(x); }

/* On bit patterns; the vectors of two apply them to each element. */
#define X2_1(f, a) ((uint32_t)f((uint16_t)(a)) | (uint32_t)f((uint16_t)((a) >> 16)) << 16)
#define X2_2(f, a, b) ((uint32_t)f((uint16_t)(a), (uint16_t)(b)) | (uint32_t)f((uint16_t)((a) >> 16), (uint16_t)((b) >> 16)) << 16)
#define X2_3(f, a, b, c)                                  \
  ((uint32_t)f((uint16_t)(a), (uint16_t)(b), (uint16_t)(c)) | \
   (uint32_t)f((uint16_t)((a) >> 16), (uint16_t)((b) >> 16), (uint16_t)((c) >> 16)) << 16)

typedef _Float16 scalar_f16;
typedef __bf16 scalar_bf16;
#define BITS(x) __builtin_bit_cast(uint16_t, x)

/* f.x2 functions take vectors as i32; build.rs wraps them in functions with LLVM's vector types. */
#define FMA(ty, suffix, in, out)                                                                                     \
  static INLINE uint16_t fma##suffix##_##ty##_bits(uint16_t a, uint16_t b, uint16_t c) {                             \
    return out(__regrain_fma_##ty(in(a), in(b), in(c)));                                                             \
  }                                                                                                                  \
  NVVM(scalar_##ty, fma_rn##suffix##_##ty)(scalar_##ty a, scalar_##ty b, scalar_##ty c) {                            \
    return __builtin_bit_cast(scalar_##ty, fma##suffix##_##ty##_bits(BITS(a), BITS(b), BITS(c)));                    \
  }                                                                                                                  \
  INLINE uint32_t __regrain_x2_fma_rn##suffix##_##ty##x2(uint32_t a, uint32_t b, uint32_t c) {                       \
    return X2_3(fma##suffix##_##ty##_bits, a, b, c);                                                                 \
  }
#define SAME(x) (x)
#define FMA_ALL(ty)                                                            \
  static INLINE uint16_t ftz_sat_##ty(uint16_t x) { return flush_##ty(__regrain_sat_##ty(x)); }   \
  static INLINE uint16_t ftz_relu_##ty(uint16_t x) { return flush_##ty(__regrain_relu_##ty(x)); } \
  FMA(ty, , SAME, SAME)                                                        \
  FMA(ty, _ftz, flush_##ty, flush_##ty)                                        \
  FMA(ty, _sat, SAME, __regrain_sat_##ty)                                      \
  FMA(ty, _ftz_sat, flush_##ty, ftz_sat_##ty)                                  \
  FMA(ty, _relu, SAME, __regrain_relu_##ty)                                    \
  FMA(ty, _ftz_relu, flush_##ty, ftz_relu_##ty)
FMA_ALL(f16)
FMA_ALL(bf16)

float __regrain_llvm_nvvm_fmin_f(float, float), __regrain_llvm_nvvm_fmax_f(float, float);
#define MINMAX(op, ty, suffix, in)                                                                                   \
  float __regrain_llvm_nvvm_##op##suffix##_f(float, float);                                                          \
  INLINE uint16_t __regrain_##op##suffix##_##ty##_bits(uint16_t a, uint16_t b) {                                     \
    return f32_to_##ty(__regrain_llvm_nvvm_##op##suffix##_f(ty##_to_f32(in(a)), ty##_to_f32(in(b))));                \
  }
#define MINMAX_NVVM(op, ty, name, suffix, in)                                                                        \
  static INLINE uint16_t op##name##_##ty##_flushed(uint16_t a, uint16_t b) { return __regrain_##op##suffix##_##ty##_bits(in(a), in(b)); } \
  NVVM(scalar_##ty, op##name##_##ty)(scalar_##ty a, scalar_##ty b) {                                                 \
    return __builtin_bit_cast(scalar_##ty, op##name##_##ty##_flushed(BITS(a), BITS(b)));                             \
  }                                                                                                                  \
  INLINE uint32_t __regrain_x2_##op##name##_##ty##x2(uint32_t a, uint32_t b) { return X2_2(op##name##_##ty##_flushed, a, b); }
#define MINMAX_KINDS(op, ty, suffix)              \
  MINMAX(op, ty, suffix, SAME)                    \
  MINMAX_NVVM(op, ty, suffix, suffix, SAME)       \
  MINMAX_NVVM(op, ty, _ftz##suffix, suffix, flush_##ty)
#define MINMAX_ALL(op, ty)          \
  MINMAX_KINDS(op, ty, )            \
  MINMAX_KINDS(op, ty, _nan)        \
  MINMAX_KINDS(op, ty, _xorsign_abs) \
  MINMAX_KINDS(op, ty, _nan_xorsign_abs)
MINMAX_ALL(fmin, f16)
MINMAX_ALL(fmax, f16)
MINMAX_ALL(fmin, bf16)
MINMAX_ALL(fmax, bf16)

/* Absolute values, negation, approximations. */
#define ABS_BITS(x) ((uint16_t)((x) & 0x7fff))
NVVM(scalar_f16, fabs_f16)(scalar_f16 x) { return __builtin_bit_cast(scalar_f16, ABS_BITS(BITS(x))); }
NVVM(scalar_bf16, fabs_bf16)(scalar_bf16 x) { return __builtin_bit_cast(scalar_bf16, ABS_BITS(BITS(x))); }
NVVM(scalar_f16, fabs_ftz_f16)(scalar_f16 x) { return __builtin_bit_cast(scalar_f16, ABS_BITS(flush_f16(BITS(x)))); }
NVVM(scalar_bf16, neg_bf16)(scalar_bf16 x) { return __builtin_bit_cast(scalar_bf16, (uint16_t)(BITS(x) ^ 0x8000)); }
INLINE uint32_t __regrain_x2_fabs_v2f16(uint32_t x) { return x & 0x7fff7fff; }
INLINE uint32_t __regrain_x2_fabs_v2bf16(uint32_t x) { return x & 0x7fff7fff; }
INLINE uint32_t __regrain_x2_fabs_ftz_v2f16(uint32_t x) { return X2_1(flush_f16, x) & 0x7fff7fff; }
INLINE uint32_t __regrain_x2_neg_bf16x2(uint32_t x) { return x ^ 0x80008000; }
static INLINE uint16_t ex2_f16(uint16_t x) { return f32_to_f16(EXP2_F32(f16_to_f32(x))); }
static INLINE uint16_t ex2_bf16(uint16_t x) { return f32_to_bf16(EXP2_F32(bf16_to_f32(x))); }
NVVM(scalar_f16, ex2_approx_f16)(scalar_f16 x) { return __builtin_bit_cast(scalar_f16, ex2_f16(BITS(x))); }
NVVM(scalar_bf16, ex2_approx_ftz_bf16)(scalar_bf16 x) { return __builtin_bit_cast(scalar_bf16, ex2_bf16(BITS(x))); }
INLINE uint32_t __regrain_x2_ex2_approx_v2f16(uint32_t x) { return X2_1(ex2_f16, x); }
INLINE uint32_t __regrain_x2_ex2_approx_ftz_v2bf16(uint32_t x) { return X2_1(ex2_bf16, x); }

/* Conversions. satfinite: the largest finite value instead of an infinity. */
static INLINE uint16_t satfinite_f16(uint16_t x) { return (x & 0x7fff) == 0x7c00 ? x - 1 : x; }
static INLINE uint16_t satfinite_bf16(uint16_t x) { return (x & 0x7fff) == 0x7f80 ? x - 1 : x; }
INLINE uint16_t __regrain_satfinite_f16(uint16_t x) { return satfinite_f16(x); }
INLINE uint16_t __regrain_satfinite_bf16(uint16_t x) { return satfinite_bf16(x); }
#define CVT(ty, mode, suffix, out)                                                                                   \
  static INLINE uint16_t to_##ty##_##mode##suffix(float x) { return out(__regrain_f32_to_##ty##_##mode(x)); }        \
  NVVM(scalar_##ty, f2##ty##_##mode##suffix)(float x) { return __builtin_bit_cast(scalar_##ty, to_##ty##_##mode##suffix(x)); } \
  INLINE uint32_t __regrain_x2_ff2##ty##x2_##mode##suffix(float hi, float lo) {                                      \
    return (uint32_t)to_##ty##_##mode##suffix(hi) << 16 | to_##ty##_##mode##suffix(lo);                              \
  }
#define CVT_ALL(ty, mode)                                                                                            \
  static INLINE uint16_t relu_satfinite_##ty##_##mode(uint16_t x) { return satfinite_##ty(__regrain_relu_##ty(x)); } \
  CVT(ty, mode, , SAME)                                                                                              \
  CVT(ty, mode, _relu, __regrain_relu_##ty)                                                                          \
  CVT(ty, mode, _satfinite, satfinite_##ty)                                                                          \
  CVT(ty, mode, _relu_satfinite, relu_satfinite_##ty##_##mode)
CVT_ALL(f16, rn) CVT_ALL(f16, rz) CVT_ALL(bf16, rn) CVT_ALL(bf16, rz)
NVVM(uint16_t, f2h_rn)(float x) { return f32_to_f16(x); }
NVVM(uint16_t, f2h_rn_ftz)(float x) { return f32_to_f16(flush_f32(x)); }
NVVM(float, h2f)(uint16_t x) { return f16_to_f32(x); }
NVVM(uint16_t, bf2h_rn)(scalar_bf16 x) { return f32_to_f16(bf16_to_f32(BITS(x))); }
NVVM(uint16_t, bf2h_rn_ftz)(scalar_bf16 x) { return f32_to_f16(bf16_to_f32(flush_bf16(BITS(x)))); }
INLINE uint16_t __nv_float2half_rn(float x) { return f32_to_f16(x); }
INLINE float __nv_half2float(uint16_t x) { return f16_to_f32(x); }

/* tf32 keeps 10 mantissa bits of a float; rna rounds ties away from zero. */
static INLINE uint32_t to_tf32(float x, int mode, bool rectify, bool finite) {
  if (x != x) return 0x7fffffff;
  if (rectify) x = relu(x);
  uint32_t b = f32_bits(x);
  if ((b & 0x7fffffff) < 0x7f800000) {
    if (mode == 'a') b += 0x1000;
    if (mode == 'n') b += 0xfff + (b >> 13 & 1);
    b &= 0xffffe000;
  }
  return finite && (b & 0x7fffffff) == 0x7f800000 ? (b & 0x80000000) | 0x7f7fe000 : b;
}
#define TF32(name, mode, rectify, finite) NVVM(uint32_t, f2tf32_##name)(float x) { return to_tf32(x, mode, rectify, finite); }
TF32(rna, 'a', false, false) TF32(rna_satfinite, 'a', false, true)
TF32(rn, 'n', false, false) TF32(rn_relu, 'n', true, false) TF32(rn_satfinite, 'n', false, true) TF32(rn_relu_satfinite, 'n', true, true)
TF32(rz, 'z', false, false) TF32(rz_relu, 'z', true, false) TF32(rz_satfinite, 'z', false, true) TF32(rz_relu_satfinite, 'z', true, true)

/* Atomic addition of 16-bit floats and pairs of them. */
#define ATOMIC_ADD(ty)                                                                                               \
  static INLINE uint16_t add_##ty##_bits(uint16_t a, uint16_t b) { return f32_to_##ty(ty##_to_f32(a) + ty##_to_f32(b)); } \
  INLINE uint16_t __regrain_atomic_add_##ty(uint16_t *p, uint16_t v) {                                               \
    BEFORE_ATOMIC;                                                                                                   \
    uint16_t seen = __atomic_load_n(p, __ATOMIC_RELAXED);                                                            \
    while (!__atomic_compare_exchange_n(p, &seen, add_##ty##_bits(seen, v), true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {} \
    return seen;                                                                                                     \
  }                                                                                                                  \
  INLINE uint32_t __regrain_atomic_add_##ty##x2(uint32_t *p, uint32_t v) {                                           \
    BEFORE_ATOMIC;                                                                                                   \
    uint32_t seen = __atomic_load_n(p, __ATOMIC_RELAXED);                                                            \
    while (!__atomic_compare_exchange_n(p, &seen, X2_2(add_##ty##_bits, seen, v), true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {} \
    return seen;                                                                                                     \
  }
ATOMIC_ADD(f16)
ATOMIC_ADD(bf16)
