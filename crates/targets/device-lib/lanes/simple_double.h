/* Functions of double that are an operation or two. */
#ifndef REGRAIN_SIMPLE_DOUBLE_H
#define REGRAIN_SIMPLE_DOUBLE_H

#include "lanes.h"

LANE D lanes_sqrt(D x) { return ELEMENTWISE(sqrt, , x); }
LANE D lanes_rsqrt(D x) { return DOUBLES(1) / lanes_sqrt(x); }
LANE D lanes_fabs(D x) { return abs_d(x); }
LANE D lanes_floor(D x) { return ELEMENTWISE(floor, , x); }
LANE D lanes_ceil(D x) { return ELEMENTWISE(ceil, , x); }
LANE D lanes_trunc(D x) { return ELEMENTWISE(trunc, , x); }
LANE D lanes_rint(D x) { return ELEMENTWISE(rint, , x); }
LANE D lanes_nearbyint(D x) { return ELEMENTWISE(nearbyint, , x); }
LANE D lanes_round(D x) { return ELEMENTWISE(round, , x); }
LANE D lanes_copysign(D x, D y) { return with_sign_d(abs_d(x), sign_d(y)); }
LANE D lanes_fma(D x, D y, D z) { return ELEMENTWISE(fma, , x, y, z); }
LANE D lanes_fdim(D x, D y) { return SELECT(x <= y, DOUBLES(0), x - y); }
/* Of NaN and a number the number. */
LANE D lanes_fmin(D x, D y) { return SELECT(x != x, y, SELECT(y < x, y, x)); }
LANE D lanes_fmax(D x, D y) { return SELECT(x != x, y, SELECT(y > x, y, x)); }

#endif
