/* The names of warp operations, for all targets: over `lane_id`, `active_mask`, `shuffle`, `ballot`, `match_any`, `match_all`
 * and, for each operation, `reduce_NAME`, which the file that includes this has defined. */
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
    return shuffle(mode, active_mask(), a, b, c).value;                                              \
  }                                                                                                            \
  NVVM_SYNC(float, shfl_##name##_f32)(float a, uint32_t b, uint32_t c) {                                       \
    return real(shuffle(mode, active_mask(), bits(a), b, c).value);                                  \
  }                                                                                                            \
  NVVM_SYNC(void, shfl_##name##_i32p_out)(struct i32_pred *out, uint32_t a, uint32_t b, uint32_t c) {          \
    *out = shuffle(mode, active_mask(), a, b, c);                                                    \
  }                                                                                                            \
  NVVM_SYNC(void, shfl_##name##_f32p_out)(struct f32_pred *out, float a, uint32_t b, uint32_t c) {             \
    struct i32_pred r = shuffle(mode, active_mask(), bits(a), b, c);                                 \
    *out = (struct f32_pred){real(r.value), r.pred};                                                           \
  }                                                                                                            \
  PTX_SYNC(uint64_t, shfl_sync_##name)(uint32_t a, uint32_t b, uint32_t c, uint32_t m) {                       \
    struct i32_pred r = shuffle(mode, m, a, b, c);                                                             \
    return (uint64_t)r.pred << 32 | r.value;                                                                   \
  }                                                                                                            \
  PTX_SYNC(uint64_t, shfl_##name)(uint32_t a, uint32_t b, uint32_t c) {                                        \
    struct i32_pred r = shuffle(mode, active_mask(), a, b, c);                                       \
    return (uint64_t)r.pred << 32 | r.value;                                                                   \
  }
SHUFFLE(idx, IDX)
SHUFFLE(up, UP)
SHUFFLE(down, DOWN)
SHUFFLE(bfly, BFLY)

#define VOTE(name, type, value)                                                       \
  NVVM_SYNC(type, vote_##name##_sync)(uint32_t mask, bool pred) {                     \
    uint32_t present, votes = ballot(mask, pred, &present);                           \
    (void)present;                                                                    \
    return (value);                                                                   \
  }                                                                                   \
  NVVM_SYNC(type, vote_##name)(bool pred) {                                           \
    uint32_t present, votes = ballot(active_mask(), pred, &present);        \
    (void)present;                                                                    \
    return (value);                                                                   \
  }
VOTE(all, bool, votes == present)
VOTE(any, bool, votes != 0)
VOTE(uni, bool, votes == 0 || votes == present)
VOTE(ballot, uint32_t, votes)

NVVM_SYNC(uint32_t, activemask)(void) { return active_mask(); }

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
  uint32_t present;
  ballot(mask, true, &present);
  uint32_t leader = (uint32_t)__builtin_ctz(present);
  *out = (struct i32_pred){leader, leader == lane_id()};
}
PTX_SYNC(uint64_t, elect_sync)(uint32_t mask) {
  struct i32_pred r;
  __regrain_llvm_nvvm_elect_sync_out(&r, mask);
  return (uint64_t)r.pred << 32 | r.value;
}

#define REDUX(name, ...) \
  NVVM_SYNC(uint32_t, redux_sync_##name)(uint32_t value, uint32_t mask) { return reduce_##name(value, mask); }
REDUCTIONS(REDUX)

/* The n-th set bit from `base`, upwards or downwards, as the PTX manual writes it. */
uint32_t __regrain_llvm_nvvm_fns(uint32_t mask, uint32_t base, int32_t offset) {
  if (offset == 0) return base < 32 && (mask >> base & 1) ? base : ~0u;
  int32_t count = (offset > 0 ? offset : -offset) - 1, step = offset > 0 ? 1 : -1;
  for (int32_t pos = (int32_t)base; pos >= 0 && pos < 32; pos += step)
    if (mask >> pos & 1 && count-- == 0) return (uint32_t)pos;
  return ~0u;
}
