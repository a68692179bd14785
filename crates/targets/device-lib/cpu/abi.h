/* The CPU ABI between generated code, this library and the runtime.
 *
 * A device symbol `s` is `__regrain_dev_s`.
 */
#ifndef REGRAIN_ABI_H
#define REGRAIN_ABI_H

#include "names.h"
#include "regrain_tls.h"

CONVERGENT void __regrain_barrier(uint32_t id, uint32_t nthreads);
CONVERGENT void __regrain_barrier_arrive(uint32_t id, uint32_t nthreads);
CONVERGENT uint32_t __regrain_barrier_red(uint32_t op, uint32_t id, uint32_t nthreads, uint32_t pred);
CONVERGENT uint32_t __regrain_warp_exchange(uint32_t mask, uint64_t value, uint64_t out[32]);
CONVERGENT uint32_t __regrain_active_mask(void);
CONVERGENT void __regrain_grid_barrier(void);
void __regrain_spin_hint(void);
int32_t __regrain_vprintf(const char *fmt, const void *args);
__attribute__((noreturn)) void __regrain_unsupported(const char *what);
__attribute__((noreturn)) void __regrain_assertfail(const char *msg, const char *file, uint32_t line, const char *func, uint64_t charsize);
__attribute__((noreturn)) void __regrain_trap(void);
/* Ends the calling CUDA thread. */
__attribute__((noreturn)) void __regrain_exit_thread(void);
void *__regrain_malloc(uint64_t size);
void __regrain_free(void *ptr);
uint64_t __regrain_clock64(void);
uint64_t __regrain_globaltimer(void);
void __regrain_nanosleep(uint32_t ns);

/* Spin locks poll with atomics, so each one lets the other threads of the block go on now and then. */
#define BEFORE_ATOMIC __regrain_spin_hint()
#define NAMED_ORDER __ATOMIC_SEQ_CST

#define DEV(ret, name) ret __regrain_dev_##name

/* What the hardware has as an approximation, and is computed in full here. */
#define RSQRT_F32(x) (1.0f / __builtin_sqrtf(x))
#define RSQRT_F64(x) (1.0 / __builtin_sqrt(x))
#define LOG2_F64(x) __nv_log2(x)
#define EXP2_F64(x) __nv_exp2(x)
#define TANH_F32(x) __nv_tanhf(x)
#define SIN_F32(x) __nv_sinf(x)
#define COS_F32(x) __nv_cosf(x)
#define LOG2_F32(x) __nv_log2f(x)
#define EXP2_F32(x) __nv_exp2f(x)

/* Of `../lanes`. */
float __nv_expf(float), __nv_exp2f(float), __nv_exp10f(float), __nv_logf(float), __nv_log2f(float), __nv_log10f(float);
float __nv_sinf(float), __nv_cosf(float), __nv_tanf(float), __nv_tanhf(float);
double __nv_exp2(double), __nv_log2(double), __nv_sin(double), __nv_cos(double);

#endif
