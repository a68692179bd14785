/* Functions of float that are an operation or two, and those that flush denormal numbers (`.ftz`). */
#ifndef REGRAIN_SIMPLE_FLOAT_H
#define REGRAIN_SIMPLE_FLOAT_H

#include "exponential_float.h"
#include "logarithm_float.h"
#include "power_float.h"
#include "trigonometric_float.h"

float fmodf(float, float);

LANE F lanes_sqrtf(F x) { return ELEMENTWISE(sqrt, f, x); }
LANE F lanes_rsqrtf(F x) { return FLOATS(1) / lanes_sqrtf(x); }
LANE F lanes_dividef(F x, F y) { return x / y; }
LANE F lanes_fabsf(F x) { return abs_f(x); }
LANE F lanes_floorf(F x) { return ELEMENTWISE(floor, f, x); }
LANE F lanes_ceilf(F x) { return ELEMENTWISE(ceil, f, x); }
LANE F lanes_truncf(F x) { return ELEMENTWISE(trunc, f, x); }
LANE F lanes_rintf(F x) { return ELEMENTWISE(rint, f, x); }
LANE F lanes_nearbyintf(F x) { return ELEMENTWISE(nearbyint, f, x); }
LANE F lanes_roundf(F x) { return ELEMENTWISE(round, f, x); }
LANE F lanes_copysignf(F x, F y) { return with_sign_f(abs_f(x), sign_f(y)); }
LANE F lanes_fmaf(F x, F y, F z) { return ELEMENTWISE(fma, f, x, y, z); }
LANE F lanes_saturatef(F x) { return SELECT(x > FLOATS(0), SELECT(x < FLOATS(1), x, FLOATS(1)), FLOATS(0)); }
LANE F lanes_fdimf(F x, F y) { return SELECT(x <= y, FLOATS(0), x - y); }
LANE F lanes_powif(F x, I n) { return lanes_powf(x, CONVERT(n, F)); }
/* Of NaN and a number the number. */
LANE F lanes_fminf(F x, F y) { return SELECT(x != x, y, SELECT(y < x, y, x)); }
LANE F lanes_fmaxf(F x, F y) { return SELECT(x != x, y, SELECT(y > x, y, x)); }

LANE F lanes_rcpf(F x) { return FLOATS(1) / x; }

/* A mask as C's 0 or 1. */
LANE I truth(MASK mask) { return CONVERT(mask, I) & INTS(1); }
LANE I lanes_isnanf(F x) { return truth(x != x); }
LANE I lanes_isinff(F x) { return truth(abs_f(x) == FLOATS(INF_F)); }
LANE I lanes_finitef(F x) { return truth(abs_f(x) < FLOATS(INF_F)); }
LANE I lanes_signbitf(F x) { return truth(BITS(x, I) < 0); }

/* To an integer, the nearest where there is none; 0 of NaN. `x` is a whole number already. */
LANE I saturated_int(F x) {
  I y = CONVERT(SELECT((x >= FLOATS(-0x1p31f)) & (x < FLOATS(0x1p31f)), x, FLOATS(0)), I);
  y = SELECT(x >= FLOATS(0x1p31f), INTS(INT32_MAX), y);
  return SELECT(x < FLOATS(-0x1p31f), INTS(INT32_MIN), y);
}
LANE I lanes_float2int_rn(F x) { return saturated_int(lanes_rintf(x)); }
LANE I lanes_float2int_rz(F x) { return saturated_int(lanes_truncf(x)); }
LANE I lanes_float2int_ru(F x) { return saturated_int(lanes_ceilf(x)); }
LANE I lanes_float2int_rd(F x) { return saturated_int(lanes_floorf(x)); }
LANE F lanes_int2float_rn(I n) { return CONVERT(n, F); }

/* x - trunc(x/y) y, exact as long as the quotient has 29 bits at most. */
LANE F lanes_fmodf(F x, F y) {
  D a = CONVERT(abs_f(x), D), b = CONVERT(abs_f(y), D), shifted;
  D rest = a - nearest_d(a / b, &shifted) * b;
  rest = SELECT(rest < DOUBLES(0), rest + b, rest);
  F remainder = with_sign_f(CONVERT(rest, F), sign_f(x));
  remainder = SELECT(abs_f(y) == FLOATS(INF_F), x, remainder);
  return one_by_one_2_f(remainder, x, y, NOT((abs_f(x) < FLOATS(INF_F)) & (abs_f(x) < abs_f(y) * FLOATS(0x1p28f))), fmodf);
}

/* As the device does it. Which of two NaN a product is, is not said: the result is always the same one. */
LANE F lanes_fast_powf(F x, F y) {
  F power = lanes_exp2f(y * lanes_log2f(x));
  return SELECT(power == power, power, NAN_F);
}

#define FLUSHED(name)                                                        \
  LANE F lanes_flushed_##name(F x) { return flush_f(lanes_##name(flush_f(x))); }
FLUSHED(exp2f)
FLUSHED(log2f)
FLUSHED(sinf)
FLUSHED(cosf)
FLUSHED(sqrtf)
FLUSHED(rsqrtf)
LANE F lanes_flushed_dividef(F x, F y) { return flush_f(flush_f(x) / flush_f(y)); }
LANE F lanes_flushed_rcpf(F x) { return lanes_flushed_dividef(FLOATS(1), x); }

#endif
