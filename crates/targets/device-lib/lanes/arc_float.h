/* The inverse trigonometric functions of float, computed in double by minimax polynomials: of the smaller quotient for atan2, and with
 * asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)) beyond 1/2. */
#ifndef REGRAIN_ARC_FLOAT_H
#define REGRAIN_ARC_FLOAT_H

#include "lanes.h"

#define PI_D 0x1.921fb54442d18p+1

/* atan(x) for x in [0, 1]. */
LANE D atan_near_zero_d(D x) {
  D z = x * x;
  return x + x * z * P10(DOUBLES, z, -0x1.55555103254f7p-2, 0x1.9997dfeea69aap-3, -0x1.24737064fe297p-3, 0x1.c4f1c47f934e0p-4,
                         -0x1.68e6cab8c245fp-4, 0x1.1422d4f5fd645p-4, -0x1.6e1b1c1081f23p-5, 0x1.714fa3b7d2b21p-6,
                         -0x1.dfa2e8abb7ed8p-8, 0x1.2405066f145b8p-10);
}

/* base + y, or base - y where `minus`. */
LANE D plus_or_minus_d(D base, D y, MASK64 minus) {
  return base + flip_d(y, CONVERT(minus, L) << 63);
}

LANE F lanes_atanf(F x) {
  F size = abs_f(x);
  MASK64 steep = CONVERT(size, D) > DOUBLES(1);
  F large = SELECT(size > FLOATS(1), size, FLOATS(1)), small = SELECT(size > FLOATS(1), FLOATS(1), size);
  D y = atan_near_zero_d(CONVERT(small, D) / CONVERT(large, D));
  y = plus_or_minus_d(CHOOSE(D, steep, 0.5 * PI_D, 0), y, steep);
  return RARE(x != x, NAN_F, with_sign_f(CONVERT(y, F), sign_f(x)));
}

LANE F lanes_atan2f(F y, F x) {
  F across = abs_f(x), up = abs_f(y);
  F large = SELECT(up > across, up, across), small = SELECT(up > across, across, up);
  /* 0/0 and inf/inf. */
  MASK same = up == across;
  small = RARE(same, SELECT(up == FLOATS(0), up, FLOATS(1)), small);
  D slope = CONVERT(small, D) / CONVERT(RARE(same, FLOATS(1), large), D);
  MASK64 steep = CONVERT(up, D) > CONVERT(across, D), back = BITS(CONVERT(x, D), L) < 0;
  D angle = plus_or_minus_d(CHOOSE(D, steep, 0.5 * PI_D, 0), atan_near_zero_d(slope), steep);
  angle = plus_or_minus_d(CHOOSE(D, back, PI_D, 0), angle, back);
  return RARE((x != x) | (y != y), NAN_F, with_sign_f(CONVERT(angle, F), sign_f(y)));
}

/* asin(|x|), or half of pi/2 - asin(|x|) where `*large`. */
LANE D asin_parts_f(F x, MASK64 *large) {
  D size = CONVERT(abs_f(x), D);
  *large = size > DOUBLES(0.5);
  D z = SELECT(*large, DOUBLES(0.5) - DOUBLES(0.5) * size, size * size);
  D s = SELECT(*large, ELEMENTWISE(sqrt, , z), size);
  return s + s * z * P6(DOUBLES, z, 0x1.55554c65200a2p-3, 0x1.333879f42fd45p-4, 0x1.6caf43ca87d16p-5, 0x1.048d8720e070cp-5,
                        0x1.d962bd938fadap-7, 0x1.333cd07a8c8f3p-5);
}

LANE F lanes_asinf(F x) {
  MASK64 large;
  D y = asin_parts_f(x, &large);
  y = SELECT(large, DOUBLES(0.5 * PI_D) - (y + y), y);
  return SELECT(abs_f(x) <= FLOATS(1), with_sign_f(CONVERT(y, F), sign_f(x)), NAN_F);
}

LANE F lanes_acosf(F x) {
  MASK64 large, negative = CONVERT(x, D) < DOUBLES(0);
  D y = asin_parts_f(x, &large), twice = y + y;
  D beyond = SELECT(negative, DOUBLES(PI_D) - twice, twice);
  D within = DOUBLES(0.5 * PI_D) - SELECT(negative, -y, y);
  return SELECT(abs_f(x) <= FLOATS(1), CONVERT(SELECT(large, beyond, within), F), NAN_F);
}

#endif
