/* erf of float: x + x P(x^2) for small numbers, else 1 - e^P(x), as N. Juffa does for CUDA. erfc and normcdf: (1 + 2x) e^(x^2) erfc(x) as a
 * polynomial of (x - 4) / (x + 4) (M. M. Shepherd, J. G. Laframboise, Chebyshev Approximation of (1 + 2x) exp(x^2) erfc x, 1981), in double. */
#ifndef REGRAIN_ERROR_FLOAT_H
#define REGRAIN_ERROR_FLOAT_H

#include "exponential_float.h"
#include "wide_float.h"

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
  return SELECT(size < FLOATS(0.93f), x + x * small, RARE(x != x, NAN_F, large));
}

LANE D erfc_short_d(D x) {
  D size = abs_d(x);
  /* The result is 0 or 2 in float beyond. */
  size = SELECT(size > DOUBLES(10.5), DOUBLES(10.5), size);
  D more = size + DOUBLES(4), odd = size + size + DOUBLES(1), inverse = DOUBLES(1) / (more * odd);
  D p = P12(DOUBLES, (size - DOUBLES(4)) * odd * inverse, 0x1.3ba5916fa9d27p+0, -0x1.1df1af1e9e62ep-3, 0x1.f7f58137bb5fep-7,
            0x1.16edcb0177ac8p-4, -0x1.9dd93cd4bbb70p-4, 0x1.7fe2226474fc8p-4, -0x1.0fce9bcfcdb4cp-4, 0x1.30dd69666de10p-5,
            -0x1.066ba14b58ad4p-6, 0x1.4c418252d7612p-8, -0x1.23f0dbaf11758p-10, -0x1.4d0c89bbaad57p-11);
  D y = p * (more * inverse) * exp2_short_d(size * size * DOUBLES(-0x1.71547652b82fep+0));
  return SELECT(x < DOUBLES(0), DOUBLES(2) - y, y);
}

LANE F lanes_erfcf(F x) {
  return RARE(x != x, NAN_F, CONVERT(erfc_short_d(CONVERT(x, D)), F));
}
LANE F lanes_normcdff(F x) {
  F y = CONVERT(DOUBLES(0.5) * erfc_short_d(CONVERT(x, D) * DOUBLES(-0x1.6a09e667f3bcdp-1)), F);
  return RARE(x != x, NAN_F, y);
}

#endif
