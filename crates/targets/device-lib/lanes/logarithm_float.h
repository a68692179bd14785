/* log, log2 and log10 of float: x = 2^k m with m in [2/3, 4/3), then a minimax polynomial of f = m - 1 (S. L. Moshier, Methods
 * and Programs for Mathematical Functions, 1989). k log(2) + f is summed with its rounding error: less than 0.9 ulp. */
#ifndef REGRAIN_LOGARITHM_FLOAT_H
#define REGRAIN_LOGARITHM_FLOAT_H

#include "lanes.h"

/* x = 2^k (1 + f), for positive numbers. */
LANE F log_parts_f(F x, F *k) {
  MASK tiny = x < FLOATS(0x1p-126f);
  /* Unsigned: what is not positive may overflow. */
  U bits = BITS(RARE(tiny, x * FLOATS(0x1p23f), x), U);
  I n = BITS(bits - 0x3f2aaaabu, I) >> 23;
  *k = CONVERT(n, F) - RARE(tiny, FLOATS(23), FLOATS(0));
  return BITS(bits - (BITS(n, U) << 23), F) - FLOATS(1);
}

/* log(1 + f) - f. */
LANE F log_rest_f(F f) {
  F p = P9(FLOATS, f, 0x1.555556p-2f, -0x1.ffff16p-3f, 0x1.9997eep-3f, -0x1.5597ecp-3f, 0x1.24eb82p-3f, -0x1.f3a52ap-4f, 0x1.b91b66p-4f,
           -0x1.06dc0ap-3f, 0x1.e9e582p-4f);
  F square = f * f;
  return f * square * p - FLOATS(0.5f) * square;
}

LANE F log_special_f(F x, F y) {
  y = RARE(x == FLOATS(INF_F), x, y);
  y = RARE(x == FLOATS(0), FLOATS(-INF_F), y);
  return RARE(NOT(x >= FLOATS(0)), NAN_F, y);
}

/* a + b, where a is the larger one or 0. */
LANE F sum_f(F a, F b, F *error) {
  F sum = a + b;
  *error = b - (sum - a);
  return sum;
}

LANE F lanes_logf(F x) {
  F k, f = log_parts_f(x, &k), error, sum = sum_f(k * FLOATS(0x1.62e4p-1f), f, &error);
  return log_special_f(x, sum + (error + (log_rest_f(f) + k * FLOATS(0x1.7f7d1cp-20f))));
}

/* Summed in double. */
LANE F log_of_base_f(F x, double step, double factor) {
  F k, f = log_parts_f(x, &k);
  D sum = CONVERT(k, D) * DOUBLES(step) + (CONVERT(f, D) + CONVERT(log_rest_f(f), D)) * DOUBLES(factor);
  return log_special_f(x, CONVERT(sum, F));
}
LANE F lanes_log2f(F x) { return log_of_base_f(x, 1, 0x1.71547652b82fep+0); }
LANE F lanes_log10f(F x) { return log_of_base_f(x, 0x1.34413509f79ffp-2, 0x1.bcb7b1526e50ep-2); }

#endif
