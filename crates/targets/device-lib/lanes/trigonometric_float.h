/* sin, cos and tan of float, computed in double: x - k pi/2 by W. J. Cody and W. Waite's reduction in two steps, exact in the first, then
 * minimax polynomials a little beyond [-pi/4, pi/4]. */
#ifndef REGRAIN_TRIGONOMETRIC_FLOAT_H
#define REGRAIN_TRIGONOMETRIC_FLOAT_H

#include "lanes.h"

float sinf(float), cosf(float), tanf(float);

/* From here on (and of infinities and NaN) the C library's reduction by all digits of pi is right. */
LANE MASK is_huge_angle_f(F x) { return NOT(abs_f(x) < FLOATS(0x1p17f)); }

/* x - k pi/2; the low bits of `*quadrant` are k, which is the nearest integer or the next. */
LANE D reduce_f(F x, I *quadrant) {
  F shifted, nearest = nearest_f(x * FLOATS(0x1.45f306p-1f), &shifted);
  D k = CONVERT(nearest, D);
  *quadrant = BITS(shifted, I);
  return (CONVERT(x, D) - k * DOUBLES(0x1.921fb544p0)) - k * DOUBLES(0x1.0b4611a626331p-34);
}
/* 1 + z P(z) with z = r^2 and the coefficients of cos, or of sin(r) / r. */
#define COEFFICIENTS_OF_COS -0x1.ffffffc2f8938p-2, 0x1.555539826eeeep-5, -0x1.6c06cb39f835cp-10, 0x1.98d29d794aacep-16
#define COEFFICIENTS_OF_SIN -0x1.55554343155ebp-3, 0x1.11067b089914ep-7, -0x1.9902972419322p-13, 0
#define EVEN_SERIES(square, ...) (DOUBLES(1) + square * P4(DOUBLES, square, __VA_ARGS__))

/* cos(r) where `odd`, else sin(r). */
LANE F sin_or_cos_f(D r, MASK odd) {
  D square = r * r;
#if LANES == 1
  static const double coefficients[2][4] = {{COEFFICIENTS_OF_SIN}, {COEFFICIENTS_OF_COS}};
  const double *c = coefficients[odd];
  return (F)((odd ? 1 : r) * EVEN_SERIES(square, c[0], c[1], c[2], c[3]));
#else
  /* The product keeps -0. */
  F s = CONVERT(r * EVEN_SERIES(square, COEFFICIENTS_OF_SIN), F), c = CONVERT(EVEN_SERIES(square, COEFFICIENTS_OF_COS), F);
  return SELECT(odd, c, s);
#endif
}
/* sin(x + first pi/2). */
LANE F sin_from_f(F x, int32_t first) {
  I quadrant;
  D r = reduce_f(x, &quadrant);
  quadrant += INTS(first);
  return flip_f(sin_or_cos_f(r, (quadrant & 1) != 0), (quadrant & 2) << 30);
}

LANE F lanes_sinf(F x) { return one_by_one_f(sin_from_f(x, 0), x, is_huge_angle_f(x), sinf); }
LANE F lanes_cosf(F x) { return one_by_one_f(sin_from_f(x, 1), x, is_huge_angle_f(x), cosf); }

LANE F lanes_tanf(F x) {
  I quadrant;
  D r = reduce_f(x, &quadrant), square = r * r;
  D y = r + r * square * P7(DOUBLES, square, 0x1.5555643ef025cp-2, 0x1.110c7b2750638p-3, 0x1.bb0d7b035eaebp-5, 0x1.5aa700ff9ebb2p-6,
                            0x1.6dc328412610bp-7, -0x1.58daa0716bdedp-12, 0x1.2c74c872ed146p-8);
  MASK odd = (quadrant & 1) != 0;
  F tangent = SELECT(odd, CONVERT(DOUBLES(-1) / y, F), CONVERT(y, F));
  return one_by_one_f(SELECT(x == FLOATS(0), x, tangent), x, is_huge_angle_f(x), tanf);
}

#endif
