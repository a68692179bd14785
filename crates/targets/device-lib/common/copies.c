/* cp.async (done at once), prefetches (nothing to do), ldg and ldu, clusters of one block. */
#include "abi.h"

/* cp.async copies at once; bytes beyond the source size are zero. */
#define COPY(kind, n)                                                                                      \
  NVVM(void, cp_async_##kind##_shared_global_##n)(void *to, const void *from) { __builtin_memcpy(to, from, n); } \
  NVVM(void, cp_async_##kind##_shared_global_##n##_s)(void *to, const void *from, uint32_t size) {         \
    char bytes[n] = {0};                                                                                   \
    __builtin_memcpy(bytes, from, size < n ? size : n);                                                    \
    __builtin_memcpy(to, bytes, n);                                                                        \
  }
COPY(ca, 4) COPY(ca, 8) COPY(ca, 16) COPY(cg, 16)
NVVM(void, cp_async_commit_group)(void) {}
NVVM(void, cp_async_wait_group)(uint32_t n) { (void)n; }
NVVM(void, cp_async_wait_all)(void) {}

#define PREFETCH(name) \
  NVVM(void, name)(const void *p) { (void)p; }
PREFETCH(prefetch_L1) PREFETCH(prefetch_L2) PREFETCH(prefetch_global_L1) PREFETCH(prefetch_global_L2)
PREFETCH(prefetch_local_L1) PREFETCH(prefetch_local_L2) PREFETCH(prefetchu_L1)
PREFETCH(prefetch_global_L2_evict_normal) PREFETCH(prefetch_global_L2_evict_last)
NVVM(void, applypriority_L2_evict_normal)(const void *p, uint64_t n) { (void)p; (void)n; }
NVVM(void, applypriority_global_L2_evict_normal)(const void *p, uint64_t n) { (void)p; (void)n; }
NVVM(void, discard_L2)(void *p, uint64_t n) { (void)p; (void)n; }
NVVM(void, discard_global_L2)(void *p, uint64_t n) { (void)p; (void)n; }

/* ldg/ldu are plain loads.. */
#define LDX(kind, suffix, type, mangled) \
  NVVM(type, kind##_global_##suffix##_##mangled)(const type *p, uint32_t align) { (void)align; return *p; }
#define LDX_ALL(kind, as)                                                                                  \
  LDX(kind, i, uint8_t, i8_##as) LDX(kind, i, uint16_t, i16_##as) LDX(kind, i, uint32_t, i32_##as)         \
  LDX(kind, i, uint64_t, i64_##as) LDX(kind, f, float, f32_##as) LDX(kind, f, double, f64_##as)
NVVM(void *, ldu_global_p_p0_p0)(void *const *p, uint32_t align) { (void)align; return *p; }
NVVM(void *, ldu_global_p_p0_p1)(void *const *p, uint32_t align) { (void)align; return *p; }
LDX_ALL(ldu, p0) LDX_ALL(ldu, p1) LDX_ALL(ldg, p0) LDX_ALL(ldg, p1)

/* One block is a cluster of one: a shared address maps to itself, its rank is 0. */
NVVM(void *, mapa)(void *p, uint32_t rank) { (void)rank; return p; }
NVVM(uint32_t, getctarank)(const void *p) { (void)p; return 0; }
NVVM(uint32_t, getctarank_shared_cluster)(const void *p) { (void)p; return 0; }
NVVM(void, griddepcontrol_launch_dependents)(void) {}
NVVM(void, griddepcontrol_wait)(void) {}
NVVM(void, pm_event_mask)(uint16_t mask) { (void)mask; }
NVVM(void, setmaxnreg_inc_sync_aligned_u32)(uint32_t n) { (void)n; }
NVVM(void, setmaxnreg_dec_sync_aligned_u32)(uint32_t n) { (void)n; }
