/* pow of double: 2^(y log2 |x|), where the logarithm is a sum of two numbers (K. C. Ng's way in fdlibm, 1993; less than 0.7 ulp). */
#ifndef REGRAIN_POWER_DOUBLE_H
#define REGRAIN_POWER_DOUBLE_H

#include "logarithm_double.h"

/* log2(x) of a positive number; the first part is a short one. */
LANE D log2_parts_d(D x, D *low) {
  MASK64 tiny = x < DOUBLES(0x1p-1022);
  D n, m = significand_d(RARE(tiny, x * DOUBLES(0x1p54), x), &n);
  n = n - RARE(tiny, DOUBLES(54), DOUBLES(0));
  /* m is within [sqrt(1/2), sqrt(2)); about the ends it is 3/4 or 3/2 of what is about 1. */
  MASK64 less = m < DOUBLES(0x1.bb67ae8584caap-1), more = m > DOUBLES(0x1.3988e1409212ep+0);
  n = SELECT(less, n - DOUBLES(1), n);
  m = SELECT(less, m + m, m);
  MASK64 other = less | more;
  D base = SELECT(other, DOUBLES(1.5), DOUBLES(1));
  D base_high = SELECT(other, DOUBLES(0x1.2b80300000000p-1), DOUBLES(0)), base_low = SELECT(other, DOUBLES(0x1.1cfdeb43cfd00p-23), DOUBLES(0));
  /* s = (m - base) / (m + base), in two parts. */
  D u = m - base, v = DOUBLES(1) / (m + base), s = u * v, s_high = short_d(s);
  D t_high = short_d(m + base), t_low = m - (t_high - base), s_low = v * ((u - s_high * t_high) - s_high * t_low);
  D z = s * s;
  D r = z * z * P6(DOUBLES, z, 0x1.3333333333303p-1, 0x1.b6db6db6fab8dp-2, 0x1.55555518fa85cp-2, 0x1.17460a8dceda7p-2, 0x1.d864aadbda416p-3,
                   0x1.a7e26f5e15ff9p-3);
  r = r + s_low * (s_high + s);
  D square = s_high * s_high;
  t_high = short_d(DOUBLES(3) + square + r);
  t_low = r - ((t_high - DOUBLES(3)) - square);
  u = s_high * t_high;
  v = s_low * t_high + t_low * s;
  /* Times 2 / (3 log(2)). */
  D p_high = short_d(u + v), p_low = v - (p_high - u);
  D z_high = DOUBLES(0x1.ec70900000000p-1) * p_high;
  D z_low = DOUBLES(0x1.b87407fae93f8p-22) * p_high + p_low * DOUBLES(0x1.ec709dc3a03fdp-1) + base_low;
  D high = short_d(((z_high + z_low) + base_high) + n);
  *low = z_low - (((high - n) - base_high) - z_high);
  return high;
}

LANE MASK64 is_integer_d(D size) {
  D shifted = size + DOUBLES(0x1p52);
  return (size >= DOUBLES(0x1p52)) | (shifted - DOUBLES(0x1p52) == size);
}

/* What C says of special arguments. */
static inline D special_power_d(D x, D y, D power) {
  D size = abs_d(x);
  MASK64 falls = y < DOUBLES(0), whole = is_integer_d(abs_d(y)), odd = whole & NOT(is_integer_d(DOUBLES(0.5) * abs_d(y)));
  power = SELECT(abs_d(y) == DOUBLES(INF_D), SELECT((size > DOUBLES(1)) == falls, DOUBLES(0), DOUBLES(INF_D)), power);
  power = SELECT(size == DOUBLES(0), SELECT(falls, DOUBLES(INF_D), DOUBLES(0)), power);
  power = SELECT(size == DOUBLES(INF_D), SELECT(falls, DOUBLES(0), DOUBLES(INF_D)), power);
  power = SELECT(odd, with_sign_d(power, sign_d(x)), power);
  power = SELECT((x < DOUBLES(0)) & (size < DOUBLES(INF_D)) & NOT(whole), NAN_D, power);
  power = SELECT((x == x) & (y == y), power, NAN_D);
  MASK64 one = (x == DOUBLES(1)) | (y == DOUBLES(0)) | ((size == DOUBLES(1)) & (abs_d(y) == DOUBLES(INF_D)));
  return SELECT(one, DOUBLES(1), power);
}

LANE D lanes_pow(D x, D y) {
  D low, high = log2_parts_d(abs_d(x), &low), head = short_d(y);
  low = (y - head) * high + y * low;
  high = head * high;
  D sum = high + low;
  /* What does not fit may as well be infinite or 0. */
  MASK64 beyond = NOT(abs_d(sum) < DOUBLES(1100));
  high = RARE(beyond, SELECT(sum < DOUBLES(0), DOUBLES(-1100), DOUBLES(1100)), high);
  low = RARE(beyond, DOUBLES(0), low);
  D shifted, k = nearest_d(high + low, &shifted);
  high = high - k;
  /* The sum may be far from a number of few bits, of which the first part is made. */
  D near = high + low;
  low = low - (near - high);
  D power = scale_d(exp2_near_zero_d(near, low), k);
  MASK64 special = NOT((x > DOUBLES(0)) & (x < DOUBLES(INF_D)) & (abs_d(y) < DOUBLES(INF_D)));
  if (__builtin_expect(ANY(special), 0)) power = special_power_d(x, y, power);
  return power;
}

#endif
