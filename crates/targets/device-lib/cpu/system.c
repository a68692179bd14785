/* What device code calls as plain functions (printf, malloc, assert ...), sleeping, exit, and grid barriers. */
#include "abi.h"

int snprintf(char *, size_t, const char *, ...);

DEV(int32_t, vprintf)(const char *fmt, const void *args) { return __regrain_vprintf(fmt, args); }
DEV(void *, malloc)(uint64_t size) { return __regrain_malloc(size); }
DEV(void, free)(void *ptr) { __regrain_free(ptr); }

DEV(void *, calloc)(uint64_t n, uint64_t size) {
  uint64_t bytes;
  if (__builtin_mul_overflow(n, size, &bytes)) return NULL;
  void *ptr = __regrain_malloc(bytes);
  if (ptr) __builtin_memset(ptr, 0, bytes);
  return ptr;
}

DEV(void, __assertfail)(const char *msg, const char *file, uint32_t line, const char *func, uint64_t charsize) {
  __regrain_assertfail(msg, file, line, func, charsize);
}
DEV(void, __assert_fail)(const char *msg, const char *file, uint32_t line, const char *func) {
  __regrain_assertfail(msg, file, line, func, 1);
}
/* What the source asks for and this target has not. */
void __regrain_lacks(const char *what) { __regrain_unsupported(what); }
/* The block at hand runs in one function: names the thread that is about to fail. */
void __regrain_set_thread(uint32_t x, uint32_t y, uint32_t z) {
  __regrain_tls.tid[0] = x, __regrain_tls.tid[1] = y, __regrain_tls.tid[2] = z;
}
DEV(void, __nv_abort)(void) { __regrain_trap(); }
DEV(void, abort)(void) { __regrain_trap(); }
DEV(void, __cxa_pure_virtual)(void) { __regrain_trap(); }

DEV(void *, memcpy)(void *to, const void *from, size_t n) { return __builtin_memcpy(to, from, n); }
DEV(void *, memmove)(void *to, const void *from, size_t n) { return __builtin_memmove(to, from, n); }
DEV(void *, memset)(void *to, int value, size_t n) { return __builtin_memset(to, value, n); }
DEV(int, memcmp)(const void *a, const void *b, size_t n) { return __builtin_memcmp(a, b, n); }

/* operator new and delete, all the forms that return or take a plain size. */
DEV(void *, _Znwm)(uint64_t size) { return __regrain_malloc(size); }
DEV(void *, _Znam)(uint64_t size) { return __regrain_malloc(size); }
DEV(void, _ZdlPv)(void *ptr) { __regrain_free(ptr); }
DEV(void, _ZdaPv)(void *ptr) { __regrain_free(ptr); }
DEV(void, _ZdlPvm)(void *ptr, uint64_t size) { (void)size; __regrain_free(ptr); }
DEV(void, _ZdaPvm)(void *ptr, uint64_t size) { (void)size; __regrain_free(ptr); }

DEV(void, __nanosleep)(uint32_t ns) { __regrain_nanosleep(ns); }
NVVM(void, nanosleep)(uint32_t ns) { __regrain_nanosleep(ns); }
PTX(void, nanosleep_u32)(uint32_t ns) { __regrain_nanosleep(ns); }

/* Grid-wide synchronisation of cooperative groups. The lowering sends the calls of the toolkit's headers, which spin
 * on a word of the driver's, here: arriving alone does nothing, waiting is the whole barrier. */
CONVERGENT uint32_t __regrain_grid_barrier_arrive(volatile uint32_t *arrived) {
  (void)arrived;
  return 0;
}
CONVERGENT void __regrain_grid_barrier_wait(uint32_t token, volatile uint32_t *arrived) {
  (void)token;
  (void)arrived;
  __regrain_grid_barrier();
}
DEV(int32_t, cudaCGSynchronizeGrid)(uint64_t handle, uint32_t flags) {
  (void)handle;
  (void)flags;
  __regrain_grid_barrier();
  return 0;
}
DEV(uint64_t, cudaCGGetIntrinsicHandle)(int32_t scope) { return (uint64_t)scope; }
