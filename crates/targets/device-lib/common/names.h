/* How functions of the device libraries are called, for all targets.
 *
 * `llvm.nvvm.a.b.c` is `__regrain_llvm_nvvm_a_b_c`; an overloaded name keeps its mangled suffix (`llvm.nvvm.fabs.f32` ->
 * `__regrain_llvm_nvvm_fabs_f32`). An intrinsic that returns a struct is `<name>_out` and takes the address of the result
 * first. A PTX instruction `a.b.c` is `__regrain_ptx_a_b_c`. Two 16-bit elements in a vector travel as one i32. libdevice's
 * functions keep their names. Each target's `abi.h` includes this.
 */
#ifndef REGRAIN_NAMES_H
#define REGRAIN_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONVERGENT __attribute__((convergent))

/* Small functions are inlined into their callers, so that nothing of this library is left in a hot loop. */
#define INLINE __attribute__((always_inline))
#define NVVM(ret, name) INLINE ret __regrain_llvm_nvvm_##name
#define NVVM_SYNC(ret, name) CONVERGENT ret __regrain_llvm_nvvm_##name
#define PTX(ret, name) INLINE ret __regrain_ptx_##name
#define PTX_SYNC(ret, name) CONVERGENT ret __regrain_ptx_##name

#endif
