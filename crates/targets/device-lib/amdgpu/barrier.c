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

/* The barrier of the grid: the lowering sends cooperative groups' own, which counts on NVIDIA's memory, here. All blocks of a
 * cooperative launch are resident, and such launches have the GPU to themselves, so one word is enough: each block adds 1, the
 * first as much as is missing to half of the word's range, and all have come when the top bit flips. The word is as it was
 * after two of them. */
static SPACE(1) uint32_t grid_word;

uint32_t __regrain_llvm_nvvm_read_ptx_sreg_nctaid_x(void), __regrain_llvm_nvvm_read_ptx_sreg_nctaid_y(void);
uint32_t __regrain_llvm_nvvm_read_ptx_sreg_nctaid_z(void);

#define TOP 0x80000000u

static INLINE bool is_first_thread(void) {
  return (__builtin_amdgcn_workitem_id_x() | __builtin_amdgcn_workitem_id_y() | __builtin_amdgcn_workitem_id_z()) == 0;
}
static INLINE bool is_first_block(void) {
  return (__builtin_amdgcn_workgroup_id_x() | __builtin_amdgcn_workgroup_id_y() | __builtin_amdgcn_workgroup_id_z()) == 0;
}

/* Each wave makes what it wrote seen, and looks anew at what others wrote. */
CONVERGENT static void device_barrier(void) {
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
  block_barrier();
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
}

CONVERGENT uint32_t __regrain_grid_barrier_arrive(volatile uint32_t *arrived) {
  (void)arrived;
  device_barrier();
  if (!is_first_thread()) return 0;
  uint32_t blocks = __regrain_llvm_nvvm_read_ptx_sreg_nctaid_x() * __regrain_llvm_nvvm_read_ptx_sreg_nctaid_y() *
                    __regrain_llvm_nvvm_read_ptx_sreg_nctaid_z();
  return __scoped_atomic_fetch_add(&grid_word, is_first_block() ? TOP - (blocks - 1) : 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
CONVERGENT void __regrain_grid_barrier_wait(uint32_t before, volatile uint32_t *arrived) {
  (void)arrived;
  if (is_first_thread())
    while (((__scoped_atomic_load_n(&grid_word, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE) ^ before) & TOP) == 0)
      __builtin_amdgcn_s_sleep(1);
  device_barrier();
}
DEV(int32_t, cudaCGSynchronizeGrid)(uint64_t handle, uint32_t flags) {
  (void)handle;
  (void)flags;
  __regrain_grid_barrier_wait(__regrain_grid_barrier_arrive(0), 0);
  return 0;
}
DEV(uint64_t, cudaCGGetIntrinsicHandle)(int32_t scope) { return (uint64_t)scope; }

NVVM_SYNC(void, barrier_cluster_arrive)(void) {}
NVVM_SYNC(void, barrier_cluster_arrive_aligned)(void) {}
NVVM_SYNC(void, barrier_cluster_arrive_relaxed)(void) {}
NVVM_SYNC(void, barrier_cluster_arrive_relaxed_aligned)(void) {}
NVVM_SYNC(void, barrier_cluster_wait)(void) { block_barrier(); }
NVVM_SYNC(void, barrier_cluster_wait_aligned)(void) { block_barrier(); }
