/* erf of float: x + x P(x^2) for small numbers, else 1 - e^P(x), as N. Juffa does for CUDA. */
#ifndef REGRAIN_ERROR_FLOAT_H
#define REGRAIN_ERROR_FLOAT_H

#include "exponential_float.h"

LANE F lanes_erff(F x) {
  F size = abs_f(x), square = x * x;
  F small = P6(FLOATS, square, 0x1.06eba6p-3f, -0x1.8126e2p-2f, 0x1.ce1986p-4f, -0x1.b67c06p-6f, 0x1.46d9fap-8f, -0x1.3874a6p-11f);
  /* Beyond 3.95 the result is 1. */
  F t = SELECT(size > FLOATS(3.95f), FLOATS(3.95f), size);
  F p = P8(FLOATS, t, 0x1.631d76p-13f, -0x1.212632p+0f, -0x1.444ceep-1f, -0x1.bb470cp-4f, 0x1.9af086p-6f, -0x1.106a12p-8f, 0x1.c4741p-12f,
           -0x1.5d9942p-16f);
  I n;
  F y = exp_parts_f(p, &n);
  F large = with_sign_f(FLOATS(1) - y * BITS((n + 127) << 23, F), sign_f(x));
  return SELECT(size < FLOATS(0.93f), x + x * small, SELECT(x == x, large, NAN_F));
}

#endif
