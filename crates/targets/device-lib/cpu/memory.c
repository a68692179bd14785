/* Fences and address spaces. */
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
 * owns: its dynamic shared memory, or else the thread-local storage of the program or library in which static shared
 * variables lie (within 2 GiB of one of its own). The runtime keeps the two apart modulo 4 GiB. */
static _Thread_local char beside_shared;

INLINE void *__regrain_shared_pointer(uint32_t address) {
  uint32_t into_dynamic = address - (uint32_t)(uintptr_t)__regrain_tls.dynamic_shared;
  if (into_dynamic < __regrain_tls.dynamic_shared_size) return (char *)__regrain_tls.dynamic_shared + into_dynamic;
  char *near = &beside_shared;
  return near + (int32_t)(address - (uint32_t)(uintptr_t)near);
}

/* Where this thread's thread-local variables lie that belong to the program or library of this code: shared variables are among them. Asked for once,
 * for the C library goes through all that is loaded. */
static _Thread_local uintptr_t variables_begin, variables_size;

static int find_variables(struct dl_phdr_info *info, size_t size, void *data) {
  (void)size, (void)data;
  uintptr_t begin = (uintptr_t)info->dlpi_tls_data;
  if (!begin) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    uintptr_t memory = info->dlpi_phdr[i].p_memsz;
    if (info->dlpi_phdr[i].p_type != PT_TLS || (uintptr_t)&beside_shared - begin >= memory) continue;
    variables_begin = begin, variables_size = memory;
    return true;
  }
  return 0;
}

/* Shared memory: the block's dynamic part, or this thread's thread-local storage. */
bool __regrain_is_shared(const void *ptr) {
  uintptr_t into_dynamic = (uintptr_t)ptr - (uintptr_t)__regrain_tls.dynamic_shared;
  if (into_dynamic < __regrain_tls.dynamic_shared_size) return true;
  if (!variables_size) dl_iterate_phdr(find_variables, 0);
  return (uintptr_t)ptr - variables_begin < variables_size;
}

/* Constant memory is ordinary global memory here. A local variable lies on this thread's stack. */
bool __regrain_is_local(const void *ptr);
NVVM(bool, isspacep_shared)(const void *ptr) { return __regrain_is_shared(ptr); }
NVVM(bool, isspacep_shared_cluster)(const void *ptr) { return __regrain_is_shared(ptr); }
NVVM(bool, isspacep_const)(const void *ptr) { (void)ptr; return false; }
NVVM(bool, isspacep_local)(const void *ptr) { return __regrain_is_local(ptr); }
NVVM(bool, isspacep_global)(const void *ptr) { return !__regrain_is_shared(ptr) && !__regrain_is_local(ptr); }
