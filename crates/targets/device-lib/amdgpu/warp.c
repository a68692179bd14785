/* Warp operations. A wave goes in step, so the lanes that take part are those that are here, as far as the mask names them. */
#include "warp_types.h"

CONVERGENT static INLINE struct i32_pred shuffle(enum shuffle mode, uint32_t mask, uint32_t a, uint32_t b, uint32_t c) {
  struct i32_pred result;
  uint32_t from = shuffle_source(mode, (int32_t)lane_id(), b, c, &result.pred) & 31;
  uint32_t value = warp_read(a, from);
  /* A lane that takes no part gives 0, as on the CPU. */
  result.value = mask >> from & 1 ? value : 0;
  return result;
}

/* A ballot and the mask of the lanes that took part. */
CONVERGENT static INLINE uint32_t ballot(uint32_t mask, bool pred, uint32_t *present) {
  *present = active_mask() & mask;
  return warp_ballot(pred) & mask;
}

/* One group of lanes with equal values after the other. */
CONVERGENT static INLINE uint32_t match_any(uint32_t mask, uint64_t value) {
  uint32_t rest = active_mask() & mask, equal = 0;
  while (rest) {
    uint32_t leader = (uint32_t)__builtin_ctz(rest);
    uint64_t other = (uint64_t)warp_read((uint32_t)(value >> 32), leader) << 32 | warp_read((uint32_t)value, leader);
    uint32_t same = warp_ballot(other == value) & rest;
    if (other == value) equal = same;
    rest &= ~same;
  }
  return equal;
}

CONVERGENT static INLINE struct i32_pred match_all(uint32_t mask, uint64_t value) {
  uint32_t present = active_mask() & mask, leader = (uint32_t)__builtin_ctz(present | 1u << 31);
  uint64_t first = (uint64_t)warp_read((uint32_t)(value >> 32), leader) << 32 | warp_read((uint32_t)value, leader);
  bool same = (warp_ballot(first == value) & present) == present;
  return (struct i32_pred){same ? present : 0, same};
}

/* A whole warp in five steps, some of its lanes one after the other. */
#define REDUCE(name, type, start, combine)                                                 \
  CONVERGENT static INLINE uint32_t reduce_##name(uint32_t value, uint32_t mask) {         \
    uint32_t present = active_mask() & mask;                                               \
    type acc = (type)value;                                                                \
    if (present == ~0u) {                                                                  \
      for (uint32_t step = 1; step < 32; step <<= 1) {                                     \
        type v = (type)warp_read((uint32_t)acc, lane_id() ^ step);                         \
        acc = (combine);                                                                   \
      }                                                                                    \
      return (uint32_t)acc;                                                                \
    }                                                                                      \
    acc = (start);                                                                         \
    for (uint32_t rest = present; rest; rest &= rest - 1) {                                \
      type v = (type)warp_read(value, (uint32_t)__builtin_ctz(rest));                      \
      acc = (combine);                                                                     \
    }                                                                                      \
    return (uint32_t)acc;                                                                  \
  }
REDUCTIONS(REDUCE)

#include "warp_names.h"
