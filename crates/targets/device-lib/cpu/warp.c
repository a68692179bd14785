/* Warp operations. All go through one exchange of 64-bit deposits. */
#include "warp_types.h"

static INLINE uint32_t lane_id(void) { return __regrain_tls.laneid; }
CONVERGENT static INLINE uint32_t active_mask(void) { return __regrain_active_mask(); }

CONVERGENT static struct i32_pred shuffle(enum shuffle mode, uint32_t mask, uint32_t a, uint32_t b, uint32_t c) {
  uint64_t all[32];
  struct i32_pred result;
  uint32_t from = shuffle_source(mode, (int32_t)lane_id(), b, c, &result.pred);
  uint32_t present = __regrain_warp_exchange(mask, a, all);
  /* PTX leaves undefined what a lane gives that takes no part; hardware gives 0, and reductions of partial warps count on it.
     Block functions say the same. */
  result.value = present >> (from & 31) & 1 ? (uint32_t)all[from & 31] : 0;
  return result;
}

/* A ballot and the mask of the lanes that took part. */
CONVERGENT static uint32_t ballot(uint32_t mask, bool pred, uint32_t *present) {
  uint64_t all[32];
  *present = __regrain_warp_exchange(mask, pred, all);
  uint32_t votes = 0;
  for (int lane = 0; lane < 32; ++lane) votes |= (uint32_t)(all[lane] & 1) << lane;
  return votes & *present;
}

CONVERGENT static uint32_t match_any(uint32_t mask, uint64_t value) {
  uint64_t all[32];
  uint32_t present = __regrain_warp_exchange(mask, value, all), equal = 0;
  for (int lane = 0; lane < 32; ++lane) equal |= (uint32_t)(all[lane] == value) << lane;
  return equal & present;
}

CONVERGENT static struct i32_pred match_all(uint32_t mask, uint64_t value) {
  uint64_t all[32];
  uint32_t present = __regrain_warp_exchange(mask, value, all), equal = 0;
  for (int lane = 0; lane < 32; ++lane) equal |= (uint32_t)(all[lane] == value) << lane;
  bool same = (equal & present) == present;
  return (struct i32_pred){same ? present : 0, same};
}

#define REDUCE(name, type, start, combine)                                       \
  CONVERGENT static uint32_t reduce_##name(uint32_t value, uint32_t mask) {      \
    uint64_t all[32];                                                           \
    uint32_t present = __regrain_warp_exchange(mask, value, all);               \
    type acc = (start);                                                         \
    for (int lane = 0; lane < 32; ++lane) {                                     \
      type v = (type)(uint32_t)all[lane];                                       \
      if (present >> lane & 1) acc = (combine);                                 \
    }                                                                           \
    return (uint32_t)acc;                                                       \
  }
REDUCTIONS(REDUCE)

#include "warp_names.h"
