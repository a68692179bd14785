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
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2, cudaMemcpyDeviceToDevice = 3 };
enum cudaDeviceAttr {
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrPageableMemoryAccess = 88
};
typedef struct CUstream_st *cudaStream_t;

extern "C" {
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, unsigned long shared,
                             cudaStream_t stream);
int __cudaPushCallConfiguration(dim3 grid, dim3 block, unsigned long shared = 0, void *stream = 0);
int __cudaPopCallConfiguration(dim3 *grid, dim3 *block, unsigned long *shared, void *stream);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaGetLastError(void);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel, int threads, unsigned long shared);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaMalloc(void **memory, unsigned long bytes);
cudaError_t cudaFree(void *memory);
cudaError_t cudaMemcpy(void *to, const void *from, unsigned long bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, unsigned long bytes, unsigned long offset, cudaMemcpyKind kind);
void abort(void);

#define REGRAIN_DECLARE1(name) __device__ double __nv_##name(double); __device__ float __nv_##name##f(float);
#define REGRAIN_DECLARE2(name) __device__ double __nv_##name(double, double); __device__ float __nv_##name##f(float, float);
#define REGRAIN_ONE(of) \
  of(sqrt) of(exp) of(exp2) of(log) of(log2) of(log10) of(sin) of(cos) of(tan) of(asin) of(acos) of(atan) of(sinh) of(cosh) of(tanh)
#define REGRAIN_TWO(of) of(pow) of(atan2)
#define REGRAIN_BUILTIN_ONE(of) of(fabs) of(floor) of(ceil) of(trunc) of(rint) of(nearbyint) of(round)
#define REGRAIN_BUILTIN_TWO(of) of(copysign) of(fmin) of(fmax)
REGRAIN_ONE(REGRAIN_DECLARE1)
REGRAIN_TWO(REGRAIN_DECLARE2)
}

#if defined(__CUDA_ARCH__)
#define REGRAIN_DEFINE1(head, name) \
  static __device__ inline double name(double x) { return head##name(x); } \
  static __device__ inline float name##f(float x) { return head##name##f(x); }
#define REGRAIN_DEFINE2(head, name) \
  static __device__ inline double name(double x, double y) { return head##name(x, y); } \
  static __device__ inline float name##f(float x, float y) { return head##name##f(x, y); }
#define REGRAIN_NV1(name) REGRAIN_DEFINE1(__nv_, name)
#define REGRAIN_NV2(name) REGRAIN_DEFINE2(__nv_, name)
#define REGRAIN_OWN1(name) REGRAIN_DEFINE1(__builtin_, name)
#define REGRAIN_OWN2(name) REGRAIN_DEFINE2(__builtin_, name)
REGRAIN_ONE(REGRAIN_NV1)
REGRAIN_TWO(REGRAIN_NV2)
REGRAIN_BUILTIN_ONE(REGRAIN_OWN1)
REGRAIN_BUILTIN_TWO(REGRAIN_OWN2)
static __device__ inline double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
static __device__ inline float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
static __device__ inline int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
static __device__ inline float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
static __device__ inline long __double_as_longlong(double x) { return __builtin_bit_cast(long, x); }
static __device__ inline double __longlong_as_double(long x) { return __builtin_bit_cast(double, x); }
#else
/* On the host kernels are checked, not compiled. */
#define REGRAIN_SEEN1(name) __host__ __device__ double name(double); __host__ __device__ float name##f(float);
#define REGRAIN_SEEN2(name) __host__ __device__ double name(double, double); __host__ __device__ float name##f(float, float);
REGRAIN_ONE(REGRAIN_SEEN1)
REGRAIN_TWO(REGRAIN_SEEN2)
REGRAIN_BUILTIN_ONE(REGRAIN_SEEN1)
REGRAIN_BUILTIN_TWO(REGRAIN_SEEN2)
__host__ __device__ double fma(double, double, double);
__host__ __device__ float fmaf(float, float, float);
__device__ int __float_as_int(float);
__device__ float __int_as_float(int);
__device__ long __double_as_longlong(double);
__device__ double __longlong_as_double(long);
#endif

#endif
