/* The CPU ABI between generated code, this library and the runtime.
 *
 * Naming: `llvm.nvvm.a.b.c` is `__regrain_llvm_nvvm_a_b_c`; an overloaded name keeps its mangled
 * suffix (`llvm.nvvm.fabs.f32` -> `__regrain_llvm_nvvm_fabs_f32`). An intrinsic that returns a struct is
 * `<name>_out` and takes the address of the result first. A device symbol `s` is `__regrain_dev_s`, a
 * PTX instruction `a.b.c` is `__regrain_ptx_a_b_c`. Two 16-bit elements in a vector travel as one i32.
 */
#ifndef REGRAIN_ABI_H
#define REGRAIN_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "regrain_tls.h"

#define CONVERGENT __attribute__((convergent))

CONVERGENT void __regrain_barrier(uint32_t id, uint32_t nthreads);
CONVERGENT void __regrain_barrier_arrive(uint32_t id, uint32_t nthreads);
CONVERGENT uint32_t __regrain_barrier_red(uint32_t op, uint32_t id, uint32_t nthreads, uint32_t pred);
CONVERGENT uint32_t __regrain_warp_exchange(uint32_t mask, uint64_t value, uint64_t out[32]);
CONVERGENT uint32_t __regrain_active_mask(void);
CONVERGENT void __regrain_grid_barrier(void);
void __regrain_spin_hint(void);
int32_t __regrain_vprintf(const char *fmt, const void *args);
__attribute__((noreturn)) void __regrain_assertfail(const char *msg, const char *file, uint32_t line, const char *func, uint64_t charsize);
__attribute__((noreturn)) void __regrain_trap(void);
/* Ends the calling CUDA thread. */
__attribute__((noreturn)) void __regrain_exit_thread(void);
void *__regrain_malloc(uint64_t size);
void __regrain_free(void *ptr);
uint64_t __regrain_clock64(void);
uint64_t __regrain_globaltimer(void);
void __regrain_nanosleep(uint32_t ns);

/* Small functions are inlined into their callers, so that nothing of this library is left in a hot loop. */
#define INLINE __attribute__((always_inline))
#define NVVM(ret, name) INLINE ret __regrain_llvm_nvvm_##name
#define NVVM_SYNC(ret, name) CONVERGENT ret __regrain_llvm_nvvm_##name
#define DEV(ret, name) ret __regrain_dev_##name
#define PTX(ret, name) INLINE ret __regrain_ptx_##name
#define PTX_SYNC(ret, name) CONVERGENT ret __regrain_ptx_##name

#endif
