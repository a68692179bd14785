/* What nvcc gives each CUDA source beyond what clang does. The driver includes it behind clang's wrapper of CUDA's headers,
 * before all else; it is no user's to include. */
#ifndef __REGRAIN_NVCC_H__
#define __REGRAIN_NVCC_H__

/* nvcc's cuda_runtime.h includes these. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if __cplusplus >= 201103L
#include <utility>
#endif
/* --extended-lambda: cuda_runtime.h would include it where a kernel's malloc is not declared yet, and clang's operator new then
 * calls the host's. */
#ifdef __REGRAIN_EXTENDED_LAMBDA__
#include <functional>
#endif

#ifndef __CUDA_API_VER_MAJOR__
#define __CUDA_API_VER_MAJOR__ __CUDACC_VER_MAJOR__
#endif
#ifndef __CUDA_API_VER_MINOR__
#define __CUDA_API_VER_MINOR__ __CUDACC_VER_MINOR__
#endif

/* Sources ask for its value; clang's wrapper leaves it without one. */
#undef __CUDACC__
#define __CUDACC__ 1

/* clang always has what these options of nvcc turn on. */
#ifndef __CUDACC_EXTENDED_LAMBDA__
#define __CUDACC_EXTENDED_LAMBDA__ 1
#endif
#ifndef __CUDACC_RELAXED_CONSTEXPR__
#define __CUDACC_RELAXED_CONSTEXPR__ 1
#endif

/* clang has managed variables for HIP alone: the compiler finds them by the annotation. */
#undef __managed__
#define __managed__ __attribute__((device)) __attribute__((annotate("regrain.managed")))

/* What these declare is there, as with nvcc; clang's wrapper includes what they would define it by, past their guards. */
#ifndef __SM_20_ATOMIC_FUNCTIONS_H__
#define __SM_20_ATOMIC_FUNCTIONS_H__
#endif
#ifndef __SM_20_INTRINSICS_H__
#define __SM_20_INTRINSICS_H__
#endif
#ifndef __SM_32_ATOMIC_FUNCTIONS_H__
#define __SM_32_ATOMIC_FUNCTIONS_H__
#endif
#ifndef __SM_35_ATOMIC_FUNCTIONS_H__
#define __SM_35_ATOMIC_FUNCTIONS_H__
#endif
#ifndef __SM_60_ATOMIC_FUNCTIONS_H__
#define __SM_60_ATOMIC_FUNCTIONS_H__
#endif
#ifndef __SM_61_INTRINSICS_H__
#define __SM_61_INTRINSICS_H__
#endif

/* clang declares these two for the device and leaves them to nobody. */
static __inline__ __attribute__((always_inline)) __attribute__((device)) double nan(const char *tag) {
  return __nv_nan((const signed char *)tag);
}
static __inline__ __attribute__((always_inline)) __attribute__((device)) float nanf(const char *tag) {
  return __nv_nanf((const signed char *)tag);
}

/* Of the runtime for device code CUDA's header declares these, and nvcc itself defines them. */
#ifdef __cplusplus
template <typename T> static __inline__ __attribute__((device)) cudaError_t cudaMalloc(T **place, size_t size) {
  return cudaMalloc((void **)(void *)place, size);
}
template <typename T>
static __inline__ __attribute__((device)) cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, T *kernel) {
  return cudaFuncGetAttributes(attributes, (const void *)kernel);
}
template <typename T>
static __inline__ __attribute__((device)) cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    int *count, T kernel, int threads, size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(count, (const void *)kernel, threads, shared);
}
template <typename T>
static __inline__ __attribute__((device)) cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *count, T kernel, int threads, size_t shared, unsigned int flags) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(count, (const void *)kernel, threads, shared, flags);
}
/* clang's host side is told of a chip that has it no more. */
#if defined(CUDA_FORCE_CDP1_IF_SUPPORTED) && !defined(__CUDA_ARCH__)
extern "C" __attribute__((device)) cudaError_t cudaDeviceSynchronize(void);
#endif
#endif

/* Some functions go by one name in all versions of CUDA and are others: the runtime asks which of them a program calls, and takes
 * those of CUDA 12 where nothing is said. */
#if CUDART_VERSION / 1000 != 12 && !defined(__CUDA_ARCH__)
extern "C" {
__attribute__((weak, used)) extern const unsigned __regrain_cuda_version;
const unsigned __regrain_cuda_version = CUDART_VERSION;
}
#endif

#include <__regrain_host_min_max.h>
#include <__regrain_nv_atomic.h>

#endif
