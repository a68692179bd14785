// What the one device of the CPU says of itself, of peers that it has not, of pools, and of launches that ask for more.
// CPU-ONLY: the answers are the CPU's own.
// RUN: %regrain -O3 --offload-arch=cpu %s -o %t && timeout 60 %t | FileCheck %s
#include "check.h"
#include <cuda.h>
#include <cstdint>

static int attribute(cudaDeviceAttr which) {
  int value = -7;
  OK(cudaDeviceGetAttribute(&value, which, 0));
  return value;
}

static void peers() {
  int can = 7, value = 7;
  OK(cudaDeviceCanAccessPeer(&can, 0, 0));
  EXPECT(can == 0);
  EXPECT_ERROR(cudaDeviceCanAccessPeer(&can, 0, 1), cudaErrorInvalidDevice);
  EXPECT_ERROR(cudaDeviceCanAccessPeer(&can, -1, 0), cudaErrorInvalidDevice);
  for (int twice = 0; twice < 2; ++twice) EXPECT_ERROR(cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice);
  EXPECT_ERROR(cudaDeviceEnablePeerAccess(1, 0), cudaErrorInvalidDevice);
  EXPECT_ERROR(cudaDeviceEnablePeerAccess(0, 1), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
  EXPECT_ERROR(cudaDeviceDisablePeerAccess(1), cudaErrorInvalidDevice);
  EXPECT_ERROR(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1), cudaErrorInvalidDevice);
}

static void attributes() {
  EXPECT(attribute(cudaDevAttrCooperativeLaunch) == 1 && attribute(cudaDevAttrCooperativeMultiDeviceLaunch) == 0);
  EXPECT_ERROR(cudaLaunchCooperativeKernelMultiDevice(nullptr, 0, 0), cudaErrorNotSupported);
  EXPECT(attribute(cudaDevAttrMemoryPoolsSupported) == 1 && attribute(cudaDevAttrMemoryPoolSupportedHandleTypes) == 0);
  EXPECT(attribute(cudaDevAttrClusterLaunch) == 0 && attribute(cudaDevAttrSparseCudaArraySupported) == 0);
  EXPECT(attribute(cudaDevAttrMaxPersistingL2CacheSize) == 0 && attribute(cudaDevAttrTimelineSemaphoreInteropSupported) == 0);
  EXPECT(attribute(cudaDevAttrGPUDirectRDMASupported) == 0 && attribute(cudaDevAttrCanFlushRemoteWrites) == 0);
  int value;
  EXPECT_ERROR(cudaDeviceGetAttribute(&value, cudaDeviceAttr(0), 0), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaDeviceGetAttribute(&value, cudaDeviceAttr(100000), 0), cudaErrorInvalidValue);
  // What the driver says of virtual memory holds: it can be had.
  CUmemAllocationProp wanted = {};
  wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED, wanted.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  size_t granularity = 0;
  CUmemGenericAllocationHandle memory;
  EXPECT(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0) == CUDA_SUCCESS && value == 1);
  EXPECT(cuMemGetAllocationGranularity(&granularity, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM) == CUDA_SUCCESS && granularity);
  EXPECT(cuMemCreate(&memory, granularity, &wanted, 0) == CUDA_SUCCESS && cuMemRelease(memory) == CUDA_SUCCESS);
  EXPECT(cuMemCreate(&memory, granularity / 2, &wanted, 0) == CUDA_ERROR_INVALID_VALUE);
  wanted.location.id = 1;
  EXPECT(cuMemCreate(&memory, granularity, &wanted, 0) == CUDA_ERROR_INVALID_DEVICE);
  EXPECT(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0) == CUDA_SUCCESS && value == 0);
  CUmulticastObjectProp group = {};
  EXPECT(cuMulticastCreate(&memory, &group) == CUDA_ERROR_NOT_SUPPORTED);
}

static void entry_points() {
  void *found = &found;
  cudaDriverEntryPointQueryResult status;
  OK(cudaGetDriverEntryPoint("cuMemAlloc", &found, cudaEnableDefault, &status));
  EXPECT(found == (void *)cuMemAlloc && status == cudaDriverEntryPointSuccess);
  OK(cudaGetDriverEntryPoint("cuNobodyHasThis", &found, cudaEnableDefault, &status));
  EXPECT(found == nullptr && status == cudaDriverEntryPointSymbolNotFound);
  found = &found;
  OK(cudaGetDriverEntryPoint("cuNobodyHasThis", &found, cudaEnableDefault, nullptr));
  EXPECT(found == nullptr);
  EXPECT_ERROR(cudaGetDriverEntryPoint(nullptr, &found, cudaEnableDefault, &status), cudaErrorInvalidValue);
}

static uint64_t amount(cudaMemPool_t pool, cudaMemPoolAttr which) {
  uint64_t value = ~0ull;
  OK(cudaMemPoolGetAttribute(pool, which, &value));
  return value;
}

static void pools() {
  cudaMemPool_t pool, usual;
  cudaMemPoolProps wanted = {};
  wanted.allocType = cudaMemAllocationTypePinned, wanted.location = {cudaMemLocationTypeDevice, 0};
  OK(cudaMemPoolCreate(&pool, &wanted));
  OK(cudaDeviceGetDefaultMemPool(&usual, 0));
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  void *first, *second, *third;
  uint64_t before = amount(usual, cudaMemPoolAttrUsedMemCurrent);
  OK(cudaMallocFromPoolAsync(&first, 1000, pool, stream));
  OK(cudaMallocFromPoolAsync(&second, 5000, pool, stream));
  OK(cudaMallocAsync(&third, 300, stream));
  EXPECT(amount(pool, cudaMemPoolAttrUsedMemCurrent) == 6000 && amount(pool, cudaMemPoolAttrUsedMemHigh) == 6000);
  EXPECT(amount(usual, cudaMemPoolAttrUsedMemCurrent) == before + 300);
  OK(cudaFreeAsync(second, stream));
  OK(cudaStreamSynchronize(stream));
  EXPECT(amount(pool, cudaMemPoolAttrUsedMemCurrent) == 1000 && amount(pool, cudaMemPoolAttrReservedMemCurrent) >= 1000);
  EXPECT(amount(pool, cudaMemPoolAttrUsedMemHigh) == 6000 && amount(pool, cudaMemPoolAttrReservedMemHigh) >= 6000);
  uint64_t value = 0;
  OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &value));
  EXPECT(amount(pool, cudaMemPoolAttrUsedMemHigh) == 1000);
  EXPECT_ERROR(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &value), cudaErrorInvalidValue);
  value = 9;
  EXPECT_ERROR(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &value), cudaErrorInvalidValue);
  // The pool that the device takes memory from.
  OK(cudaDeviceSetMemPool(0, pool));
  OK(cudaMallocAsync(&second, 200, stream));
  EXPECT(amount(pool, cudaMemPoolAttrUsedMemCurrent) == 1200);
  // Freed by the call that waits for all.
  OK(cudaFree(second));
  EXPECT(amount(pool, cudaMemPoolAttrUsedMemCurrent) == 1000);
  OK(cudaDeviceSetMemPool(0, usual));

  cudaMemAccessFlags flags;
  cudaMemLocation here = {cudaMemLocationTypeDevice, 0}, elsewhere = {cudaMemLocationTypeDevice, 1}, host = {cudaMemLocationTypeHost, 0};
  OK(cudaMemPoolGetAccess(&flags, pool, &here));
  EXPECT(flags == cudaMemAccessFlagsProtReadWrite);
  OK(cudaMemPoolGetAccess(&flags, pool, &host));
  EXPECT(flags == cudaMemAccessFlagsProtNone);
  EXPECT_ERROR(cudaMemPoolGetAccess(&flags, pool, &elsewhere), cudaErrorInvalidDevice);
  cudaMemAccessDesc access = {here, cudaMemAccessFlagsProtReadWrite};
  OK(cudaMemPoolSetAccess(pool, &access, 1));
  access.flags = cudaMemAccessFlagsProtNone;
  EXPECT_ERROR(cudaMemPoolSetAccess(pool, &access, 1), cudaErrorInvalidValue);
  access = {elsewhere, cudaMemAccessFlagsProtReadWrite};
  EXPECT_ERROR(cudaMemPoolSetAccess(pool, &access, 1), cudaErrorInvalidDevice);
  access.location = host;
  EXPECT_ERROR(cudaMemPoolSetAccess(pool, &access, 1), cudaErrorNotSupported);
  wanted.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  cudaMemPool_t shared;
  EXPECT_ERROR(cudaMemPoolCreate(&shared, &wanted), cudaErrorNotSupported);
  EXPECT_ERROR(cudaMemPoolExportToShareableHandle(&value, pool, cudaMemHandleTypePosixFileDescriptor, 0), cudaErrorNotSupported);
  OK(cudaFreeAsync(first, stream));
  OK(cudaFreeAsync(third, stream));
  OK(cudaStreamSynchronize(stream));
  EXPECT(amount(usual, cudaMemPoolAttrUsedMemCurrent) == before);
  OK(cudaMemPoolDestroy(pool));
  OK(cudaStreamDestroy(stream));
}

__global__ void add(int *p) { atomicAdd(p, 1); }

static void launches() {
  int *sum = managed<int>(1);
  cudaStream_t stream;
  cudaEvent_t started, ended;
  OK(cudaStreamCreate(&stream));
  OK(cudaEventCreateWithFlags(&started, cudaEventDisableTiming));
  OK(cudaEventCreateWithFlags(&ended, cudaEventDisableTiming));
  cudaLaunchAttribute asked[4] = {};
  cudaLaunchConfig_t config = {};
  config.gridDim = 3, config.blockDim = 32, config.stream = stream, config.attrs = asked;
  // Hints, and events that are reached when the blocks are.
  asked[0].id = cudaLaunchAttributeProgrammaticStreamSerialization, asked[0].val.programmaticStreamSerializationAllowed = 1;
  asked[1].id = cudaLaunchAttributeProgrammaticEvent, asked[1].val.programmaticEvent = {ended, 0, 0};
  asked[2].id = cudaLaunchAttributePriority, asked[2].val.priority = -1;
  asked[3].id = cudaLaunchAttributeLaunchCompletionEvent, asked[3].val.launchCompletionEvent.event = started;
  config.numAttrs = 4;
  OK(cudaLaunchKernelEx(&config, add, sum));
  OK(cudaEventSynchronize(started));
  OK(cudaEventSynchronize(ended));
  EXPECT(*sum == 96);
  // Clusters of more than a block, launches that kernels change: not here, and nothing runs.
  config.numAttrs = 1;
  asked[0].id = cudaLaunchAttributeClusterDimension, asked[0].val.clusterDim = {3, 1, 1};
  EXPECT_ERROR(cudaLaunchKernelEx(&config, add, sum), cudaErrorNotSupported);
  asked[0].val.clusterDim = {1, 1, 1};
  OK(cudaLaunchKernelEx(&config, add, sum));
  asked[0].id = cudaLaunchAttributeDeviceUpdatableKernelNode;
  EXPECT_ERROR(cudaLaunchKernelEx(&config, add, sum), cudaErrorNotSupported);
  asked[0].id = cudaLaunchAttributeID(100);
  EXPECT_ERROR(cudaLaunchKernelEx(&config, add, sum), cudaErrorNotSupported);
  OK(cudaStreamSynchronize(stream));
  EXPECT(*sum == 192);
}

int main() {
  peers();
  attributes();
  entry_points();
  pools();
  cudaGetLastError();
  launches();
  // CHECK: ok
  return result();
}
