/* exp, exp2 and tanh of double, as in `exponential_float.h`. */
#ifndef REGRAIN_EXPONENTIAL_DOUBLE_H
#define REGRAIN_EXPONENTIAL_DOUBLE_H

#include "lanes.h"

LANE D clamp_d(D x, double least, double most) {
  x = SELECT(x > DOUBLES(most), DOUBLES(most), x);
  return SELECT(x < DOUBLES(least), DOUBLES(least), x);
}

/* The number without the lower half of its bits, so that a product of two such is exact. */
LANE D short_d(D x) { return BITS(BITS(x, UL) & 0xffffffff00000000ull, D); }

/* 2^n of an integer between -1022 and 1023 that `nearest_d` shifted. */
LANE D power_of_two_d(D shifted) { return BITS((BITS(shifted, UL) << 52) + (1023ull << 52), D); }

/* x * 2^k, rounded once, for k (an integer) from -2044 to 2046 and x about 1. */
LANE D scale_d(D x, D k) {
  D shifted, half = nearest_d(DOUBLES(0.5) * k, &shifted);
  return x * power_of_two_d(shifted) * power_of_two_d((k - half) + DOUBLES(SHIFT_D));
}

/* 1 + a + b, where the error of 1 + a counts. */
LANE D one_plus_d(D a, D b) {
  D one = DOUBLES(1) + a;
  return one + ((a - (one - DOUBLES(1))) + b);
}

/* e^(high + low) for |high| up to log(2) / 2 and a small `low`. */
LANE D exp_near_zero_d(D high, D low) {
  D r = high + low;
  D q = P10(DOUBLES, r, 0x1.000000000000ap-1, 0x1.55555555554f9p-3, 0x1.55555555508a7p-5, 0x1.1111111127f1fp-7, 0x1.6c16c18421d37p-10,
            0x1.a01a0129366dfp-13, 0x1.a0199a203e07cp-16, 0x1.71df27f56af7fp-19, 0x1.28ad624155cc5p-22, 0x1.ad7b15fabb220p-26);
  return one_plus_d(high, r * r * q + low);
}

/* e^x without its factor 2^k. */
LANE D exp_parts_d(D x, D *k) {
  D shifted;
  *k = nearest_d(x * DOUBLES(0x1.71547652b82fep+0), &shifted);
  /* The first part of log(2) has 32 bits. */
  return exp_near_zero_d(x - *k * DOUBLES(0x1.62e42fee00000p-1), *k * DOUBLES(-0x1.a39ef35793c76p-33));
}

LANE D lanes_exp(D x) {
  D k, y = exp_parts_d(clamp_d(x, -746, 710), &k);
  return RARE(x != x, NAN_D, scale_d(y, k));
}

LANE D lanes_exp2(D x) {
  x = clamp_d(x, -1076, 1025);
  D shifted, k = nearest_d(x, &shifted), r = x - k;
  D q = P10(DOUBLES, r, 0x1.ebfbdff82c59cp-3, 0x1.c6b08d704a0d3p-5, 0x1.3b2ab6fba10f4p-7, 0x1.5d87fe78b3d0bp-10, 0x1.4309130c2f061p-13,
            0x1.ffcbfbf87ca0fp-17, 0x1.62bfcd7485df9p-20, 0x1.b5260df7d334ap-24, 0x1.e6124b4835adap-28, 0x1.e80ec2869e514p-32);
  return RARE(x != x, NAN_D, scale_d(one_plus_d(r * DOUBLES(0x1.62e42fefa39efp-1), r * r * q), k));
}

LANE D lanes_tanh(D x) {
  D size = abs_d(x), square = x * x;
  D p = P10(DOUBLES, square, -0x1.5555555555497p-2, 0x1.111111110226fp-3, -0x1.ba1ba1ad1a7a2p-5, 0x1.664f45b275e0ap-6,
            -0x1.226ddb8b6585fp-7, 0x1.d6c5e51b45a68p-9, -0x1.7cf1883fe753fp-10, 0x1.2f954c2a3f8aep-11, -0x1.b8b258cf94e87p-13,
            0x1.ab0cffd811c25p-15);
  D small = size + size * square * p;
  /* Beyond 20 the result is 1. */
  D k, y = exp_parts_d(SELECT(size > DOUBLES(20), DOUBLES(40), size + size), &k);
  D large = DOUBLES(1) - DOUBLES(2) / (y * power_of_two_d(k + DOUBLES(SHIFT_D)) + DOUBLES(1));
  return RARE(x != x, NAN_D, with_sign_d(SELECT(size < DOUBLES(0.55), small, large), sign_d(x)));
}

#endif
