// Device properties, attributes of functions, occupancy, launch bounds.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

__global__ void __launch_bounds__(192, 2) bounded(float *out) {
  __shared__ float s[100];
  s[threadIdx.x % 100] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[99 - threadIdx.x % 100];
}
__constant__ int constants[16];
__global__ void plain(int *out) { *out = constants[threadIdx.x]; }

int main() {
  int count = 0, device = -1, v = 0;
  OK(cudaGetDeviceCount(&count));
  EXPECT(count >= 1);
  OK(cudaSetDevice(0));
  OK(cudaGetDevice(&device));
  EXPECT(device == 0);
  cudaDeviceProp p;
  OK(cudaGetDeviceProperties(&p, 0));
  EXPECT(p.warpSize == 32 && p.maxThreadsPerBlock == 1024 && p.maxThreadsDim[2] == 64 && p.maxGridSize[1] == 65535);
  EXPECT(p.sharedMemPerBlock == 48 * 1024 && p.sharedMemPerBlockOptin >= p.sharedMemPerBlock && p.totalConstMem == 65536);
  EXPECT(p.multiProcessorCount > 0 && p.totalGlobalMem > 0 && strlen(p.name) > 0 && p.major >= 7);
  EXPECT(p.maxThreadsPerMultiProcessor >= 1024 && p.regsPerBlock > 0 && p.unifiedAddressing && p.managedMemory);
  struct {
    cudaDeviceAttr attribute;
    int expected;
  } attributes[] = {{cudaDevAttrWarpSize, 32}, {cudaDevAttrMaxThreadsPerBlock, 1024}, {cudaDevAttrMaxBlockDimX, 1024},
                    {cudaDevAttrMaxSharedMemoryPerBlock, 49152}, {cudaDevAttrComputeCapabilityMajor, p.major},
                    {cudaDevAttrMultiProcessorCount, p.multiProcessorCount}, {cudaDevAttrMaxGridDimX, 0x7fffffff},
                    {cudaDevAttrUnifiedAddressing, 1}, {cudaDevAttrMaxSharedMemoryPerBlockOptin, int(p.sharedMemPerBlockOptin)}};
  for (auto &a : attributes) {
    OK(cudaDeviceGetAttribute(&v, a.attribute, 0));
    EXPECT_AT(a.attribute, v, a.expected);
  }
  EXPECT_ERROR(cudaGetDeviceProperties(&p, 77), cudaErrorInvalidDevice);
  EXPECT_ERROR(cudaDeviceGetAttribute(&v, cudaDeviceAttr(9999), 0), cudaErrorInvalidValue);
  cudaGetLastError();

  cudaFuncAttributes f;
  OK(cudaFuncGetAttributes(&f, bounded));
  EXPECT_AT(0, int(f.sharedSizeBytes), 400);
  EXPECT_AT(0, f.maxThreadsPerBlock, 192);
  EXPECT(f.numRegs > 0 && f.binaryVersion >= 70 && f.ptxVersion >= 60);
  OK(cudaFuncGetAttributes(&f, plain));
  EXPECT(f.maxThreadsPerBlock == 1024 && f.sharedSizeBytes == 0);

  int blocks = 0, grid = 0, size = 0;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 256, 0));
  EXPECT(blocks >= 1 && blocks * 256 <= p.maxThreadsPerMultiProcessor);
  int with_shared = 0;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&with_shared, plain, 256, 40000));
  EXPECT(with_shared >= 1 && with_shared <= blocks);
  OK(cudaOccupancyMaxPotentialBlockSize(&grid, &size, plain));
  EXPECT(grid >= 1 && size >= 32 && size <= 1024);
  OK(cudaOccupancyMaxPotentialBlockSize(&grid, &size, bounded));
  EXPECT(size <= 192);
  OK(cudaFuncSetCacheConfig(plain, cudaFuncCachePreferL1));
  size_t limit = 0;
  OK(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
  EXPECT(limit > 0);
  OK(cudaRuntimeGetVersion(&v));
  EXPECT(v >= 12000);
  OK(cudaDriverGetVersion(&v));
  EXPECT(v >= 12000);

  float *out = managed<float>(192);
  for (int i = 0; i < 100; ++i)
    out[i] = i;
  for (int i = 100; i < 192; ++i)
    out[i] = i - 100;
  bounded<<<1, 192>>>(out);
  finish_kernel();
  for (int i = 0; i < 192; ++i)
    EXPECT_AT(i, out[i], float(99 - i % 100));
  return result();
}
