/* expm1 and the hyperbolic functions of float, computed in double but for tanh: x + x^3 P(x^2) for small numbers (S. L. Moshier, Methods and Programs for Mathematical Functions, 1989), else
 * 1 - 2 / (e^(2x) + 1). */
#ifndef REGRAIN_HYPERBOLIC_FLOAT_H
#define REGRAIN_HYPERBOLIC_FLOAT_H

#include "exponential_float.h"
#include "wide_float.h"

LANE F lanes_tanhf(F x) {
  F size = abs_f(x), square = x * x;
  F p = P5(FLOATS, square, -0x1.555532p-2f, 0x1.1106fcp-3f, -0x1.b836e8p-5f, 0x1.52034ap-6f, -0x1.75436p-8f);
  I n;
  /* Beyond 10 the result is 1. */
  F y = exp_parts_f(SELECT(size > FLOATS(10), FLOATS(20), size + size), &n);
  y = y * BITS((n + 127) << 23, F);
  F small = size + size * square * p, large = FLOATS(1) - FLOATS(2) / (y + FLOATS(1));
  return RARE(x != x, NAN_F, with_sign_f(SELECT(size < FLOATS(0.625f), small, large), sign_f(x)));
}

LANE F lanes_expm1f(F x) {
  D scale, q = exp_minus_one_parts_d(CONVERT(clamp_f(x, -50, 90), D), &scale);
  F y = CONVERT(scale * q + (scale - DOUBLES(1)), F);
  y = SELECT(abs_f(x) < FLOATS(0x1p-25f), x, y);
  return RARE(x != x, NAN_F, y);
}

LANE F lanes_sinhf(F x) {
  D scale, q = exp_minus_one_parts_d(CONVERT(clamp_f(abs_f(x), 0, 100), D), &scale);
  D less = scale * q + (scale - DOUBLES(1));
  D y = DOUBLES(0.5) * (less + less / (less + DOUBLES(1)));
  return RARE(x != x, NAN_F, with_sign_f(CONVERT(y, F), sign_f(x)));
}

LANE F lanes_coshf(F x) {
  D scale, q = exp_minus_one_parts_d(CONVERT(clamp_f(abs_f(x), 0, 100), D), &scale), y = scale * q + scale;
  y = DOUBLES(0.5) * (y + DOUBLES(1) / y);
  return RARE(x != x, NAN_F, CONVERT(y, F));
}

LANE F lanes_log1pf(F x) {
  D wide = CONVERT(x, D), k, m = significand_d(wide + DOUBLES(1), &k);
  /* x itself has more bits than 1 + x. */
  F y = CONVERT(log_of_parts_d(k, SELECT(k == DOUBLES(0), wide, m - DOUBLES(1))), F);
  y = SELECT(abs_f(x) < FLOATS(0x1p-25f), x, y);
  y = RARE(x == FLOATS(INF_F), x, y);
  y = RARE(x == FLOATS(-1), FLOATS(-INF_F), y);
  return RARE(NOT(x >= FLOATS(-1)), NAN_F, y);
}

LANE F lanes_asinhf(F x) {
  F size = abs_f(x);
  D wide = CONVERT(size, D);
  F y = CONVERT(log_short_d(wide + ELEMENTWISE(sqrt, , wide * wide + DOUBLES(1))), F);
  y = SELECT((size < FLOATS(0x1p-13f)) | (size == FLOATS(INF_F)), size, y);
  return RARE(x != x, NAN_F, with_sign_f(y, sign_f(x)));
}

LANE F lanes_acoshf(F x) {
  D wide = CONVERT(x, D);
  F y = CONVERT(log_short_d(wide + ELEMENTWISE(sqrt, , wide * wide - DOUBLES(1))), F);
  y = RARE(x == FLOATS(INF_F), x, y);
  return RARE(NOT(x >= FLOATS(1)), NAN_F, y);
}

LANE F lanes_atanhf(F x) {
  F size = abs_f(x);
  D wide = CONVERT(size, D);
  F y = CONVERT(DOUBLES(0.5) * log_short_d((DOUBLES(1) + wide) / (DOUBLES(1) - wide)), F);
  y = SELECT(size < FLOATS(0x1p-13f), size, y);
  y = SELECT(size == FLOATS(1), FLOATS(INF_F), y);
  return SELECT(size <= FLOATS(1), with_sign_f(y, sign_f(x)), NAN_F);
}

#endif
