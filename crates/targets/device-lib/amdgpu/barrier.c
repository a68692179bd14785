/* Block barriers and the warp barrier. The hardware has one barrier for all waves of a block, so a barrier of some of the
 * block's threads has no form here: it is left out, and whoever calls it gets a located error. */
#include "abi.h"

#define BARRIER(infix) NVVM_SYNC(void, barrier_cta_sync##infix##_all)(uint32_t id) { (void)id; block_barrier(); }
BARRIER(_aligned)
BARRIER()

/* Counts of the waves. */
static SPACE(3) uint32_t votes[32];

static INLINE uint32_t waves(void) {
  return (__regrain_llvm_nvvm_read_ptx_sreg_nwarpid() * 32 + __builtin_amdgcn_wavefrontsize() - 1) / __builtin_amdgcn_wavefrontsize();
}

uint32_t __regrain_llvm_nvvm_read_ptx_sreg_warpid(void);

/* How many threads came with `pred`. A wave that has ended counts as none, so the counts are zero before any is written;
 * the first barrier waits for those that still read the counts of the last time. */
CONVERGENT static uint32_t count_votes(bool pred) {
  uint32_t all = waves(), sum = 0;
  uint32_t own = __regrain_llvm_nvvm_read_ptx_sreg_warpid() * 32 / __builtin_amdgcn_wavefrontsize();
  uint32_t count = (uint32_t)__builtin_popcountll(wave_ballot(pred));
  block_barrier();
  for (uint32_t i = 0; i < all; ++i) votes[i] = 0;
  block_barrier();
  votes[own] = count;
  block_barrier();
  for (uint32_t i = 0; i < all; ++i) sum += votes[i];
  return sum;
}

#define BARRIER_RED(infix)                                                            \
  NVVM_SYNC(uint32_t, barrier_cta_red_popc##infix##_all)(uint32_t id, bool p) {       \
    (void)id;                                                                         \
    return count_votes(p);                                                            \
  }                                                                                   \
  NVVM_SYNC(bool, barrier_cta_red_and##infix##_all)(uint32_t id, bool p) {            \
    (void)id;                                                                         \
    return count_votes(!p) == 0;                                                      \
  }                                                                                   \
  NVVM_SYNC(bool, barrier_cta_red_or##infix##_all)(uint32_t id, bool p) {             \
    (void)id;                                                                         \
    return count_votes(p) != 0;                                                       \
  }
BARRIER_RED(_aligned)
BARRIER_RED()

/* Names that older clang headers reach. */
NVVM_SYNC(void, barrier0)(void) { block_barrier(); }
NVVM_SYNC(void, barrier_n)(uint32_t id) { (void)id; block_barrier(); }
NVVM_SYNC(void, bar_sync)(uint32_t id) { (void)id; block_barrier(); }
NVVM_SYNC(void, barrier_sync)(uint32_t id) { (void)id; block_barrier(); }
NVVM_SYNC(uint32_t, barrier0_popc)(uint32_t p) { return count_votes(p != 0); }
NVVM_SYNC(uint32_t, barrier0_and)(uint32_t p) { return count_votes(p == 0) == 0; }
NVVM_SYNC(uint32_t, barrier0_or)(uint32_t p) { return count_votes(p != 0) != 0; }

/* The lanes of a wave go in step: only the compiler must not move memory accesses. */
NVVM_SYNC(void, bar_warp_sync)(uint32_t mask) {
  (void)mask;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

NVVM_SYNC(void, barrier_cluster_arrive)(void) {}
NVVM_SYNC(void, barrier_cluster_arrive_aligned)(void) {}
NVVM_SYNC(void, barrier_cluster_arrive_relaxed)(void) {}
NVVM_SYNC(void, barrier_cluster_arrive_relaxed_aligned)(void) {}
NVVM_SYNC(void, barrier_cluster_wait)(void) { block_barrier(); }
NVVM_SYNC(void, barrier_cluster_wait_aligned)(void) { block_barrier(); }
