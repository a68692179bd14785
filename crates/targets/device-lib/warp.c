/* Warp operations: shuffles, votes, matches, reductions. All go through one exchange of 64-bit deposits. */
#include "abi.h"

struct i32_pred { uint32_t value; bool pred; };

enum shuffle { IDX, UP, DOWN, BFLY };

/* The PTX manual's definition of shfl: which lane to read, and whether it lies in the segment. */
static INLINE uint32_t shuffle_source(enum shuffle mode, uint32_t b, uint32_t c, bool *inside) {
  int32_t lane = (int32_t)__regrain_tls.laneid;
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

CONVERGENT static struct i32_pred shuffle(enum shuffle mode, uint32_t mask, uint32_t a, uint32_t b, uint32_t c) {
  uint64_t all[32];
  struct i32_pred result;
  uint32_t from = shuffle_source(mode, b, c, &result.pred);
  uint32_t present = __regrain_warp_exchange(mask, a, all);
  /* PTX leaves undefined what a lane gives that takes no part; hardware gives 0, and reductions of partial warps count on it.
     Block functions say the same. */
  result.value = present >> (from & 31) & 1 ? (uint32_t)all[from & 31] : 0;
  return result;
}

static INLINE uint32_t bits(float x) { return __builtin_bit_cast(uint32_t, x); }
static INLINE float real(uint32_t x) { return __builtin_bit_cast(float, x); }

struct f32_pred { float value; bool pred; };

#define SHUFFLE(name, mode)                                                                                    \
  NVVM_SYNC(uint32_t, shfl_sync_##name##_i32)(uint32_t m, uint32_t a, uint32_t b, uint32_t c) {                \
    return shuffle(mode, m, a, b, c).value;                                                                    \
  }                                                                                                            \
  NVVM_SYNC(float, shfl_sync_##name##_f32)(uint32_t m, float a, uint32_t b, uint32_t c) {                      \
    return real(shuffle(mode, m, bits(a), b, c).value);                                                        \
  }                                                                                                            \
  NVVM_SYNC(void, shfl_sync_##name##_i32p_out)(struct i32_pred *out, uint32_t m, uint32_t a, uint32_t b, uint32_t c) { \
    *out = shuffle(mode, m, a, b, c);                                                                          \
  }                                                                                                            \
  NVVM_SYNC(void, shfl_sync_##name##_f32p_out)(struct f32_pred *out, uint32_t m, float a, uint32_t b, uint32_t c) { \
    struct i32_pred r = shuffle(mode, m, bits(a), b, c);                                                       \
    *out = (struct f32_pred){real(r.value), r.pred};                                                           \
  }                                                                                                            \
  NVVM_SYNC(uint32_t, shfl_##name##_i32)(uint32_t a, uint32_t b, uint32_t c) {                                 \
    return shuffle(mode, __regrain_active_mask(), a, b, c).value;                                              \
  }                                                                                                            \
  NVVM_SYNC(float, shfl_##name##_f32)(float a, uint32_t b, uint32_t c) {                                       \
    return real(shuffle(mode, __regrain_active_mask(), bits(a), b, c).value);                                  \
  }                                                                                                            \
  NVVM_SYNC(void, shfl_##name##_i32p_out)(struct i32_pred *out, uint32_t a, uint32_t b, uint32_t c) {          \
    *out = shuffle(mode, __regrain_active_mask(), a, b, c);                                                    \
  }                                                                                                            \
  NVVM_SYNC(void, shfl_##name##_f32p_out)(struct f32_pred *out, float a, uint32_t b, uint32_t c) {             \
    struct i32_pred r = shuffle(mode, __regrain_active_mask(), bits(a), b, c);                                 \
    *out = (struct f32_pred){real(r.value), r.pred};                                                           \
  }                                                                                                            \
  PTX_SYNC(uint64_t, shfl_sync_##name)(uint32_t a, uint32_t b, uint32_t c, uint32_t m) {                       \
    struct i32_pred r = shuffle(mode, m, a, b, c);                                                             \
    return (uint64_t)r.pred << 32 | r.value;                                                                   \
  }                                                                                                            \
  PTX_SYNC(uint64_t, shfl_##name)(uint32_t a, uint32_t b, uint32_t c) {                                        \
    struct i32_pred r = shuffle(mode, __regrain_active_mask(), a, b, c);                                       \
    return (uint64_t)r.pred << 32 | r.value;                                                                   \
  }
SHUFFLE(idx, IDX)
SHUFFLE(up, UP)
SHUFFLE(down, DOWN)
SHUFFLE(bfly, BFLY)

/* A ballot and the mask of the lanes that took part. */
CONVERGENT static uint32_t ballot(uint32_t mask, bool pred, uint32_t *present) {
  uint64_t all[32];
  *present = __regrain_warp_exchange(mask, pred, all);
  uint32_t votes = 0;
  for (int lane = 0; lane < 32; ++lane) votes |= (uint32_t)(all[lane] & 1) << lane;
  return votes & *present;
}

#define VOTE(name, type, value)                                                       \
  NVVM_SYNC(type, vote_##name##_sync)(uint32_t mask, bool pred) {                     \
    uint32_t present, votes = ballot(mask, pred, &present);                           \
    (void)present;                                                                    \
    return (value);                                                                   \
  }                                                                                   \
  NVVM_SYNC(type, vote_##name)(bool pred) {                                           \
    uint32_t present, votes = ballot(__regrain_active_mask(), pred, &present);        \
    (void)present;                                                                    \
    return (value);                                                                   \
  }
VOTE(all, bool, votes == present)
VOTE(any, bool, votes != 0)
VOTE(uni, bool, votes == 0 || votes == present)
VOTE(ballot, uint32_t, votes)

NVVM_SYNC(uint32_t, activemask)(void) { return __regrain_active_mask(); }

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

NVVM_SYNC(uint32_t, match_any_sync_i32)(uint32_t m, uint32_t v) { return match_any(m, v); }
NVVM_SYNC(uint32_t, match_any_sync_i64)(uint32_t m, uint64_t v) { return match_any(m, v); }
NVVM_SYNC(void, match_all_sync_i32p_out)(struct i32_pred *out, uint32_t m, uint32_t v) { *out = match_all(m, v); }
NVVM_SYNC(void, match_all_sync_i64p_out)(struct i32_pred *out, uint32_t m, uint64_t v) { *out = match_all(m, v); }
PTX_SYNC(uint64_t, match_all_sync_b32)(uint32_t v, uint32_t m) {
  struct i32_pred r = match_all(m, v);
  return (uint64_t)r.pred << 32 | r.value;
}
PTX_SYNC(uint64_t, match_all_sync_b64)(uint64_t v, uint32_t m) {
  struct i32_pred r = match_all(m, v);
  return (uint64_t)r.pred << 32 | r.value;
}

/* The lowest named lane leads. */
NVVM_SYNC(void, elect_sync_out)(struct i32_pred *out, uint32_t mask) {
  uint64_t all[32];
  uint32_t present = __regrain_warp_exchange(mask, 0, all);
  uint32_t leader = (uint32_t)__builtin_ctz(present);
  *out = (struct i32_pred){leader, leader == __regrain_tls.laneid};
}
PTX_SYNC(uint64_t, elect_sync)(uint32_t mask) {
  struct i32_pred r;
  __regrain_llvm_nvvm_elect_sync_out(&r, mask);
  return (uint64_t)r.pred << 32 | r.value;
}

#define REDUX(name, type, start, combine)                                       \
  NVVM_SYNC(uint32_t, redux_sync_##name)(uint32_t value, uint32_t mask) {       \
    uint64_t all[32];                                                           \
    uint32_t present = __regrain_warp_exchange(mask, value, all);               \
    type acc = (start);                                                         \
    for (int lane = 0; lane < 32; ++lane) {                                     \
      type v = (type)(uint32_t)all[lane];                                       \
      if (present >> lane & 1) acc = (combine);                                 \
    }                                                                           \
    return (uint32_t)acc;                                                       \
  }
REDUX(add, uint32_t, 0, acc + v)
REDUX(and, uint32_t, ~0u, acc & v)
REDUX(or, uint32_t, 0, acc | v)
REDUX(xor, uint32_t, 0, acc ^ v)
REDUX(min, int32_t, INT32_MAX, v < acc ? v : acc)
REDUX(max, int32_t, INT32_MIN, v > acc ? v : acc)
REDUX(umin, uint32_t, UINT32_MAX, v < acc ? v : acc)
REDUX(umax, uint32_t, 0, v > acc ? v : acc)

/* The n-th set bit from `base`, upwards or downwards, as the PTX manual writes it. */
uint32_t __regrain_llvm_nvvm_fns(uint32_t mask, uint32_t base, int32_t offset) {
  if (offset == 0) return base < 32 && (mask >> base & 1) ? base : ~0u;
  int32_t count = (offset > 0 ? offset : -offset) - 1, step = offset > 0 ? 1 : -1;
  for (int32_t pos = (int32_t)base; pos >= 0 && pos < 32; pos += step)
    if (mask >> pos & 1 && count-- == 0) return (uint32_t)pos;
  return ~0u;
}
