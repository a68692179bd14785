/* Functions of double that are as exact as those of float need them. Logarithms are series in f / (2 + f) (J. F. Hart and others, Computer
 * Approximations, 1968), all others minimax polynomials. */
#ifndef REGRAIN_WIDE_FLOAT_H
#define REGRAIN_WIDE_FLOAT_H

#include "lanes.h"

/* 2^k m = x with m in [sqrt(1/2), sqrt(2)), for a positive number that is not denormal. */
LANE D significand_d(D x, D *k) {
  const uint64_t least = 0x3fe6a09e667f3bcdull;
  UL bits = BITS(x, UL), n = (bits - least + (1023ull << 52)) >> 52;
  /* The bits of 2^52 + n. */
  *k = BITS(n | (0x433ull << 52), D) - DOUBLES(0x1p52 + 1023);
  return BITS(bits - ((n - 1023) << 52), D);
}

/* log2(x) to 37 bits. */
LANE D log2_short_d(D x) {
  D k, f = significand_d(x, &k) - DOUBLES(1), s = f / (f + DOUBLES(2));
  return k + s * P5(DOUBLES, s * s, 0x1.71547652bed59p+1, 0x1.ec709d12a48bcp-1, 0x1.2777803263cf0p-1, 0x1.a58d5bd5f3320p-2,
                    0x1.5cec14ac63ebfp-2);
}

/* 2^x to 29 bits, for |x| below 1000. */
LANE D exp2_short_d(D x) {
  D shifted, r = x - nearest_d(x, &shifted);
  D y = P7(DOUBLES, r, 0x1.000000026045ap+0, 0x1.62e430c81586bp-1, 0x1.ebfbdada27e0fp-3, 0x1.c6aed47c0e88fp-5, 0x1.3b2dbd7e0e5e5p-7,
           0x1.5f458b7315a80p-10, 0x1.41d23e2f478e8p-13);
  return BITS(BITS(y, L) + (BITS(shifted, L) << 52), D);
}

/* k log(2) + log(1 + f) to 37 bits. */
LANE D log_of_parts_d(D k, D f) {
  D s = f / (f + DOUBLES(2));
  D p = P5(DOUBLES, s * s, 0x1.00000000049b8p+1, 0x1.555554daa86d3p-1, 0x1.999a9d0760d7ap-2, 0x1.24329ce99a8dcp-2, 0x1.e3b5782ec2eb2p-3);
  return k * DOUBLES(0x1.62e42fefa39efp-1) + s * p;
}
LANE D log_short_d(D x) {
  D k, f = significand_d(x, &k) - DOUBLES(1);
  return log_of_parts_d(k, f);
}

/* e^x = scale (1 + q) to 32 bits of q, for |x| below 700. */
LANE D exp_minus_one_parts_d(D x, D *scale) {
  D shifted, r = x - nearest_d(x * DOUBLES(0x1.71547652b82fep+0), &shifted) * DOUBLES(0x1.62e42fefa39efp-1);
  *scale = BITS((BITS(shifted, UL) << 52) + (1023ull << 52), D);
  return r * P7(DOUBLES, r, 0x1.0000000022ad8p+0, 0x1.0000002832d45p-1, 0x1.555554c595f94p-3, 0x1.5554ad60a8e46p-5,
                0x1.1111a6d1b5f6dp-7, 0x1.6d74d825f3119p-10, 0x1.a019b65a378ccp-13);
}

#endif
