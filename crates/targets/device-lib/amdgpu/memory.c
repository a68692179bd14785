/* Fences and address spaces. */
#include "abi.h"

#define FENCE(name, scope) \
  NVVM(void, name)(void) { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, scope); }
FENCE(membar_cta, "workgroup")
FENCE(membar_gl, "agent")
FENCE(membar_sys, "")
FENCE(fence_sc_cluster, "agent")
FENCE(fence_mbarrier_init_release_cluster, "agent")
FENCE(fence_proxy_alias, "agent")
FENCE(fence_proxy_async, "agent")
FENCE(fence_proxy_async_global, "agent")
FENCE(fence_proxy_async_shared_cta, "agent")
FENCE(fence_proxy_async_shared_cluster, "agent")
FENCE(fence_acquire_sync_restrict_space_cluster_scope_cluster, "agent")
FENCE(fence_release_sync_restrict_space_cta_scope_cluster, "agent")
FENCE(fence_proxy_async_generic_acquire_sync_restrict_space_cluster_scope_cluster, "agent")
FENCE(fence_proxy_async_generic_release_sync_restrict_space_cta_scope_cluster, "agent")

/* Other threads of the block run on their own: nobody needs to be told of a loop that waits. */
INLINE void __regrain_spin_hint(void) {}

INLINE void *__regrain_shared_pointer(uint32_t address) { return (void *)(SPACE(3) void *)address; }

#define IS_SHARED(p) __builtin_amdgcn_is_shared((const SPACE(0) void *)(p))
#define IS_PRIVATE(p) __builtin_amdgcn_is_private((const SPACE(0) void *)(p))
NVVM(bool, isspacep_shared)(const void *ptr) { return IS_SHARED(ptr); }
NVVM(bool, isspacep_shared_cluster)(const void *ptr) { return IS_SHARED(ptr); }
NVVM(bool, isspacep_const)(const void *ptr) { (void)ptr; return false; }
NVVM(bool, isspacep_local)(const void *ptr) { return IS_PRIVATE(ptr); }
NVVM(bool, isspacep_global)(const void *ptr) { return !IS_SHARED(ptr) && !IS_PRIVATE(ptr); }
