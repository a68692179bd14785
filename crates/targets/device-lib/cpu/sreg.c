/* Special registers: llvm.nvvm.read.ptx.sreg.* */
#include "abi.h"

#define SREG(name, value) \
  NVVM(uint32_t, read_ptx_sreg_##name)(void) { return (value); }
#define SREG3(name, field)                     \
  SREG(name##_x, __regrain_tls.field[0])       \
  SREG(name##_y, __regrain_tls.field[1])       \
  SREG(name##_z, __regrain_tls.field[2])

SREG3(tid, tid)
SREG3(ntid, ntid)
SREG3(ctaid, ctaid)
SREG3(nctaid, nctaid)
SREG(tid_w, 0)
SREG(ntid_w, 1)
SREG(ctaid_w, 0)
SREG(nctaid_w, 1)

/* Without clusters each block is a cluster of one. */
SREG3(clusterid, ctaid)
SREG3(nclusterid, nctaid)
SREG(clusterid_w, 0)
SREG(nclusterid_w, 1)
SREG(cluster_ctaid_x, 0)
SREG(cluster_ctaid_y, 0)
SREG(cluster_ctaid_z, 0)
SREG(cluster_ctaid_w, 0)
SREG(cluster_nctaid_x, 1)
SREG(cluster_nctaid_y, 1)
SREG(cluster_nctaid_z, 1)
SREG(cluster_nctaid_w, 1)
SREG(cluster_ctarank, 0)
SREG(cluster_nctarank, 1)

static INLINE uint32_t block_threads(void) {
  return __regrain_tls.ntid[0] * __regrain_tls.ntid[1] * __regrain_tls.ntid[2];
}

SREG(laneid, __regrain_tls.laneid)
SREG(warpid, __regrain_tls.warpid)
SREG(nwarpid, (block_threads() + 31) / 32)
SREG(warpsize, 32)
SREG(gridid, __regrain_tls.grid_id)
SREG(lanemask_eq, 1u << __regrain_tls.laneid)
SREG(lanemask_lt, (1u << __regrain_tls.laneid) - 1)
SREG(lanemask_le, (2u << __regrain_tls.laneid) - 1)
SREG(lanemask_gt, -(2u << __regrain_tls.laneid))
SREG(lanemask_ge, -(1u << __regrain_tls.laneid))
SREG(dynamic_smem_size, __regrain_tls.dynamic_shared_size)
SREG(total_smem_size, __regrain_tls.dynamic_shared_size)
SREG(aggr_smem_size, __regrain_tls.dynamic_shared_size)

/* One multiprocessor: an index that is in range for every table sized by %nsmid. */
SREG(smid, 0)
SREG(nsmid, 1)

SREG(clock, (uint32_t)__regrain_clock64())
SREG(globaltimer_lo, (uint32_t)__regrain_globaltimer())
NVVM(uint64_t, read_ptx_sreg_clock64)(void) { return __regrain_clock64(); }
NVVM(uint64_t, read_ptx_sreg_globaltimer)(void) { return __regrain_globaltimer(); }

/* Performance counters that nobody has set up do not count. */
SREG(pm0, 0) SREG(pm1, 0) SREG(pm2, 0) SREG(pm3, 0)

NVVM(bool, is_explicit_cluster)(void) { return false; }

/* The shared memory that the system reserves for cooperative groups of several warps (sm_80 and later). */
static _Thread_local __attribute__((aligned(128))) char reserved_shared[1024];

PTX(uint32_t, sreg_reserved_smem_offset_1)(void) { return (uint32_t)(uintptr_t)reserved_shared; }
