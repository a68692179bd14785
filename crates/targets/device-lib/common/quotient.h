/* What remquo says of the quotient: as in libdevice its three lowest bits and the sign, where other libraries give more. */
#ifndef REGRAIN_QUOTIENT_H
#define REGRAIN_QUOTIENT_H

#include "abi.h"

static INLINE int32_t three_bits(int32_t quotient) { return quotient < 0 ? -(-quotient & 7) : quotient & 7; }

#endif
