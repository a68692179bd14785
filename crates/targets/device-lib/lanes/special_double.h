/* atan, atan2, cbrt and erf of double. */
#ifndef REGRAIN_SPECIAL_DOUBLE_H
#define REGRAIN_SPECIAL_DOUBLE_H

#include "exponential_double.h"

/* atan(x) for x in [0, 1], as x + the result. */
LANE D atan_rest_d(D x) {
  D z = x * x, z4 = (z * z) * (z * z), z8 = z4 * z4;
  D low = P8(DOUBLES, z, -0x1.555555555554dp-2, 0x1.9999999998c2bp-3, -0x1.2492492456b6ap-3, 0x1.c71c71b62b745p-4, -0x1.745d15d058bfbp-4,
             0x1.3b139bd04c925p-4, -0x1.11103275b4d22p-4, 0x1.e1d487adb1823p-5);
  D high = P13(DOUBLES, z, -0x1.aeda5481437c0p-5, 0x1.84b45864dc987p-5, -0x1.5f2438d2cb6acp-5, 0x1.39048182cc61dp-5, -0x1.0c945c939450bp-5,
               0x1.ac78f45448508p-6, -0x1.30fa9888de84bp-6, 0x1.72dcfdfa0305dp-7, -0x1.6fd25a701c6e8p-8, 0x1.1a054c2621572p-9,
               -0x1.36db58a0856c4p-11, 0x1.b3afacc05f24cp-14, -0x1.226612ee924dbp-17);
  return x * z * (low + z8 * high);
}
/* atan(x), or pi/2 - atan(x) where `steep`. */
LANE D atan_of_slope_d(D x, MASK64 steep) {
  D rest = atan_rest_d(x);
  D sum = DOUBLES(0x1.921fb54442d18p+0) - x, error = (DOUBLES(0x1.921fb54442d18p+0) - sum) - x;
  return SELECT(steep, sum + ((error + DOUBLES(0x1.1a62633145c07p-54)) - rest), x + rest);
}

LANE D lanes_atan(D x) {
  D size = abs_d(x);
  MASK64 steep = size > DOUBLES(1);
  D y = atan_of_slope_d(SELECT(steep, DOUBLES(1), size) / SELECT(steep, size, DOUBLES(1)), steep);
  return RARE(x != x, NAN_D, with_sign_d(y, sign_d(x)));
}

LANE D lanes_atan2(D y, D x) {
  D across = abs_d(x), up = abs_d(y);
  MASK64 steep = up > across;
  D large = SELECT(steep, up, across), small = SELECT(steep, across, up), slope = small / large;
  /* 0/0 and inf/inf. */
  slope = RARE(up == across, SELECT(up == DOUBLES(0), up, DOUBLES(1)), slope);
  D angle = atan_of_slope_d(slope, steep);
  angle = SELECT(BITS(x, L) < 0, DOUBLES(0x1.921fb54442d18p+1) - (angle - DOUBLES(0x1.1a62633145c07p-53)), angle);
  return RARE((x != x) | (y != y), NAN_D, with_sign_d(angle, sign_d(y)));
}

/* As in `root_float.h`; then one of I. Newton's steps from a number so short that its square is exact. */
LANE D lanes_cbrt(D x) {
  D size = abs_d(x);
  MASK64 tiny = size < DOUBLES(0x1p-900), large = size > DOUBLES(0x1p900);
  D scale = SELECT(tiny, DOUBLES(0x1p360), SELECT(large, DOUBLES(0x1p-360), DOUBLES(1)));
  D unscale = SELECT(tiny, DOUBLES(0x1p-120), SELECT(large, DOUBLES(0x1p120), DOUBLES(1)));
  D a = size * scale;
  /* A third of the upper half's bits, as a number that is exact so far. */
  D third = (BITS((BITS(a, UL) >> 32) | (0x433ull << 52), D) - DOUBLES(0x1p52)) * DOUBLES(0x1.5555555555555p-2);
  UL upper = (uint64_t)0x553ef0ff - BITS(third + DOUBLES(0x1p52), UL);
  D t = BITS(upper << 32, D);
  for (int step = 0; step < 2; ++step) {
    D h = DOUBLES(1) - a * t * t * t;
    t = t + t * h * P3(DOUBLES, h, 0x1.5555555555555p-2, 0x1.c71c71c71c71cp-3, 0x1.61f9add3c0ca4p-3);
  }
  D y = BITS((BITS(a * t * t, UL) + 0x80000000ull) & 0xffffffffc0000000ull, D);
  D quotient = a / (y * y);
  y = y + y * ((quotient - y) / (y + y + quotient));
  y = SELECT((size == DOUBLES(0)) | (size == DOUBLES(INF_D)), size, y * unscale);
  return RARE(x != x, NAN_D, with_sign_d(y, sign_d(x)));
}

LANE D lanes_erf(D x) {
  D size = abs_d(x), z = x * x;
  D small = P12(DOUBLES, z, 0x1.06eba8214db68p-3, -0x1.812746b0379bdp-2, 0x1.ce2f21a040d43p-4, -0x1.b82ce311fb22dp-6, 0x1.565bccf93a9ecp-8,
                -0x1.c02db03fdcc89p-11, 0x1.f9a2bad4584f5p-14, -0x1.f4ca4fce29241p-17, 0x1.b97fe96ce6303p-20, -0x1.5c07a1e888b3cp-23,
                0x1.d71e2c4d7609dp-27, -0x1.abb70bb1eb387p-31);
  /* Beyond 5.95 the result is 1. */
  D t = SELECT(size > DOUBLES(5.95), DOUBLES(5.95), size), t2 = t * t, t4 = t2 * t2, t8 = t4 * t4;
  D low = P8(DOUBLES, t, -0x1.f873b1c39b845p-22, -0x1.20dd24fff3ab0p+0, -0x1.45f5fa8376201p-1, -0x1.a4b01a5a455b4p-4, 0x1.373e2fa3f5a33p-6,
             0x1.a53fd7be7cfb9p-12, -0x1.f3dd12171010cp-10, 0x1.903ea18c8fab8p-11);
  D high = P10(DOUBLES, t, -0x1.11c5aeb718c20p-13, -0x1.79209c59f4b21p-16, 0x1.8d431aaaf969dp-16, -0x1.2b8a0b7663cb3p-17,
               0x1.26d6c5602841ap-19, -0x1.9c8170c558bd4p-22, 0x1.9af2b1a0147edp-25, -0x1.171fc8fa63e0fp-28, 0x1.d13b2547bcf90p-33,
               -0x1.679996a45482bp-38);
  D k, y = exp_parts_d(low + t8 * high, &k);
  D large = DOUBLES(1) - y * power_of_two_d(k + DOUBLES(SHIFT_D));
  return RARE(x != x, NAN_D, with_sign_d(SELECT(size < DOUBLES(1), size + size * small, large), sign_d(x)));
}

#endif
