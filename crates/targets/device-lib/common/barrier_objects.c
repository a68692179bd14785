/* Memory barrier objects (PTX's mbarrier): 64 bits of shared memory that count who arrives.
 *
 * From the lowest bit: 20 of those that the phase still waits for, 20 of those that a phase waits for, and the number of the phase.
 * A state that an arrival gives is the object as it was then. Transactions (`expect_tx`) are of sm_90 and not here.
 */
#include "abi.h"

#define COUNT_BITS 20
#define COUNT_MASK ((1u << COUNT_BITS) - 1)
#define PHASE(state) ((state) >> (2 * COUNT_BITS))
#define LOAD(object) __scoped_atomic_load_n(object, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_WRKGRP)

INLINE void __regrain_mbarrier_init(uint64_t *object, uint32_t count) {
  uint64_t counts = (uint64_t)count << COUNT_BITS | count;
  __scoped_atomic_store_n(object, counts, __ATOMIC_RELEASE, __MEMORY_SCOPE_WRKGRP);
}

/* `arrived` arrive; from the next phase on `dropped` fewer are waited for. */
INLINE uint64_t __regrain_mbarrier_arrive(uint64_t *object, uint32_t arrived, uint32_t dropped) {
  BEFORE_ATOMIC;
  uint64_t seen = LOAD(object);
  for (;;) {
    uint64_t expected = (seen >> COUNT_BITS & COUNT_MASK) - dropped, pending = (seen & COUNT_MASK) - arrived;
    uint64_t phase = PHASE(seen) + (pending == 0);
    uint64_t next = phase << (2 * COUNT_BITS) | expected << COUNT_BITS | (pending == 0 ? expected : pending);
    if (__scoped_atomic_compare_exchange_n(object, &seen, next, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE,
                                           __MEMORY_SCOPE_WRKGRP))
      return seen;
  }
}

INLINE bool __regrain_mbarrier_test_wait(uint64_t *object, uint64_t state) {
  BEFORE_ATOMIC;
  return PHASE(LOAD(object)) != PHASE(state);
}
INLINE bool __regrain_mbarrier_test_wait_parity(uint64_t *object, uint32_t parity) {
  BEFORE_ATOMIC;
  return (PHASE(LOAD(object)) & 1) != (parity & 1);
}
INLINE uint32_t __regrain_mbarrier_pending_count(uint64_t state) { return state & COUNT_MASK; }
