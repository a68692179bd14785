/* pow of float, computed in double: 2^(y log2 |x|), where the logarithm is a series in f / (2 + f) (J. F. Hart and others, Computer
 * Approximations, 1968). */
#ifndef REGRAIN_POWER_FLOAT_H
#define REGRAIN_POWER_FLOAT_H

#include "lanes.h"

/* 2^k m = x with m in [sqrt(1/2), sqrt(2)), for a positive number that is not denormal. */
LANE D significand_d(D x, D *k) {
  const uint64_t least = 0x3fe6a09e667f3bcdull;
  UL bits = BITS(x, UL), n = (bits - least + (1023ull << 52)) >> 52;
  /* The bits of 2^52 + n. */
  *k = BITS(n | (0x433ull << 52), D) - DOUBLES(0x1p52 + 1023);
  return BITS(bits - ((n - 1023) << 52), D);
}

/* log2(x) to 37 bits. */
LANE D log2_short_d(D x) {
  D k, f = significand_d(x, &k) - DOUBLES(1), s = f / (f + DOUBLES(2));
  return k + s * P5(DOUBLES, s * s, 0x1.71547652bed59p+1, 0x1.ec709d12a48bcp-1, 0x1.2777803263cf0p-1, 0x1.a58d5bd5f3320p-2, 0x1.5cec14ac63ebfp-2);
}

/* 2^x to 29 bits, for |x| below 1000. */
LANE D exp2_short_d(D x) {
  D shifted, r = x - nearest_d(x, &shifted);
  D y = P7(DOUBLES, r, 0x1.000000026045ap+0, 0x1.62e430c81586bp-1, 0x1.ebfbdada27e0fp-3, 0x1.c6aed47c0e88fp-5, 0x1.3b2dbd7e0e5e5p-7, 0x1.5f458b7315a80p-10, 0x1.41d23e2f478e8p-13);
  return BITS(BITS(y, L) + (BITS(shifted, L) << 52), D);
}

LANE MASK is_integer_f(F size) {
  F shifted = size + FLOATS(0x1p23f);
  return (size >= FLOATS(0x1p23f)) | (shifted - FLOATS(0x1p23f) == size);
}

/* What C says of special arguments. */
static inline F special_power_f(F x, F y, F power) {
  F size = abs_f(x);
  MASK falls = y < FLOATS(0), whole = is_integer_f(abs_f(y)), odd = whole & NOT(is_integer_f(FLOATS(0.5f) * abs_f(y)));
  power = SELECT(size == FLOATS(0), SELECT(falls, FLOATS(INF_F), FLOATS(0)), power);
  power = SELECT(size == FLOATS(INF_F), SELECT(falls, FLOATS(0), FLOATS(INF_F)), power);
  power = SELECT(odd, with_sign_f(power, sign_f(x)), power);
  power = SELECT((x < FLOATS(0)) & (size < FLOATS(INF_F)) & NOT(whole), NAN_F, power);
  power = SELECT((x == x) & (y == y), power, NAN_F);
  MASK one = (x == FLOATS(1)) | (y == FLOATS(0)) | ((size == FLOATS(1)) & (abs_f(y) == FLOATS(INF_F)));
  return SELECT(one, FLOATS(1), power);
}

LANE F lanes_powf(F x, F y) {
  D exponent = CONVERT(y, D) * log2_short_d(CONVERT(abs_f(x), D));
  /* What does not fit into float may as well be infinite or 0. */
  exponent = SELECT(exponent > DOUBLES(200), DOUBLES(200), exponent);
  exponent = SELECT(exponent < DOUBLES(-200), DOUBLES(-200), exponent);
  F power = CONVERT(exp2_short_d(exponent), F);
  MASK special = NOT((x > FLOATS(0)) & (x < FLOATS(INF_F)) & (abs_f(y) < FLOATS(INF_F)));
  if (__builtin_expect(ANY(special), 0)) power = special_power_f(x, y, power);
  return power;
}

#endif
