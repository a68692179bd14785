/* pow of float, computed in double: 2^(y log2 |x|). */
#ifndef REGRAIN_POWER_FLOAT_H
#define REGRAIN_POWER_FLOAT_H

#include "wide_float.h"

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
