/* What the files of AMD's library share. Intrinsics alone, no inline assembly: the same code is executed where it is emulated.
 *
 * A warp of CUDA is 32 lanes: a wave, or either half of one of 64.
 */
#ifndef REGRAIN_ABI_H
#define REGRAIN_ABI_H

#include "names.h"

/* A call would cost more than any of these. */
#undef NVVM_SYNC
#undef PTX_SYNC
#define NVVM_SYNC(ret, name) CONVERGENT INLINE ret __regrain_llvm_nvvm_##name
#define PTX_SYNC(ret, name) CONVERGENT INLINE ret __regrain_ptx_##name

#define SPACE(n) __attribute__((address_space(n)))
/* A variable or a function of this library that takes part in the program's name space. */
#define DEV(ret, name) ret name

#define BEFORE_ATOMIC (void)0
#define NAMED_ORDER __ATOMIC_RELAXED

/* Some builtins are for one width of waves; the intrinsics are for both. */
CONVERGENT uint64_t wave_ballot(bool) __asm__("llvm.amdgcn.ballot.i64");

/* Control constants, which are given their values where the library is linked. */
extern const SPACE(4) int32_t __oclc_ABI_version;
/* Nanoseconds of a tick of the steady counter. */
extern const SPACE(4) int32_t __oclc_regrain_steady_nanoseconds;

static INLINE uint32_t wave_lane(void) { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)); }
static INLINE uint32_t lane_id(void) { return wave_lane() & 31; }

/* Of the lanes of one's own warp that are here now, those for which `pred` holds. */
CONVERGENT static INLINE uint32_t warp_ballot(bool pred) { return (uint32_t)(wave_ballot(pred) >> (wave_lane() & 32)); }
CONVERGENT static INLINE uint32_t active_mask(void) { return warp_ballot(true); }

/* The value of a lane of one's own warp; 0 of a lane that is not here. */
CONVERGENT static INLINE uint32_t warp_read(uint32_t value, uint32_t lane) {
  return (uint32_t)__builtin_amdgcn_ds_bpermute((int)(((wave_lane() & 32) | lane) << 2), (int)value);
}

/* AMD's mathematical library. */
float __ocml_rsqrt_f32(float), __ocml_tanh_f32(float);
double __ocml_rsqrt_f64(double), __ocml_log2_f64(double), __ocml_exp2_f64(double);
#define RSQRT_F32(x) __ocml_rsqrt_f32(x)
#define RSQRT_F64(x) __ocml_rsqrt_f64(x)
#define LOG2_F64(x) __ocml_log2_f64(x)
#define EXP2_F64(x) __ocml_exp2_f64(x)
#define TANH_F32(x) __ocml_tanh_f32(x)
#define SIN_F32(x) __builtin_sinf(x)
#define COS_F32(x) __builtin_cosf(x)
#define LOG2_F32(x) __builtin_log2f(x)
#define EXP2_F32(x) __builtin_exp2f(x)

CONVERGENT static INLINE void block_barrier(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

uint32_t __regrain_llvm_nvvm_read_ptx_sreg_nwarpid(void);
__attribute__((noreturn)) void __regrain_trap(void);

#endif
