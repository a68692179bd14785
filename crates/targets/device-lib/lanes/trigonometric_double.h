/* sin and cos of double: x - k pi/2 in steps of which all but the last are exact (W. J. Cody and W. Waite's reduction), summed with their
 * rounding errors, then minimax polynomials on [-pi/4, pi/4] with a correction for what is left over. */
#ifndef REGRAIN_TRIGONOMETRIC_DOUBLE_H
#define REGRAIN_TRIGONOMETRIC_DOUBLE_H

#include "lanes.h"

double sin(double), cos(double);

/* From here on (and of infinities and NaN) the C library's reduction by all digits of pi is right. */
LANE MASK64 is_huge_angle_d(D x) { return NOT(abs_d(x) < DOUBLES(0x1p19)); }

/* a - b and its rounding error, whichever is larger (D. E. Knuth). */
LANE D difference_d(D a, D b, D *error) {
  D difference = a - b, part = difference - a;
  *error = (a - (difference - part)) - (b + part);
  return difference;
}

/* x - k pi/2 as a sum of two numbers; the low bits of `*quadrant` are k. */
LANE D reduce_d(D x, L *quadrant, D *low) {
  D shifted, k = nearest_d(x * DOUBLES(0x1.45f306dc9c883p-1), &shifted), first, second;
  *quadrant = BITS(shifted, L);
  D r = x - k * DOUBLES(0x1.921fb54400000p+0);
  r = difference_d(r, k * DOUBLES(0x1.0b4611a600000p-34), &first);
  r = difference_d(r, k * DOUBLES(0x1.3198a2e000000p-69), &second);
  D rest = (first + second) - k * DOUBLES(0x1.b839a252049c1p-104), sum = r + rest;
  *low = rest - (sum - r);
  return sum;
}

LANE D sin_near_zero_d(D x, D low, D z) {
  D cube = z * x;
  D r = P5(DOUBLES, z, 0x1.111111110f7d7p-7, -0x1.a01a019bfee4dp-13, 0x1.71de3568c9895p-19, -0x1.ae5e5b66a2633p-26, 0x1.5d9013c9b405ap-33);
  return x - ((z * (DOUBLES(0.5) * low - cube * r) - low) - cube * DOUBLES(-0x1.5555555555548p-3));
}
LANE D cos_near_zero_d(D x, D low, D z) {
  D r = z * P6(DOUBLES, z, 0x1.555555555554bp-5, -0x1.6c16c16c14f90p-10, 0x1.a01a019c843bep-16, -0x1.27e4f7eab8bbfp-22, 0x1.1ee9d7ad95a52p-29,
               -0x1.8fa49684c8fdcp-37);
  D half = DOUBLES(0.5) * z, near = DOUBLES(1) - half;
  return near + (((DOUBLES(1) - near) - half) + (z * r - x * low));
}

/* sin(x + first pi/2). */
LANE D sin_from_d(D x, int64_t first) {
  L quadrant;
  D low, r = reduce_d(x, &quadrant, &low), z = r * r;
  quadrant += LONGS(first);
  D y = SELECT((quadrant & 1) != 0, cos_near_zero_d(r, low, z), sin_near_zero_d(r, low, z));
  return flip_d(y, (quadrant & 2) << 62);
}

LANE D lanes_sin(D x) {
  /* The smallest are their own sine: also -0. */
  D y = SELECT(abs_d(x) < DOUBLES(0x1p-27), x, sin_from_d(x, 0));
  return one_by_one_d(y, x, is_huge_angle_d(x), sin);
}
LANE D lanes_cos(D x) { return one_by_one_d(sin_from_d(x, 1), x, is_huge_angle_d(x), cos); }

#endif
