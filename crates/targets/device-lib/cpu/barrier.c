/* Block barriers, the warp barrier and cluster barriers (a cluster is one block here). */
#include "abi.h"

enum { RED_POPC = 0, RED_AND = 1, RED_OR = 2 };

#define BARRIER_SYNC(infix)                                                                               \
  NVVM_SYNC(void, barrier_cta_sync##infix##_all)(uint32_t id) { __regrain_barrier(id, 0); }               \
  NVVM_SYNC(void, barrier_cta_sync##infix##_count)(uint32_t id, uint32_t n) { __regrain_barrier(id, n); } \
  NVVM_SYNC(void, barrier_cta_arrive##infix##_count)(uint32_t id, uint32_t n) { __regrain_barrier_arrive(id, n); }
BARRIER_SYNC(_aligned)
BARRIER_SYNC()

#define BARRIER_RED(infix)                                                                                \
  NVVM_SYNC(uint32_t, barrier_cta_red_popc##infix##_all)(uint32_t id, bool p) {                           \
    return __regrain_barrier_red(RED_POPC, id, 0, p);                                                     \
  }                                                                                                       \
  NVVM_SYNC(uint32_t, barrier_cta_red_popc##infix##_count)(uint32_t id, uint32_t n, bool p) {             \
    return __regrain_barrier_red(RED_POPC, id, n, p);                                                     \
  }                                                                                                       \
  NVVM_SYNC(bool, barrier_cta_red_and##infix##_all)(uint32_t id, bool p) {                                \
    return __regrain_barrier_red(RED_AND, id, 0, p) != 0;                                                 \
  }                                                                                                       \
  NVVM_SYNC(bool, barrier_cta_red_and##infix##_count)(uint32_t id, uint32_t n, bool p) {                  \
    return __regrain_barrier_red(RED_AND, id, n, p) != 0;                                                 \
  }                                                                                                       \
  NVVM_SYNC(bool, barrier_cta_red_or##infix##_all)(uint32_t id, bool p) {                                 \
    return __regrain_barrier_red(RED_OR, id, 0, p) != 0;                                                  \
  }                                                                                                       \
  NVVM_SYNC(bool, barrier_cta_red_or##infix##_count)(uint32_t id, uint32_t n, bool p) {                   \
    return __regrain_barrier_red(RED_OR, id, n, p) != 0;                                                  \
  }
BARRIER_RED(_aligned)
BARRIER_RED()

/* Names that older clang headers reach. */
NVVM_SYNC(void, barrier0)(void) { __regrain_barrier(0, 0); }
NVVM_SYNC(void, barrier_n)(uint32_t id) { __regrain_barrier(id, 0); }
NVVM_SYNC(void, bar_sync)(uint32_t id) { __regrain_barrier(id, 0); }
NVVM_SYNC(void, barrier)(uint32_t id, uint32_t n) { __regrain_barrier(id, n); }
NVVM_SYNC(void, barrier_sync)(uint32_t id) { __regrain_barrier(id, 0); }
NVVM_SYNC(void, barrier_sync_cnt)(uint32_t id, uint32_t n) { __regrain_barrier(id, n); }
NVVM_SYNC(uint32_t, barrier0_popc)(uint32_t p) { return __regrain_barrier_red(RED_POPC, 0, 0, p != 0); }
NVVM_SYNC(uint32_t, barrier0_and)(uint32_t p) { return __regrain_barrier_red(RED_AND, 0, 0, p != 0) != 0; }
NVVM_SYNC(uint32_t, barrier0_or)(uint32_t p) { return __regrain_barrier_red(RED_OR, 0, 0, p != 0) != 0; }

NVVM_SYNC(void, bar_warp_sync)(uint32_t mask) {
  uint64_t all[32];
  __regrain_warp_exchange(mask, 0, all);
}

NVVM_SYNC(void, barrier_cluster_arrive)(void) {}
NVVM_SYNC(void, barrier_cluster_arrive_aligned)(void) {}
NVVM_SYNC(void, barrier_cluster_arrive_relaxed)(void) {}
NVVM_SYNC(void, barrier_cluster_arrive_relaxed_aligned)(void) {}
NVVM_SYNC(void, barrier_cluster_wait)(void) { __regrain_barrier(0, 0); }
NVVM_SYNC(void, barrier_cluster_wait_aligned)(void) { __regrain_barrier(0, 0); }
