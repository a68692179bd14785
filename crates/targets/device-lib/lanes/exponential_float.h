/* exp, exp2 and exp10 of float: 2^n e^r with r in [-ln2/2, ln2/2] by a minimax polynomial (W. J. Cody, W. Waite, Software Manual for the
 * Elementary Functions, 1980). */
#ifndef REGRAIN_EXPONENTIAL_FLOAT_H
#define REGRAIN_EXPONENTIAL_FLOAT_H

#include "lanes.h"

/* 1 + a + b, where the error of 1 + a counts. */
LANE F one_plus_f(F a, F b) {
  F one = FLOATS(1) + a;
  return one + ((a - (one - FLOATS(1))) + b);
}

/* The parts of e^x = y 2^n, for |x| below 2^15: less than 0.8 ulp. */
LANE F exp_parts_f(F x, I *n) {
  F shifted, k = nearest_f(x * FLOATS(0x1.715476p+0f), &shifted);
  /* k times the first part of ln2 is exact. */
  F high = x - k * FLOATS(0x1.62e4p-1f), low = k * FLOATS(0x1.7f7d1cp-20f), r = high - low;
  F q = P5(FLOATS, r, 0x1.fffffcp-2f, 0x1.555492p-3f, 0x1.5558bp-5f, 0x1.12398cp-7f, 0x1.6a4d18p-10f);
  *n = shifted_int(shifted);
  return one_plus_f(high, r * r * q - low);
}

LANE F clamp_f(F x, float least, float most) {
  x = SELECT(x > FLOATS(most), FLOATS(most), x);
  return SELECT(x < FLOATS(least), FLOATS(least), x);
}

LANE F lanes_expf(F x) {
  I n;
  F y = exp_parts_f(clamp_f(x, -104, 89), &n);
  return scale_f(y, n);
}

LANE F lanes_exp2f(F x) {
  x = clamp_f(x, -151, 129);
  F shifted, r = x - nearest_f(x, &shifted);
  F q = P5(FLOATS, r, 0x1.ebfbdcp-3f, 0x1.c6af7ap-5f, 0x1.3b2dd8p-7f, 0x1.5f0974p-10f, 0x1.41749cp-13f);
  return scale_f(one_plus_f(r * FLOATS(0x1.62e43p-1f), r * r * q), shifted_int(shifted));
}

LANE F lanes_exp10f(F x) {
  x = clamp_f(x, -46, 39);
  F shifted, k = nearest_f(x * FLOATS(0x1.a934fp+1f), &shifted);
  F r = (x - k * FLOATS(0x1.344p-2f)) - k * FLOATS(0x1.3509f8p-18f);
  F q = P5(FLOATS, r, 0x1.53524ap+1f, 0x1.046f9cp+1f, 0x1.2bd9fcp+0f, 0x1.156a34p-1f, 0x1.a64016p-3f);
  return scale_f(one_plus_f(r * FLOATS(0x1.26bb1cp+1f), r * r * q), shifted_int(shifted));
}

#endif
