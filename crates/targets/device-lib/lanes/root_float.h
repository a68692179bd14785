/* Cube roots and lengths of float. x^(-1/3) comes from a third of the exponent, by iterations of A. S. Householder's of the fourth order in
 * float and the third in double. */
#ifndef REGRAIN_ROOT_FLOAT_H
#define REGRAIN_ROOT_FLOAT_H

#include "lanes.h"

/* |x| times a power of 8, whose cube root is `*root`, and this to the power -1/3. */
LANE D cube_root_parts_f(F x, D *scaled, F *root) {
  F size = abs_f(x);
  MASK tiny = size < FLOATS(0x1p-100f);
  *root = RARE(tiny, FLOATS(0x1p8f), FLOATS(1));
  size = RARE(tiny, size * FLOATS(0x1p24f), size);
  I third = CONVERT(CONVERT(BITS(size, I), F) * FLOATS(0x1.555556p-2f), I);
  F t = BITS(INTS(0x54a21d2a) - third, F), h = FLOATS(1) - size * t * t * t;
  t = t + t * h * P3(FLOATS, h, 0x1.555556p-2f, 0x1.c71c72p-3f, 0x1.61f9aep-3f);
  D wide = CONVERT(t, D);
  *scaled = CONVERT(size, D);
  D g = DOUBLES(1) - *scaled * wide * wide * wide;
  return wide + wide * g * P2(DOUBLES, g, 0x1.5555555555555p-2, 0x1.c71c71c71c71cp-3);
}

LANE F lanes_cbrtf(F x) {
  D scaled;
  F root, size = abs_f(x);
  D t = cube_root_parts_f(x, &scaled, &root);
  F y = CONVERT(scaled * t * t, F) / root;
  y = RARE(size == FLOATS(INF_F), size, y);
  return RARE(x != x, NAN_F, with_sign_f(y, sign_f(x)));
}

LANE F lanes_rcbrtf(F x) {
  D scaled;
  F root, size = abs_f(x), y = CONVERT(cube_root_parts_f(x, &scaled, &root), F);
  y = RARE(size == FLOATS(INF_F), FLOATS(0), y * root);
  y = RARE(size == FLOATS(0), FLOATS(INF_F), y);
  return RARE(x != x, NAN_F, with_sign_f(y, sign_f(x)));
}

/* The sum of the squares, which fits into double. An infinite one prevails over NaN. */
LANE D squares_f(F x, F y, F z) {
  D a = CONVERT(x, D), b = CONVERT(y, D), c = CONVERT(z, D), sum = a * a + b * b + c * c;
  sum = RARE(sum != sum, NAN_D, sum);
  MASK64 infinite = (abs_d(a) == DOUBLES(INF_D)) | (abs_d(b) == DOUBLES(INF_D)) | (abs_d(c) == DOUBLES(INF_D));
  return RARE(infinite, DOUBLES(INF_D), sum);
}
LANE F lanes_norm3df(F x, F y, F z) { return CONVERT(ELEMENTWISE(sqrt, , squares_f(x, y, z)), F); }
LANE F lanes_rnorm3df(F x, F y, F z) { return CONVERT(DOUBLES(1) / ELEMENTWISE(sqrt, , squares_f(x, y, z)), F); }
LANE F lanes_hypotf(F x, F y) { return lanes_norm3df(x, y, FLOATS(0)); }
LANE F lanes_rhypotf(F x, F y) { return lanes_rnorm3df(x, y, FLOATS(0)); }

#endif
