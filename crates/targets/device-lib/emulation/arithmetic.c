/* Arithmetic of AMD's instructions. What the hardware approximates (v_rcp_f32, v_rsq_f32, v_sqrt_f32, v_exp_f32, v_log_f32, v_sin_f32,
 * v_cos_f32: 1 ulp, the last two of absolute error 2^-20 or so) is computed in double precision and rounded once. */
#include "abi.h"

#define AMD(ret, name) INLINE ret __regrain_llvm_amdgcn_##name

double exp2(double), log2(double), sin(double), cos(double), frexp(double, int *), ldexp(double, int);

static const double TURN = 6.283185307179586476925286766559;

#define F32(name, x, result) \
  AMD(float, name##_f32)(float value) { double x = value; return (float)(result); }
#define F16(name, x, result) \
  AMD(_Float16, name##_f16)(_Float16 value) { double x = (double)value; return (_Float16)(float)(result); }
#define F64(name, x, result) \
  AMD(double, name##_f64)(double x) { return (result); }
#define FLOATS(name, x, result) F32(name, x, result) F16(name, x, result) F64(name, x, result)
FLOATS(rcp, x, 1.0 / x)
FLOATS(rsq, x, 1.0 / __builtin_sqrt(x))
FLOATS(sqrt, x, __builtin_sqrt(x))
F32(exp2, x, exp2(x))
F32(log, x, log2(x))
F16(exp2, x, exp2(x))
F16(log, x, log2(x))
/* Of turns. */
F32(sin, x, sin(TURN * (x - __builtin_trunc(x))))
F32(cos, x, cos(TURN * (x - __builtin_trunc(x))))
F16(sin, x, sin(TURN * (x - __builtin_trunc(x))))
F16(cos, x, cos(TURN * (x - __builtin_trunc(x))))

/* Less than 1 even where x is a tiny negative number. */
static INLINE double below_one(double fraction, double limit) { return fraction >= 1 ? limit : fraction; }
F32(fract, x, below_one((float)(x - __builtin_floor(x)), 0x1.fffffep-1))
F64(fract, x, below_one(x - __builtin_floor(x), 0x1.fffffffffffffp-1))

/* Mantissas lie in [0.5, 1); the exponent of what is not finite is 0. */
static INLINE double mantissa(double x) {
  int e;
  return __builtin_isfinite(x) ? frexp(x, &e) : x;
}
static INLINE int32_t exponent(double x) {
  int e = 0;
  if (__builtin_isfinite(x) && x != 0) frexp(x, &e);
  return e;
}
FLOATS(frexp_mant, x, mantissa(x))
AMD(int32_t, frexp_exp_i32_f32)(float x) { return exponent(x); }
AMD(int32_t, frexp_exp_i32_f64)(double x) { return exponent(x); }
AMD(int16_t, frexp_exp_i16_f16)(_Float16 x) { return (int16_t)exponent((double)x); }
AMD(float, ldexp_f32)(float x, int32_t n) { return (float)ldexp(x, n); }
AMD(double, ldexp_f64)(double x, int32_t n) { return ldexp(x, n); }

/* Bits: signalling and quiet NaN, -infinity, -normal, -subnormal, -0, +0, +subnormal, +normal, +infinity. */
#define CLASS(suffix, type, bits_type, mantissa_bits, exponent_mask)                                    \
  AMD(bool, class_##suffix)(type value, uint32_t mask) {                                                \
    bits_type bits = __builtin_bit_cast(bits_type, value);                                              \
    bits_type fraction = bits & (((bits_type)1 << mantissa_bits) - 1);                                  \
    uint32_t exponent = (uint32_t)(bits >> mantissa_bits) & exponent_mask;                              \
    bool negative = bits >> (sizeof bits * 8 - 1);                                                      \
    uint32_t kind;                                                                                      \
    if (exponent == exponent_mask && fraction)                                                          \
      return mask >> (fraction >> (mantissa_bits - 1)) & 1;                                             \
    kind = exponent == exponent_mask ? 3 : exponent ? 2 : fraction ? 1 : 0;                             \
    return mask >> (negative ? 5 - kind : 6 + kind) & 1;                                                \
  }
CLASS(f16, _Float16, uint16_t, 10, 0x1f)
CLASS(f32, float, uint32_t, 23, 0xff)
CLASS(f64, double, uint64_t, 52, 0x7ff)

static INLINE double minimum(double a, double b) { return __builtin_fmin(a, b); }
static INLINE double maximum(double a, double b) { return __builtin_fmax(a, b); }
static INLINE double median(double a, double b, double c) {
  if (a != a || b != b || c != c) return minimum(minimum(a, b), c);
  return maximum(minimum(a, b), minimum(maximum(a, b), c));
}
AMD(float, fmed3_f32)(float a, float b, float c) { return (float)median(a, b, c); }
AMD(_Float16, fmed3_f16)(_Float16 a, _Float16 b, _Float16 c) { return (_Float16)median((double)a, (double)b, (double)c); }
AMD(float, fmul_legacy)(float a, float b) { return a == 0 || b == 0 ? 0 : a * b; }
AMD(float, fma_legacy)(float a, float b, float c) { return (a == 0 || b == 0 ? 0 : a * b) + c; }

/* Division in steps. An exact quotient needs no scaling, so the scale is 1, and the last step divides. */
struct scaled_f32 { float value; bool flag; };
struct scaled_f64 { double value; bool flag; };
#define DIVISION(suffix, type, fma)                                                                                   \
  INLINE void __regrain_llvm_amdgcn_div_scale_##suffix##_out(struct scaled_##suffix *out, type n, type d, bool num) { \
    *out = (struct scaled_##suffix){num ? n : d, false};                                                              \
  }                                                                                                                   \
  AMD(type, div_fmas_##suffix)(type a, type b, type c, bool scale) { (void)scale; return fma(a, b, c); }              \
  AMD(type, div_fixup_##suffix)(type quotient, type d, type n) { (void)quotient; return n / d; }
DIVISION(f32, float, __builtin_fmaf)
DIVISION(f64, double, __builtin_fma)
AMD(_Float16, div_fixup_f16)(_Float16 quotient, _Float16 d, _Float16 n) {
  (void)quotient;
  return (_Float16)((float)n / (float)d);
}

/* 1201 bits of 2/pi, most significant first. */
static const uint64_t TWO_OVER_PI[] = {
  0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
  0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
  0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
  0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};

/* 53 bits of 2/pi from where they matter for x, in the segment-th part. */
AMD(double, trig_preop_f64)(double x, uint32_t segment) {
  uint32_t exponent = (uint32_t)(__builtin_bit_cast(uint64_t, x) >> 52) & 0x7ff;
  uint32_t shift = (segment & 31) * 53 + (exponent > 1077 ? exponent - 1077 : 0);
  uint32_t word = shift / 64, bit = shift % 64;
  uint64_t high = word < 20 ? TWO_OVER_PI[word] : 0, low = word + 1 < 20 ? TWO_OVER_PI[word + 1] : 0;
  uint64_t bits = bit ? high << bit | low >> (64 - bit) : high;
  int scale = -53 - (int)shift + (exponent >= 1968 ? 128 : 0);
  return ldexp((double)(bits >> 11), scale);
}

/* Bit fields and bytes. */
#define BITS(w)                                                                                              \
  AMD(uint##w##_t, ubfe_i##w)(uint##w##_t value, uint32_t offset, uint32_t width) {                          \
    offset &= w - 1, width &= w - 1;                                                                         \
    return width ? value >> offset & (((uint##w##_t)1 << width) - 1) : 0;                                    \
  }                                                                                                          \
  AMD(uint##w##_t, sbfe_i##w)(uint##w##_t value, uint32_t offset, uint32_t width) {                          \
    offset &= w - 1, width &= w - 1;                                                                         \
    if (!width) return 0;                                                                                    \
    if (offset + width >= w) return (uint##w##_t)((int##w##_t)value >> offset);                              \
    return (uint##w##_t)((int##w##_t)(value << (w - offset - width)) >> (w - width));                        \
  }
BITS(32) BITS(64)
AMD(uint32_t, alignbyte)(uint32_t high, uint32_t low, uint32_t n) {
  return (uint32_t)(((uint64_t)high << 32 | low) >> 8 * (n & 3));
}
AMD(uint32_t, perm)(uint32_t high, uint32_t low, uint32_t choice) {
  uint64_t both = (uint64_t)high << 32 | low;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    uint32_t c = choice >> 8 * i & 0xff;
    uint32_t byte = c < 8 ? both >> 8 * c & 0xff : c < 12 ? (both >> (16 * (c - 8) + 15) & 1 ? 0xff : 0) : c == 12 ? 0 : 0xff;
    result |= byte << 8 * i;
  }
  return result;
}
static INLINE uint32_t distance(uint32_t a, uint32_t b) { return a > b ? a - b : b - a; }
static INLINE uint32_t sad(uint32_t a, uint32_t b, bool masked) {
  uint32_t sum = 0;
  for (int i = 0; i < 32; i += 8)
    if (!masked || (b >> i & 0xff)) sum += distance(a >> i & 0xff, b >> i & 0xff);
  return sum;
}
AMD(uint32_t, sad_u8)(uint32_t a, uint32_t b, uint32_t c) { return c + sad(a, b, false); }
AMD(uint32_t, msad_u8)(uint32_t a, uint32_t b, uint32_t c) { return c + sad(a, b, true); }
AMD(uint32_t, sad_hi_u8)(uint32_t a, uint32_t b, uint32_t c) { return c + (sad(a, b, false) << 16); }
AMD(uint32_t, sad_u16)(uint32_t a, uint32_t b, uint32_t c) {
  return c + distance(a & 0xffff, b & 0xffff) + distance(a >> 16, b >> 16);
}
AMD(uint32_t, lerp)(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t result = 0;
  for (int i = 0; i < 32; i += 8) result |= ((a >> i & 0xff) + (b >> i & 0xff) + (c >> i & 1)) / 2 << i;
  return result;
}
static INLINE int32_t signed24(int32_t x) { return (int32_t)((uint32_t)x << 8) >> 8; }
AMD(uint32_t, mul_u24_i32)(uint32_t a, uint32_t b) { return (a & 0xffffff) * (b & 0xffffff); }
AMD(int32_t, mul_i24_i32)(int32_t a, int32_t b) { return (int32_t)((int64_t)signed24(a) * signed24(b)); }
AMD(uint32_t, mulhi_u24)(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)(a & 0xffffff) * (b & 0xffffff) >> 32); }
AMD(int32_t, mulhi_i24)(int32_t a, int32_t b) { return (int32_t)((int64_t)signed24(a) * signed24(b) >> 32); }
AMD(uint32_t, cvt_pk_u8_f32)(float x, uint32_t byte, uint32_t old) {
  uint32_t shift = 8 * (byte & 3), number = x != x || x <= 0 ? 0 : x >= 255 ? 255 : (uint32_t)__builtin_rintf(x);
  return (old & ~(0xffu << shift)) | number << shift;
}
#define UBYTE(n) \
  AMD(float, cvt_f32_ubyte##n)(uint32_t x) { return (float)(x >> 8 * n & 0xff); }
UBYTE(0) UBYTE(1) UBYTE(2) UBYTE(3)
