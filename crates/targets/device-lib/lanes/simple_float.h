/* Functions of float that are an operation or two, and those that flush denormal numbers (`.ftz`). */
#ifndef REGRAIN_SIMPLE_FLOAT_H
#define REGRAIN_SIMPLE_FLOAT_H

#include "exponential_float.h"
#include "logarithm_float.h"
#include "trigonometric_float.h"

LANE F lanes_sqrtf(F x) { return ELEMENTWISE(sqrt, f, x); }
LANE F lanes_rsqrtf(F x) { return FLOATS(1) / lanes_sqrtf(x); }
LANE F lanes_dividef(F x, F y) { return x / y; }
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
