/* half and bfloat16 as bit patterns, so that nothing depends on how a C compiler passes or rounds them. */
#ifndef REGRAIN_HALF_H
#define REGRAIN_HALF_H

#include "round.h"

/* x rounded to a format of `man` stored mantissa bits and the given exponent bias. */
static inline uint32_t narrow(double x, int man, int bias, int exponent_bits, enum rounding mode) {
  uint64_t b = f64_bits(x);
  uint32_t infinity = ((1u << exponent_bits) - 1) << man;
  uint32_t negative = (uint32_t)(b >> 63), sign = negative << (man + exponent_bits);
  int e = (int)(b >> 52 & 0x7ff);
  uint64_t m = b & 0xfffffffffffffull;
  if (e == 0x7ff) return m ? (1u << (man + exponent_bits)) - 1 : sign | infinity;
  if (e == 0 && m == 0) return sign;
  if (e != 0) m |= 1ull << 52;
  e = (e ? e : 1) - 1023;
  int quantum = (e > 1 - bias ? e : 1 - bias) - man, shift = quantum - (e - 52);
  uint64_t n = shift > 63 ? 0 : m >> shift;
  uint64_t rest = shift > 63 ? 1 : m & ((1ull << shift) - 1), half = shift > 63 ? 2 : 1ull << (shift - 1);
  bool up = mode == RN ? rest > half || (rest == half && (n & 1)) : mode == RP ? rest && !negative : mode == RM && rest && negative;
  n += up;
  uint64_t r = e >= 1 - bias ? ((uint64_t)(e + bias - 1) << man) + n : n;
  if (r >= infinity) {
    bool to_infinity = mode == RN || (mode == RP && !negative) || (mode == RM && negative);
    r = to_infinity ? infinity : infinity - 1;
  }
  return sign | (uint32_t)r;
}
static inline uint16_t f64_to_f16(double x, enum rounding mode) { return (uint16_t)narrow(x, 10, 15, 5, mode); }
static inline uint16_t f64_to_bf16(double x, enum rounding mode) { return (uint16_t)narrow(x, 7, 127, 8, mode); }

static INLINE float f16_to_f32(uint16_t h) { return (float)__builtin_bit_cast(_Float16, h); }
static INLINE float bf16_to_f32(uint16_t h) { return bits_f32((uint32_t)h << 16); }
static INLINE uint16_t f32_to_f16(float x) {
  uint16_t rounded = __builtin_bit_cast(uint16_t, (_Float16)x);
  return x != x ? 0x7fff : rounded;
}
static INLINE uint16_t f32_to_bf16(float x) {
  uint32_t b = f32_bits(x), rounded = (b + 0x7fff + (b >> 16 & 1)) >> 16;
  /* By masks: a selection of so much would be made a branch, which rows of threads do not take together. */
  uint32_t nan = -(uint32_t)(x != x);
  return (uint16_t)((rounded & ~nan) | (0x7fff & nan));
}
/* x in float with its last bit odd where inexact, as below; beyond the largest one that is it. */
static INLINE float f64_to_odd_f32(double x) {
  float f = (float)x;
  uint32_t bits = f32_bits(f), down = bits - (uint32_t)(__builtin_fabs((double)f) > __builtin_fabs(x));
  return bits_f32(((double)f == x) | (x != x) ? bits : down | 1);
}

/* A double next to a*b + c (products of halves are exact in double) with its last bit odd where inexact: rounding that
 * once more to a format with few bits gives what rounding the exact value would give. */
static INLINE double fma_to_odd(double a, double b, double c) {
  double p = a * b, s = p + c, e = two_sum_error(p, c, s);
  uint64_t bits = f64_bits(s), other = (e > 0) == (s > 0) ? bits + 1 : bits - 1;
  return bits_f64((e == 0) | (e != e) | (bits & 1) ? bits : other);
}
/* The same of halves in float: no product of halves comes near the limits of its exponent. */
static INLINE float fma_to_odd_f32(float a, float b, float c) {
  float p = a * b, s = p + c, v = s - p, e = (p - (s - v)) + (c - v);
  uint32_t bits = f32_bits(s), other = (e > 0) == (s > 0) ? bits + 1 : bits - 1;
  return bits_f32((e == 0) | (e != e) | (bits & 1) ? bits : other);
}
/* An integer as a double rounded to odd. */
static INLINE double u64_to_odd(uint64_t x) { return x >> 53 ? (double)((x >> 11 | ((x & 0x7ff) != 0)) ) * 0x1p11 : (double)x; }
static INLINE double s64_to_odd(int64_t x) { return x < 0 ? -u64_to_odd(0ull - (uint64_t)x) : u64_to_odd((uint64_t)x); }

#endif
