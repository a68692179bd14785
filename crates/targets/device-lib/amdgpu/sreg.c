/* Special registers: llvm.nvvm.read.ptx.sreg.* */
#include "abi.h"

#define SREG(name, value) \
  NVVM(uint32_t, read_ptx_sreg_##name)(void) { return (value); }

/* The hidden arguments of code object 5 and later hold the number of blocks; the dispatch packet counts threads. */
#define BLOCKS(axis, offset)                                                                                          \
  static INLINE uint32_t blocks_##axis(void) {                                                                        \
    if (__oclc_ABI_version >= 500) return *(const SPACE(4) uint32_t *)((const SPACE(4) char *)__builtin_amdgcn_implicitarg_ptr() + offset); \
    return __builtin_amdgcn_grid_size_##axis() / __builtin_amdgcn_workgroup_size_##axis();                            \
  }
BLOCKS(x, 0) BLOCKS(y, 4) BLOCKS(z, 8)

#define AXIS(a)                                               \
  SREG(tid_##a, __builtin_amdgcn_workitem_id_##a())           \
  SREG(ntid_##a, __builtin_amdgcn_workgroup_size_##a())       \
  SREG(ctaid_##a, __builtin_amdgcn_workgroup_id_##a())        \
  SREG(nctaid_##a, blocks_##a())                              \
  SREG(clusterid_##a, __builtin_amdgcn_workgroup_id_##a())    \
  SREG(nclusterid_##a, blocks_##a())                          \
  SREG(cluster_ctaid_##a, 0)                                  \
  SREG(cluster_nctaid_##a, 1)
AXIS(x) AXIS(y) AXIS(z)

/* Without clusters each block is a cluster of one. */
SREG(tid_w, 0)
SREG(ntid_w, 1)
SREG(ctaid_w, 0)
SREG(nctaid_w, 1)
SREG(clusterid_w, 0)
SREG(nclusterid_w, 1)
SREG(cluster_ctaid_w, 0)
SREG(cluster_nctaid_w, 1)
SREG(cluster_ctarank, 0)
SREG(cluster_nctarank, 1)
NVVM(bool, is_explicit_cluster)(void) { return false; }

static INLINE uint32_t block_threads(void) {
  return __builtin_amdgcn_workgroup_size_x() * __builtin_amdgcn_workgroup_size_y() * __builtin_amdgcn_workgroup_size_z();
}
static INLINE uint32_t thread_number(void) {
  uint32_t row = __builtin_amdgcn_workitem_id_z() * __builtin_amdgcn_workgroup_size_y() + __builtin_amdgcn_workitem_id_y();
  return row * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
}

SREG(laneid, lane_id())
SREG(warpid, thread_number() / 32)
SREG(nwarpid, (block_threads() + 31) / 32)
SREG(warpsize, 32)
SREG(lanemask_eq, 1u << lane_id())
SREG(lanemask_lt, (1u << lane_id()) - 1)
SREG(lanemask_le, (2u << lane_id()) - 1)
SREG(lanemask_gt, -(2u << lane_id()))
SREG(lanemask_ge, -(1u << lane_id()))

/* The dispatch packet says how much LDS the block has; what the kernel has of its own is known when it is compiled. */
static INLINE uint32_t shared_bytes(void) { return ((const SPACE(4) uint32_t *)__builtin_amdgcn_dispatch_ptr())[7]; }
SREG(dynamic_smem_size, shared_bytes() - __builtin_amdgcn_groupstaticsize())
SREG(total_smem_size, shared_bytes())
SREG(aggr_smem_size, shared_bytes())

/* One multiprocessor: an index that is in range for every table sized by %nsmid. */
SREG(smid, 0)
SREG(nsmid, 1)
SREG(gridid, 0)

static INLINE uint64_t nanoseconds(void) {
  return __builtin_readsteadycounter() * (uint64_t)__oclc_regrain_steady_nanoseconds;
}
SREG(clock, (uint32_t)__builtin_readcyclecounter())
SREG(globaltimer_lo, (uint32_t)nanoseconds())
NVVM(uint64_t, read_ptx_sreg_clock64)(void) { return __builtin_readcyclecounter(); }
NVVM(uint64_t, read_ptx_sreg_globaltimer)(void) { return nanoseconds(); }

/* Performance counters that nobody has set up do not count. */
SREG(pm0, 0) SREG(pm1, 0) SREG(pm2, 0) SREG(pm3, 0)

/* A step of s_sleep is 64 cycles, some 32 ns or more. */
static void sleep_for(uint32_t ns) {
  for (uint32_t steps = ns / 32 + 1; steps; --steps) __builtin_amdgcn_s_sleep(1);
}
DEV(void, __nanosleep)(uint32_t ns) { sleep_for(ns); }
NVVM(void, nanosleep)(uint32_t ns) { sleep_for(ns); }
PTX(void, nanosleep_u32)(uint32_t ns) { sleep_for(ns); }

/* The shared memory that the system reserves for cooperative groups of several warps (sm_80 and later). */
static SPACE(3) __attribute__((aligned(128))) char reserved_shared[1024];

PTX(uint32_t, sreg_reserved_smem_offset_1)(void) { return (uint32_t)(SPACE(3) char *)reserved_shared; }
