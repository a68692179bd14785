/* log, log2 and log10 of double: x = 2^k (1 + f), and log(1 + f) = f - (f^2/2 - s (f^2/2 + R(s^2))) with s = f / (2 + f) and a minimax
 * polynomial R (K. C. Ng's way in fdlibm, 1993). */
#ifndef REGRAIN_LOGARITHM_DOUBLE_H
#define REGRAIN_LOGARITHM_DOUBLE_H

#include "exponential_double.h"
#include "wide_float.h"

/* k and f of a positive number, denormal ones too. */
LANE D log_parts_d(D x, D *k) {
  MASK64 tiny = x < DOUBLES(0x1p-1022);
  D m = significand_d(RARE(tiny, x * DOUBLES(0x1p54), x), k);
  *k = *k - RARE(tiny, DOUBLES(54), DOUBLES(0));
  return m - DOUBLES(1);
}

/* log(1 + f) - f + f^2/2. */
LANE D log_rest_d(D f, D half_square) {
  D s = f / (DOUBLES(2) + f), z = s * s;
  D r = z * P7(DOUBLES, z, 0x1.5555555555592p-1, 0x1.999999997fec0p-2, 0x1.24924941e7425p-2, 0x1.c71c520e684f9p-3, 0x1.74663e578cb23p-3,
               0x1.39a1c01575924p-3, 0x1.2f0574c8a9ffap-3);
  return s * (half_square + r);
}

LANE D log_special_d(D x, D y) {
  y = RARE(x == DOUBLES(INF_D), x, y);
  y = RARE(x == DOUBLES(0), DOUBLES(-INF_D), y);
  return RARE(NOT(x >= DOUBLES(0)), NAN_D, y);
}

LANE D lanes_log(D x) {
  D k, f = log_parts_d(x, &k), half_square = DOUBLES(0.5) * f * f;
  D high = k * DOUBLES(0x1.62e42fee00000p-1), sum = high + f, error = f - (sum - high);
  D rest = log_rest_d(f, half_square) + k * DOUBLES(0x1.a39ef35793c76p-33);
  return log_special_d(x, sum + (error - (half_square - rest)));
}

/* log(x) / log(b): `factor` and `factor_rest` are the parts of 1 / log(b), `step` and `step_rest` those of log(2) / log(b). */
LANE D log_of_base_d(D x, double factor, double factor_rest, double step, double step_rest) {
  D k, f = log_parts_d(x, &k), half_square = DOUBLES(0.5) * f * f;
  D high = short_d(f - half_square), low = ((f - high) - half_square) + log_rest_d(f, half_square);
  D first = k * DOUBLES(step), second = high * DOUBLES(factor), sum = first + second, error = second - (sum - first);
  D more = (low + high) * DOUBLES(factor_rest) + low * DOUBLES(factor) + k * DOUBLES(step_rest);
  return log_special_d(x, sum + (error + more));
}
LANE D lanes_log2(D x) { return log_of_base_d(x, 0x1.7154600000000p+0, 0x1.652b82fe1777dp-20, 1, 0); }
LANE D lanes_log10(D x) {
  return log_of_base_d(x, 0x1.bcb7a00000000p-2, 0x1.1526e50e32a6bp-22, 0x1.3441350800000p-2, 0x1.f79fef311f12bp-34);
}

#endif
