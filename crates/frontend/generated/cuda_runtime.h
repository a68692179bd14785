/* cuda_runtime.h - as much of it as generated code takes: clang reads this one faster than NVIDIA's. */

#ifndef REGRAIN_GENERATED_CUDA_RUNTIME_H
#define REGRAIN_GENERATED_CUDA_RUNTIME_H

#define __constant__ __attribute__((constant))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};

#include "__clang_cuda_builtin_vars.h"

enum cudaError_t { cudaSuccess = 0 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };
enum cudaDeviceAttr { cudaDevAttrPageableMemoryAccess = 88 };
typedef struct CUstream_st *cudaStream_t;

extern "C" {
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, unsigned long shared,
                             cudaStream_t stream);
int __cudaPushCallConfiguration(dim3 grid, dim3 block, unsigned long shared = 0, void *stream = 0);
int __cudaPopCallConfiguration(dim3 *grid, dim3 *block, unsigned long *shared, void *stream);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaGetLastError(void);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaMalloc(void **memory, unsigned long bytes);
cudaError_t cudaFree(void *memory);
cudaError_t cudaMemcpy(void *to, const void *from, unsigned long bytes, cudaMemcpyKind kind);
void abort(void);

__device__ double __nv_sqrt(double);
__device__ float __nv_sqrtf(float);
}

#if defined(__CUDA_ARCH__)
static __device__ inline double sqrt(double x) { return __nv_sqrt(x); }
static __device__ inline float sqrtf(float x) { return __nv_sqrtf(x); }
static __device__ inline double fabs(double x) { return __builtin_fabs(x); }
static __device__ inline float fabsf(float x) { return __builtin_fabsf(x); }
static __device__ inline double floor(double x) { return __builtin_floor(x); }
static __device__ inline float floorf(float x) { return __builtin_floorf(x); }
static __device__ inline double ceil(double x) { return __builtin_ceil(x); }
static __device__ inline float ceilf(float x) { return __builtin_ceilf(x); }
static __device__ inline double trunc(double x) { return __builtin_trunc(x); }
static __device__ inline float truncf(float x) { return __builtin_truncf(x); }
static __device__ inline double copysign(double x, double y) { return __builtin_copysign(x, y); }
static __device__ inline float copysignf(float x, float y) { return __builtin_copysignf(x, y); }
static __device__ inline double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
static __device__ inline float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
#else
/* On the host kernels are checked, not compiled. */
__host__ __device__ double sqrt(double), fabs(double), floor(double), ceil(double), trunc(double);
__host__ __device__ float sqrtf(float), fabsf(float), floorf(float), ceilf(float), truncf(float);
__host__ __device__ double copysign(double, double), fma(double, double, double);
__host__ __device__ float copysignf(float, float), fmaf(float, float, float);
#endif

#endif
