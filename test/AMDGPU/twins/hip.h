// The part of HIP that the twins use, so that they compile without HIP's headers: what those define for the device, in their words.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))

using size_t = decltype(sizeof(int));

// As HIP's headers: coordinates are builtins behind properties.
#define REGRAIN_COORDINATES(NAME, BUILTIN)                                                                             \
  struct NAME##_t {                                                                                                    \
    __declspec(property(get = get_x)) unsigned x;                                                                      \
    __declspec(property(get = get_y)) unsigned y;                                                                      \
    __declspec(property(get = get_z)) unsigned z;                                                                      \
    __device__ unsigned get_x() const { return BUILTIN##_x(); }                                                        \
    __device__ unsigned get_y() const { return BUILTIN##_y(); }                                                        \
    __device__ unsigned get_z() const { return BUILTIN##_z(); }                                                        \
  };                                                                                                                   \
  static constexpr __device__ NAME##_t NAME {}
REGRAIN_COORDINATES(threadIdx, __builtin_amdgcn_workitem_id);
REGRAIN_COORDINATES(blockIdx, __builtin_amdgcn_workgroup_id);
#undef REGRAIN_COORDINATES

// As `__work_group_barrier` with fences on both sides.
__device__ static inline void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

__device__ static inline int min(int a, int b) { return a < b ? a : b; }
__device__ static inline int max(int a, int b) { return a > b ? a : b; }
__device__ static inline float fminf(float a, float b) { return __builtin_fminf(a, b); }
__device__ static inline float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
