/* What shuffles and reductions mean, for all targets. */
#ifndef REGRAIN_WARP_TYPES_H
#define REGRAIN_WARP_TYPES_H

#include "abi.h"

struct i32_pred { uint32_t value; bool pred; };

enum shuffle { IDX, UP, DOWN, BFLY };

/* The PTX manual's definition of shfl: which lane to read, and whether it lies in the segment. */
static INLINE uint32_t shuffle_source(enum shuffle mode, int32_t lane, uint32_t b, uint32_t c, bool *inside) {
  int32_t delta = (int32_t)(b & 31), clamp = (int32_t)(c & 31), segment = (int32_t)((c >> 8) & 31);
  int32_t max_lane = (lane & segment) | (clamp & ~segment);
  int32_t min_lane = lane & segment;
  int32_t from = lane;
  switch (mode) {
  case IDX: from = min_lane | (delta & ~segment); break;
  case UP: from = lane - delta; break;
  case DOWN: from = lane + delta; break;
  case BFLY: from = lane ^ delta; break;
  }
  *inside = mode == UP ? from >= max_lane : from <= max_lane;
  return (uint32_t)(*inside ? from : lane);
}

/* What redux combines: a name, the type, what a reduction of no lane gives, and `acc` with one `v` more. */
#define REDUCTIONS(EACH)                                   \
  EACH(add, uint32_t, 0, acc + v)                          \
  EACH(and, uint32_t, ~0u, acc & v)                        \
  EACH(or, uint32_t, 0, acc | v)                           \
  EACH(xor, uint32_t, 0, acc ^ v)                          \
  EACH(min, int32_t, INT32_MAX, v < acc ? v : acc)         \
  EACH(max, int32_t, INT32_MIN, v > acc ? v : acc)         \
  EACH(umin, uint32_t, UINT32_MAX, v < acc ? v : acc)      \
  EACH(umax, uint32_t, 0, v > acc ? v : acc)

#endif
