/* Directed rounding without touching the floating-point environment.
 *
 * Of float, each operation is computed in double as h + e, where h + e is exact (or e has the sign of what is left over).
 * d is the operation rounded to nearest. The sign of (h + e) - d says which neighbour of d is asked for. Of double, that
 * sign is found by error-free transformations on scaled numbers (`rest_sign`).
 */
#ifndef REGRAIN_ROUND_H
#define REGRAIN_ROUND_H

#include "abi.h"

enum rounding { RN, RZ, RP, RM };

#define SIGN(x) (((x) > 0) - ((x) < 0))

static INLINE float bits_f32(uint32_t x) { return __builtin_bit_cast(float, x); }
static INLINE uint32_t f32_bits(float x) { return __builtin_bit_cast(uint32_t, x); }
static INLINE double bits_f64(uint64_t x) { return __builtin_bit_cast(double, x); }
static INLINE uint64_t f64_bits(double x) { return __builtin_bit_cast(uint64_t, x); }

/* Which way to go from d, given the sign of (exact - d): -1 down, 1 up, 0 stay. */
static INLINE int direction(int sign, bool negative, enum rounding mode) {
  switch (mode) {
  case RP: return sign > 0;
  case RM: return -(sign < 0);
  case RZ: return negative ? sign > 0 : -(sign < 0);
  default: return 0;
  }
}

static INLINE float step_f32(float d, int sign, enum rounding mode) {
  uint32_t b = f32_bits(d);
  bool negative = b >> 31, zero = (b << 1) == 0;
  if (zero && sign != 0) negative = sign < 0;
  int go = direction(sign, negative, mode);
  if (go == 0) return d;
  if (zero) return bits_f32(go > 0 ? 1u : 0x80000001u);
  return bits_f32((b >> 31) ? b - (uint32_t)go : b + (uint32_t)go);
}

static INLINE double step_f64(double d, int sign, enum rounding mode) {
  uint64_t b = f64_bits(d);
  bool negative = b >> 63, zero = (b << 1) == 0;
  if (zero && sign != 0) negative = sign < 0;
  int go = direction(sign, negative, mode);
  if (go == 0) return d;
  if (zero) return bits_f64(go > 0 ? 1ull : 0x8000000000000001ull);
  return bits_f64((b >> 63) ? b - (uint64_t)(int64_t)go : b + (uint64_t)(int64_t)go);
}

static INLINE double two_sum_error(double a, double b, double s) {
  double t = s - a;
  return (a - (s - t)) + (b - t);
}
static INLINE int sign_of(double h, double e, double d) { return SIGN(h - d) != 0 ? SIGN(h - d) : h == d ? SIGN(e) : 0; }

static INLINE float fma_f32(float a, float b, float c, enum rounding mode) {
  if (mode == RN) return __builtin_fmaf(a, b, c);
  double p = (double)a * b, h = p + c, e = two_sum_error(p, c, h);
  float d = (float)h;
  if (h == 0 && e == 0) {
    bool both_positive = !__builtin_signbit(p) && !__builtin_signbit((double)c);
    bool both_negative = __builtin_signbit(p) && __builtin_signbit((double)c);
    return both_negative || (mode == RM && !both_positive) ? -0.0f : 0.0f;
  }
  return step_f32(d, sign_of(h, e, d), mode);
}
static INLINE float add_f32(float a, float b, enum rounding mode) {
  return mode == RN ? a + b : fma_f32(a, 1.0f, b, mode);
}
static INLINE float mul_f32(float a, float b, enum rounding mode) {
  if (mode == RN) return a * b;
  double h = (double)a * b;
  float d = (float)h;
  return step_f32(d, sign_of(h, 0, d), mode);
}
static INLINE float div_f32(float a, float b, enum rounding mode) {
  if (mode == RN) return a / b;
  double h = (double)a / b, e = __builtin_fma(-h, (double)b, (double)a);
  float d = (float)h;
  return step_f32(d, sign_of(h, b < 0 ? -e : e, d), mode);
}
static INLINE float sqrt_f32(float a, enum rounding mode) {
  if (mode == RN) return __builtin_sqrtf(a);
  double h = __builtin_sqrt((double)a), e = __builtin_fma(-h, h, (double)a);
  float d = (float)h;
  return step_f32(d, sign_of(h, e, d), mode);
}
static INLINE float f64_to_f32(double h, enum rounding mode) {
  float d = (float)h;
  return mode == RN ? d : step_f32(d, sign_of(h, 0, d), mode);
}

/* The sign of a sum, exactly: an expansion that grows by one term after the other (J. R. Shewchuk, Adaptive Precision
 * Floating-Point Arithmetic and Fast Robust Geometric Predicates, 1997); its last part that is not zero decides. */
static INLINE int sum_sign(double a, double b, double c, double d) {
  double terms[4] = {a, b, c, d}, parts[4];
  for (int n = 0; n < 4; ++n) {
    double q = terms[n];
    for (int i = 0; i < n; ++i) {
      double s = q + parts[i];
      parts[i] = two_sum_error(q, parts[i], s);
      q = s;
    }
    parts[n] = q;
  }
  for (int n = 3; n >= 0; --n)
    if (parts[n] != 0) return SIGN(parts[n]);
  return 0;
}

static INLINE bool is_finite_f64(double x) { return __builtin_fabs(x) < __builtin_inf(); }

/* The sign of a*b + c - d, where d is 0 or about a*b + c. All are scaled to the larger of the product and c, so that nothing
 * that matters underflows; what is far below the rest counts by its sign alone, wherever it stands. */
static INLINE int rest_sign(double a, double b, double c, double d) {
  if (!is_finite_f64(a) || !is_finite_f64(b) || !is_finite_f64(c) || d != d) return 0;
  if (!is_finite_f64(d)) return -SIGN(d);
  if (a == 0 || b == 0) return (c > d) - (c < d);
  int ea, eb, ec = -4000;
  double ma = __builtin_frexp(a, &ea), mb = __builtin_frexp(b, &eb), mc = 0;
  if (c != 0) mc = __builtin_frexp(c, &ec);
  double p = ma * mb, e = __builtin_fma(ma, mb, -p);
  int ep = ea + eb, top = ep > ec ? ep : ec;
  int sp = ep - top > -400 ? ep - top : -400, sc = ec - top > -400 ? ec - top : -400;
  double x = __builtin_ldexp(p, sp), y = __builtin_ldexp(e, sp), z = __builtin_ldexp(mc, sc);
  /* In two steps: the exponent may be beyond what one can do. */
  double w = __builtin_ldexp(__builtin_ldexp(d, -top / 2), -top - -top / 2);
  return sum_sign(x, y, z, -w);
}

/* Whether x is far from where products and their errors overflow or underflow: there one operation gives the error of a
 * rounded result exactly, and nothing need be scaled. */
static INLINE bool is_moderate(double x) { return __builtin_fabs(x) > 0x1p-500 && __builtin_fabs(x) < 0x1p500; }

static INLINE double fma_f64(double a, double b, double c, enum rounding mode) {
  double d = __builtin_fma(a, b, c);
  if (mode == RN) return d;
  int sign = rest_sign(a, b, c, d);
  if (d == 0 && sign == 0) {
    bool negative_p = __builtin_signbit(a) != __builtin_signbit(b), negative_c = __builtin_signbit(c);
    return (negative_p && negative_c) || (mode == RM && (negative_p || negative_c)) ? -0.0 : 0.0;
  }
  return step_f64(d, sign, mode);
}
static INLINE double add_f64(double a, double b, enum rounding mode) {
  double d = a + b;
  if (mode == RN) return d;
  if (is_moderate(a) && is_moderate(b) && d != 0) return step_f64(d, SIGN(two_sum_error(a, b, d)), mode);
  return fma_f64(a, 1.0, b, mode);
}
static INLINE double mul_f64(double a, double b, enum rounding mode) {
  double d = a * b;
  if (mode != RN && is_moderate(d)) return step_f64(d, SIGN(__builtin_fma(a, b, -d)), mode);
  return mode == RN ? d : step_f64(d, rest_sign(a, b, 0, d), mode);
}
static INLINE double div_f64(double a, double b, enum rounding mode) {
  double d = a / b;
  if (mode == RN) return d;
  if (is_moderate(a) && is_moderate(b) && is_moderate(d))
    return step_f64(d, (b < 0 ? -1 : 1) * SIGN(__builtin_fma(-d, b, a)), mode);
  if (!is_finite_f64(d)) return is_finite_f64(a) && b != 0 ? step_f64(d, -SIGN(d), mode) : d;
  return step_f64(d, (b < 0 ? -1 : 1) * rest_sign(-d, b, a, 0), mode);
}
static INLINE double sqrt_f64(double a, enum rounding mode) {
  double d = __builtin_sqrt(a);
  if (mode != RN && is_moderate(a)) return step_f64(d, SIGN(__builtin_fma(-d, d, a)), mode);
  return mode == RN ? d : step_f64(d, rest_sign(-d, d, a, 0), mode);
}

/* Integers, of which a float or double d is the nearest. */
static INLINE int u64_rest_sign(uint64_t x, double d) {
  return d >= 0x1p64 ? -1 : (x > (uint64_t)d) - (x < (uint64_t)d);
}
static INLINE int s64_rest_sign(int64_t x, double d) {
  return d >= 0x1p63 ? -1 : (x > (int64_t)d) - (x < (int64_t)d);
}

static INLINE float flush_f32(float x) { return __builtin_fabsf(x) < 0x1p-126f ? __builtin_copysignf(0.0f, x) : x; }
static INLINE float saturate_f32(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
static INLINE double saturate_f64(double x) { return x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0; }

static INLINE float integral_f32(float x, enum rounding mode) {
  switch (mode) {
  case RZ: return __builtin_truncf(x);
  case RP: return __builtin_ceilf(x);
  case RM: return __builtin_floorf(x);
  default: return __builtin_rintf(x);
  }
}
static INLINE double integral_f64(double x, enum rounding mode) {
  switch (mode) {
  case RZ: return __builtin_trunc(x);
  case RP: return __builtin_ceil(x);
  case RM: return __builtin_floor(x);
  default: return __builtin_rint(x);
  }
}

/* Conversions to integers saturate. NaN is 0 from float to 32 bits, otherwise only the top bit set. */
static INLINE int32_t to_s32(double r, int32_t nan) {
  return r != r ? nan : r >= 0x1p31 ? INT32_MAX : r <= -0x1p31 ? INT32_MIN : (int32_t)r;
}
static INLINE uint32_t to_u32(double r, uint32_t nan) {
  return r != r ? nan : r >= 0x1p32 ? UINT32_MAX : r <= 0 ? 0 : (uint32_t)(int64_t)r;
}
static INLINE int64_t to_s64(double r) {
  return r != r ? INT64_MIN : r >= 0x1p63 ? INT64_MAX : r <= -0x1p63 ? INT64_MIN : (int64_t)r;
}
static INLINE uint64_t to_u64(double r) {
  return r != r ? 1ull << 63 : r >= 0x1p64 ? UINT64_MAX : r <= 0 ? 0 : (uint64_t)r;
}

/* Rounding modes by the names of libdevice, of NVVM and of PTX. */
#define FOR_MODES(X) X(rn, RN) X(rz, RZ) X(rp, RP) X(rm, RM)

#endif
