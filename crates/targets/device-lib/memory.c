/* Fences, address spaces, scoped atomics, cp.async (done at once), prefetches (nothing to do), ldu. */
#define _GNU_SOURCE
#include "abi.h"
#include <link.h>

#define FENCE(name) \
  NVVM(void, name)(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
FENCE(membar_cta)
FENCE(membar_gl)
FENCE(membar_sys)
FENCE(fence_sc_cluster)
FENCE(fence_mbarrier_init_release_cluster)
FENCE(fence_proxy_alias)
FENCE(fence_proxy_async)
FENCE(fence_proxy_async_global)
FENCE(fence_proxy_async_shared_cta)
FENCE(fence_proxy_async_shared_cluster)
FENCE(fence_acquire_sync_restrict_space_cluster_scope_cluster)
FENCE(fence_release_sync_restrict_space_cta_scope_cluster)
FENCE(fence_proxy_async_generic_acquire_sync_restrict_space_cluster_scope_cluster)
FENCE(fence_proxy_async_generic_release_sync_restrict_space_cta_scope_cluster)

NVVM(void, exit)(void) { __regrain_exit_thread(); }

/* A 32-bit shared address is the low half of the flat address. The whole is put together again from what the block
 * owns: its dynamic shared memory, or else the thread-local storage in which static shared variables lie (within
 * 2 GiB of __regrain_tls). The runtime keeps the two apart modulo 4 GiB. */
INLINE void *__regrain_shared_pointer(uint32_t address) {
  uint32_t into_dynamic = address - (uint32_t)(uintptr_t)__regrain_tls.dynamic_shared;
  if (into_dynamic < __regrain_tls.dynamic_shared_size) return (char *)__regrain_tls.dynamic_shared + into_dynamic;
  char *near = (char *)&__regrain_tls;
  return near + (int32_t)(address - (uint32_t)(uintptr_t)near);
}

struct tls_search { uintptr_t address; bool found; };

static int in_tls_of(struct dl_phdr_info *info, size_t size, void *data) {
  struct tls_search *search = data;
  (void)size;
  if (!info->dlpi_tls_data) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i)
    if (info->dlpi_phdr[i].p_type == PT_TLS &&
        search->address - (uintptr_t)info->dlpi_tls_data < info->dlpi_phdr[i].p_memsz)
      return search->found = true;
  return 0;
}

/* Shared memory: the block's dynamic part, or this thread's thread-local storage. */
bool __regrain_is_shared(const void *ptr) {
  uintptr_t into_dynamic = (uintptr_t)ptr - (uintptr_t)__regrain_tls.dynamic_shared;
  if (into_dynamic < __regrain_tls.dynamic_shared_size) return true;
  struct tls_search search = {(uintptr_t)ptr, false};
  dl_iterate_phdr(in_tls_of, &search);
  return search.found;
}

/* Constant memory is ordinary global memory here. A local variable lies on this thread's stack. */
bool __regrain_is_local(const void *ptr);
NVVM(bool, isspacep_shared)(const void *ptr) { return __regrain_is_shared(ptr); }
NVVM(bool, isspacep_shared_cluster)(const void *ptr) { return __regrain_is_shared(ptr); }
NVVM(bool, isspacep_const)(const void *ptr) { (void)ptr; return false; }
NVVM(bool, isspacep_local)(const void *ptr) { return __regrain_is_local(ptr); }
NVVM(bool, isspacep_global)(const void *ptr) { return !__regrain_is_shared(ptr) && !__regrain_is_local(ptr); }

/* Atomics. Spin locks poll with them, so each one lets the other threads of the block go on now and then. */
#define RMW(name, type, builtin) \
  INLINE type __regrain_atomic_##name(type *p, type v) { __regrain_spin_hint(); return builtin(p, v, __ATOMIC_SEQ_CST); }
#define RMW_LOOP(name, type, bits_type, expr)                                                              \
  INLINE type __regrain_atomic_##name(type *p, type v) {                                                   \
    __regrain_spin_hint();                                                                                 \
    bits_type seen = __atomic_load_n((bits_type *)p, __ATOMIC_RELAXED);                                    \
    for (;;) {                                                                                             \
      type old = __builtin_bit_cast(type, seen), next = (expr);                                            \
      if (__atomic_compare_exchange_n((bits_type *)p, &seen, __builtin_bit_cast(bits_type, next), true,    \
                                      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))                                 \
        return old;                                                                                        \
    }                                                                                                      \
  }
#define CAS(name, type)                                                                                    \
  INLINE type __regrain_atomic_##name(type *p, type expected, type v) {                                    \
    __regrain_spin_hint();                                                                                 \
    __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);               \
    return expected;                                                                                       \
  }
#define BITWISE(w)                                              \
  RMW(add_u##w, uint##w##_t, __atomic_fetch_add)                \
  RMW(and_b##w, uint##w##_t, __atomic_fetch_and)                \
  RMW(or_b##w, uint##w##_t, __atomic_fetch_or)                  \
  RMW(xor_b##w, uint##w##_t, __atomic_fetch_xor)                \
  RMW(exch_b##w, uint##w##_t, __atomic_exchange_n)              \
  CAS(cas_b##w, uint##w##_t)                                    \
  RMW(min_s##w, int##w##_t, __atomic_fetch_min)                 \
  RMW(max_s##w, int##w##_t, __atomic_fetch_max)                 \
  RMW(min_u##w, uint##w##_t, __atomic_fetch_min)                \
  RMW(max_u##w, uint##w##_t, __atomic_fetch_max)                \
  RMW_LOOP(inc_u##w, uint##w##_t, uint##w##_t, old >= v ? 0 : old + 1) \
  RMW_LOOP(dec_u##w, uint##w##_t, uint##w##_t, old == 0 || old > v ? v : old - 1)
BITWISE(32)
BITWISE(64)
CAS(cas_b16, uint16_t)
RMW(exch_b16, uint16_t, __atomic_exchange_n)
RMW_LOOP(add_f32, float, uint32_t, old + v)
RMW_LOOP(add_f64, double, uint64_t, old + v)

#define SCOPED(scope)                                                                                                   \
  NVVM(uint32_t, atomic_add_gen_i_##scope##_i32_p0)(uint32_t *p, uint32_t v) { return __regrain_atomic_add_u32(p, v); } \
  NVVM(uint64_t, atomic_add_gen_i_##scope##_i64_p0)(uint64_t *p, uint64_t v) { return __regrain_atomic_add_u64(p, v); } \
  NVVM(float, atomic_add_gen_f_##scope##_f32_p0)(float *p, float v) { return __regrain_atomic_add_f32(p, v); }          \
  NVVM(double, atomic_add_gen_f_##scope##_f64_p0)(double *p, double v) { return __regrain_atomic_add_f64(p, v); }       \
  NVVM(uint16_t, atomic_cas_gen_i_##scope##_i16_p0)(uint16_t *p, uint16_t e, uint16_t v) { return __regrain_atomic_cas_b16(p, e, v); } \
  SCOPED_WIDTH(scope, 32) SCOPED_WIDTH(scope, 64)
#define SCOPED_WIDTH(scope, w)                                                                                          \
  NVVM(uint##w##_t, atomic_and_gen_i_##scope##_i##w##_p0)(uint##w##_t *p, uint##w##_t v) { return __regrain_atomic_and_b##w(p, v); } \
  NVVM(uint##w##_t, atomic_or_gen_i_##scope##_i##w##_p0)(uint##w##_t *p, uint##w##_t v) { return __regrain_atomic_or_b##w(p, v); } \
  NVVM(uint##w##_t, atomic_xor_gen_i_##scope##_i##w##_p0)(uint##w##_t *p, uint##w##_t v) { return __regrain_atomic_xor_b##w(p, v); } \
  NVVM(uint##w##_t, atomic_exch_gen_i_##scope##_i##w##_p0)(uint##w##_t *p, uint##w##_t v) { return __regrain_atomic_exch_b##w(p, v); } \
  NVVM(int##w##_t, atomic_min_gen_i_##scope##_i##w##_p0)(int##w##_t *p, int##w##_t v) { return __regrain_atomic_min_s##w(p, v); } \
  NVVM(int##w##_t, atomic_max_gen_i_##scope##_i##w##_p0)(int##w##_t *p, int##w##_t v) { return __regrain_atomic_max_s##w(p, v); } \
  NVVM(uint##w##_t, atomic_inc_gen_i_##scope##_i##w##_p0)(uint##w##_t *p, uint##w##_t v) { return __regrain_atomic_inc_u##w(p, v); } \
  NVVM(uint##w##_t, atomic_dec_gen_i_##scope##_i##w##_p0)(uint##w##_t *p, uint##w##_t v) { return __regrain_atomic_dec_u##w(p, v); } \
  NVVM(uint##w##_t, atomic_cas_gen_i_##scope##_i##w##_p0)(uint##w##_t *p, uint##w##_t e, uint##w##_t v) { return __regrain_atomic_cas_b##w(p, e, v); }
SCOPED(cta)
SCOPED(sys)

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
