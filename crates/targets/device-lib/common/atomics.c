/* Atomic operations: of inline PTX, with the strongest order and scope, whatever the instruction says; and the functions of
 * CUDA with a scope in their names, in the target's order for them. */
#include "abi.h"

#define FETCH(scope, name, type, operation)                                                              \
  INLINE type __regrain_atomic##scope##_##name(type *p, type v) {                                        \
    BEFORE_ATOMIC;                                                                                       \
    return __scoped_atomic_##operation(p, v, ORDER##scope, SCOPE##scope);                                \
  }
#define FETCH_LOOP(scope, name, type, bits_type, expr)                                                   \
  INLINE type __regrain_atomic##scope##_##name(type *p, type v) {                                        \
    BEFORE_ATOMIC;                                                                                       \
    bits_type seen = __scoped_atomic_load_n((bits_type *)p, __ATOMIC_RELAXED, SCOPE##scope);             \
    for (;;) {                                                                                           \
      type old = __builtin_bit_cast(type, seen), next = (expr);                                          \
      if (__scoped_atomic_compare_exchange_n((bits_type *)p, &seen, __builtin_bit_cast(bits_type, next), true, \
                                             ORDER##scope, __ATOMIC_RELAXED, SCOPE##scope))              \
        return old;                                                                                      \
    }                                                                                                    \
  }
#define CAS(scope, name, type)                                                                           \
  INLINE type __regrain_atomic##scope##_##name(type *p, type expected, type v) {                         \
    BEFORE_ATOMIC;                                                                                       \
    __scoped_atomic_compare_exchange_n(p, &expected, v, false, ORDER##scope, ORDER##scope, SCOPE##scope); \
    return expected;                                                                                     \
  }
#define INTEGERS(scope, w)                                      \
  FETCH(scope, add_u##w, uint##w##_t, fetch_add)                \
  FETCH(scope, and_b##w, uint##w##_t, fetch_and)                \
  FETCH(scope, or_b##w, uint##w##_t, fetch_or)                  \
  FETCH(scope, xor_b##w, uint##w##_t, fetch_xor)                \
  FETCH(scope, exch_b##w, uint##w##_t, exchange_n)              \
  CAS(scope, cas_b##w, uint##w##_t)                             \
  FETCH(scope, min_s##w, int##w##_t, fetch_min)                 \
  FETCH(scope, max_s##w, int##w##_t, fetch_max)                 \
  FETCH(scope, min_u##w, uint##w##_t, fetch_min)                \
  FETCH(scope, max_u##w, uint##w##_t, fetch_max)                \
  FETCH_LOOP(scope, inc_u##w, uint##w##_t, uint##w##_t, old >= v ? 0 : old + 1) \
  FETCH_LOOP(scope, dec_u##w, uint##w##_t, uint##w##_t, old == 0 || old > v ? v : old - 1)
#define ALL(scope)                                              \
  INTEGERS(scope, 32)                                           \
  INTEGERS(scope, 64)                                           \
  CAS(scope, cas_b16, uint16_t)                                 \
  FETCH(scope, exch_b16, uint16_t, exchange_n)                  \
  FETCH_LOOP(scope, add_f32, float, uint32_t, old + v)          \
  FETCH_LOOP(scope, add_f64, double, uint64_t, old + v)

#define ORDER __ATOMIC_SEQ_CST
#define SCOPE __MEMORY_SCOPE_SYSTEM
#define ORDER_cta NAMED_ORDER
#define SCOPE_cta __MEMORY_SCOPE_WRKGRP
#define ORDER_sys NAMED_ORDER
#define SCOPE_sys __MEMORY_SCOPE_SYSTEM
ALL()
ALL(_cta)
ALL(_sys)

#define SCOPED(scope)                                                                                                   \
  NVVM(uint32_t, atomic_add_gen_i_##scope##_i32_p0)(uint32_t *p, uint32_t v) { return __regrain_atomic_##scope##_add_u32(p, v); } \
  NVVM(uint64_t, atomic_add_gen_i_##scope##_i64_p0)(uint64_t *p, uint64_t v) { return __regrain_atomic_##scope##_add_u64(p, v); } \
  NVVM(float, atomic_add_gen_f_##scope##_f32_p0)(float *p, float v) { return __regrain_atomic_##scope##_add_f32(p, v); }          \
  NVVM(double, atomic_add_gen_f_##scope##_f64_p0)(double *p, double v) { return __regrain_atomic_##scope##_add_f64(p, v); }       \
  NVVM(uint16_t, atomic_cas_gen_i_##scope##_i16_p0)(uint16_t *p, uint16_t e, uint16_t v) { return __regrain_atomic_##scope##_cas_b16(p, e, v); } \
  SCOPED_WIDTH(scope, 32) SCOPED_WIDTH(scope, 64)
#define SCOPED_WIDTH(scope, w)                                                                                          \
  NVVM(uint##w##_t, atomic_and_gen_i_##scope##_i##w##_p0)(uint##w##_t *p, uint##w##_t v) { return __regrain_atomic_##scope##_and_b##w(p, v); } \
  NVVM(uint##w##_t, atomic_or_gen_i_##scope##_i##w##_p0)(uint##w##_t *p, uint##w##_t v) { return __regrain_atomic_##scope##_or_b##w(p, v); } \
  NVVM(uint##w##_t, atomic_xor_gen_i_##scope##_i##w##_p0)(uint##w##_t *p, uint##w##_t v) { return __regrain_atomic_##scope##_xor_b##w(p, v); } \
  NVVM(uint##w##_t, atomic_exch_gen_i_##scope##_i##w##_p0)(uint##w##_t *p, uint##w##_t v) { return __regrain_atomic_##scope##_exch_b##w(p, v); } \
  NVVM(int##w##_t, atomic_min_gen_i_##scope##_i##w##_p0)(int##w##_t *p, int##w##_t v) { return __regrain_atomic_##scope##_min_s##w(p, v); } \
  NVVM(int##w##_t, atomic_max_gen_i_##scope##_i##w##_p0)(int##w##_t *p, int##w##_t v) { return __regrain_atomic_##scope##_max_s##w(p, v); } \
  NVVM(uint##w##_t, atomic_inc_gen_i_##scope##_i##w##_p0)(uint##w##_t *p, uint##w##_t v) { return __regrain_atomic_##scope##_inc_u##w(p, v); } \
  NVVM(uint##w##_t, atomic_dec_gen_i_##scope##_i##w##_p0)(uint##w##_t *p, uint##w##_t v) { return __regrain_atomic_##scope##_dec_u##w(p, v); } \
  NVVM(uint##w##_t, atomic_cas_gen_i_##scope##_i##w##_p0)(uint##w##_t *p, uint##w##_t e, uint##w##_t v) { return __regrain_atomic_##scope##_cas_b##w(p, e, v); }
SCOPED(cta)
SCOPED(sys)

