// What was advised for managed memory, and where it was prefetched to, is what a program reads back: for whole ranges alone.
//
// RUN: %regrain --offload-arch=cpu -O2 %s -o %t -lcuda && %t | FileCheck %s
// CHECK: done, 0 wrong

#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>

static int wrong = 0;
#define EXPECT(condition) \
  do { \
    if (!(condition)) printf("line %d: %s\n", __LINE__, #condition), ++wrong; \
  } while (0)
#define OK(call) EXPECT((call) == cudaSuccess)
#define FAILS(code, call) EXPECT((call) == code)

static int asked(cudaMemRangeAttribute which, const void *p, size_t count) {
  int value = -77;
  OK(cudaMemRangeGetAttribute(&value, sizeof value, which, p, count));
  return value;
}

int main() {
  char *p;
  const size_t size = 1 << 20, half = size / 2;
  OK(cudaMallocManaged(&p, size));
  EXPECT(asked(cudaMemRangeAttributeReadMostly, p, size) == 0);
  EXPECT(asked(cudaMemRangeAttributePreferredLocation, p, size) == cudaInvalidDeviceId);
  EXPECT(asked(cudaMemRangeAttributeLastPrefetchLocation, p, size) == cudaInvalidDeviceId);
  EXPECT(asked(cudaMemRangeAttributePreferredLocationType, p, size) == cudaMemLocationTypeInvalid);

  // A part of it, and all.
  OK(cudaMemAdvise(p + 4096, half, cudaMemAdviseSetReadMostly, 0));
  EXPECT(asked(cudaMemRangeAttributeReadMostly, p + 4096, half) == 1);
  EXPECT(asked(cudaMemRangeAttributeReadMostly, p + 8192, 100) == 1);
  EXPECT(asked(cudaMemRangeAttributeReadMostly, p + 4096, half + 1) == 0);
  EXPECT(asked(cudaMemRangeAttributeReadMostly, p, size) == 0);
  OK(cudaMemAdvise(p, size, cudaMemAdviseSetReadMostly, 0));
  EXPECT(asked(cudaMemRangeAttributeReadMostly, p, size) == 1);
  OK(cudaMemAdvise(p + half, 1, cudaMemAdviseUnsetReadMostly, 0));
  EXPECT(asked(cudaMemRangeAttributeReadMostly, p, size) == 0);
  EXPECT(asked(cudaMemRangeAttributeReadMostly, p, half) == 1);

  OK(cudaMemAdvise(p, half, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId));
  OK(cudaMemAdvise(p + half, half, cudaMemAdviseSetPreferredLocation, 0));
  EXPECT(asked(cudaMemRangeAttributePreferredLocation, p, half) == cudaCpuDeviceId);
  EXPECT(asked(cudaMemRangeAttributePreferredLocationType, p, half) == cudaMemLocationTypeHost);
  EXPECT(asked(cudaMemRangeAttributePreferredLocation, p + half, half) == 0);
  EXPECT(asked(cudaMemRangeAttributePreferredLocationType, p + half, half) == cudaMemLocationTypeDevice);
  EXPECT(asked(cudaMemRangeAttributePreferredLocationId, p + half, half) == 0);
  EXPECT(asked(cudaMemRangeAttributePreferredLocation, p, size) == cudaInvalidDeviceId);
  OK(cudaMemAdvise(p, size, cudaMemAdviseUnsetPreferredLocation, 0));
  EXPECT(asked(cudaMemRangeAttributePreferredLocation, p, half) == cudaInvalidDeviceId);

  int devices[3];
  OK(cudaMemAdvise(p, size, cudaMemAdviseSetAccessedBy, 0));
  OK(cudaMemAdvise(p, half, cudaMemAdviseSetAccessedBy, cudaCpuDeviceId));
  OK(cudaMemRangeGetAttribute(devices, sizeof devices, cudaMemRangeAttributeAccessedBy, p, half));
  EXPECT(devices[0] == 0 && devices[1] == cudaCpuDeviceId && devices[2] == cudaInvalidDeviceId);
  OK(cudaMemRangeGetAttribute(devices, sizeof devices, cudaMemRangeAttributeAccessedBy, p, size));
  EXPECT(devices[0] == 0 && devices[1] == cudaInvalidDeviceId);
  OK(cudaMemAdvise(p, size, cudaMemAdviseUnsetAccessedBy, 0));
  OK(cudaMemRangeGetAttribute(devices, sizeof devices, cudaMemRangeAttributeAccessedBy, p, half));
  EXPECT(devices[0] == cudaCpuDeviceId && devices[1] == cudaInvalidDeviceId);

  OK(cudaMemPrefetchAsync(p, size, 0, nullptr));
  EXPECT(asked(cudaMemRangeAttributeLastPrefetchLocation, p, size) == 0);
  OK(cudaMemPrefetchAsync(p, half, cudaCpuDeviceId, nullptr));
  EXPECT(asked(cudaMemRangeAttributeLastPrefetchLocation, p, half) == cudaCpuDeviceId);
  EXPECT(asked(cudaMemRangeAttributeLastPrefetchLocation, p, size) == cudaInvalidDeviceId);

  // Several at once, and the driver's.
  int mostly = 7, where = 7;
  void *data[] = {&mostly, &where};
  size_t sizes[] = {4, 4};
  cudaMemRangeAttribute which[] = {cudaMemRangeAttributeReadMostly, cudaMemRangeAttributeLastPrefetchLocation};
  OK(cudaMemRangeGetAttributes(data, sizes, which, 2, p, half));
  EXPECT(mostly == 1 && where == cudaCpuDeviceId);
  EXPECT(cuMemRangeGetAttribute(&where, 4, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, (CUdeviceptr)(p + half), half) == CUDA_SUCCESS);
  EXPECT(where == 0);

  // What is refused, and that nothing stays of memory that was freed.
  char own[16], *device;
  OK(cudaMalloc(&device, 4096));
  FAILS(cudaErrorInvalidValue, cudaMemRangeGetAttribute(&where, 4, cudaMemRangeAttributeReadMostly, own, 16));
  FAILS(cudaErrorInvalidValue, cudaMemRangeGetAttribute(&where, 4, cudaMemRangeAttributeReadMostly, device, 16));
  FAILS(cudaErrorInvalidValue, cudaMemRangeGetAttribute(&where, 4, cudaMemRangeAttributeReadMostly, p, 0));
  FAILS(cudaErrorInvalidValue, cudaMemRangeGetAttribute(&where, 4, cudaMemRangeAttributeReadMostly, p, size + 1));
  FAILS(cudaErrorInvalidValue, cudaMemRangeGetAttribute(&where, 2, cudaMemRangeAttributeReadMostly, p, size));
  FAILS(cudaErrorInvalidValue, cudaMemRangeGetAttribute(devices, 8, cudaMemRangeAttributeReadMostly, p, size));
  FAILS(cudaErrorInvalidValue, cudaMemRangeGetAttribute(&where, 4, (cudaMemRangeAttribute)99, p, size));
  OK(cudaFree(p));
  for (int i = 0; i < 8; i++) {
    OK(cudaMallocManaged(&p, size));
    EXPECT(asked(cudaMemRangeAttributeReadMostly, p, half) == 0);
  }
  printf("done, %d wrong\n", wrong);
  return wrong;
}
