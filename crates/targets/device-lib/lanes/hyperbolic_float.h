/* tanh of float: x + x^3 P(x^2) for small numbers (S. L. Moshier, Methods and Programs for Mathematical Functions, 1989), else
 * 1 - 2 / (e^(2x) + 1). */
#ifndef REGRAIN_HYPERBOLIC_FLOAT_H
#define REGRAIN_HYPERBOLIC_FLOAT_H

#include "exponential_float.h"

LANE F lanes_tanhf(F x) {
  F size = abs_f(x), square = x * x;
  F p = P5(FLOATS, square, -0x1.555532p-2f, 0x1.1106fcp-3f, -0x1.b836e8p-5f, 0x1.52034ap-6f, -0x1.75436p-8f);
  I n;
  /* Beyond 10 the result is 1. */
  F y = exp_parts_f(SELECT(size > FLOATS(10), FLOATS(20), size + size), &n);
  y = y * BITS((n + 127) << 23, F);
  F small = size + size * square * p, large = FLOATS(1) - FLOATS(2) / (y + FLOATS(1));
  return SELECT(x == x, with_sign_f(SELECT(size < FLOATS(0.625f), small, large), sign_f(x)), NAN_F);
}

#endif
