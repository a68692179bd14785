// Virtual memory on the CPU: memory is made, mapped side by side and at two places, protected, handed to another process.
//
// RUN: %regrain --offload-arch=cpu -O2 %s -o %t -lcuda && %t | FileCheck %s
// CHECK: done, 0 wrong

#include <cstdio>
#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

static int wrong = 0;
#define EXPECT(condition) \
  do { \
    if (!(condition)) printf("line %d: %s\n", __LINE__, #condition), ++wrong; \
  } while (0)
#define OK(call) EXPECT((call) == CUDA_SUCCESS)
#define FAILS(code, call) EXPECT((call) == code)

__global__ void count(int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = i;
}

int main() {
  CUdevice device;
  CUcontext context;
  OK(cuInit(0));
  OK(cuDeviceGet(&device, 0));
  int has = 0;
  OK(cuDeviceGetAttribute(&has, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device));
  EXPECT(has == 1);
  OK(cuDevicePrimaryCtxRetain(&context, device));
  OK(cuCtxSetCurrent(context));
  CUmemAllocationProp prop = {}, seen = {};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  size_t size = 0;
  OK(cuMemGetAllocationGranularity(&size, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  EXPECT(size >= 4096 && (size & (size - 1)) == 0);

  CUmemGenericAllocationHandle first, second, again;
  OK(cuMemCreate(&first, size, &prop, 0));
  OK(cuMemCreate(&second, size, &prop, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&again, size + 1, &prop, 0));
  prop.location.type = CU_MEM_LOCATION_TYPE_HOST;
  FAILS(CUDA_ERROR_NOT_SUPPORTED, cuMemCreate(&again, size, &prop, 0));
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  OK(cuMemGetAllocationPropertiesFromHandle(&seen, first));
  EXPECT(seen.requestedHandleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);

  CUdeviceptr p = 0, twice = 0;
  int value = 7;
  OK(cuMemAddressReserve(&p, 2 * size, 0, 0, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(p, &value, sizeof value));
  OK(cuMemMap(p, size, 0, first, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemMap(p, size, 0, second, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemMap(p + 2 * size, size, 0, second, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(p, &value, sizeof value));
  OK(cuMemMap(p + size, size, 0, second, 0));
  CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, {0}}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  access.location.id = 0;
  OK(cuMemSetAccess(p, 2 * size, &access, 1));
  unsigned long long flags = 0;
  OK(cuMemGetAccess(&flags, &access.location, p));
  EXPECT(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(p));

  // Both pieces together.
  int n = 2 * size / sizeof(int);
  count<<<n / 256, 256>>>((int *)p, n);
  OK(cuMemcpyDtoH(&value, p + size + 8, sizeof value));
  EXPECT(value == int(size / 4 + 2));
  OK(cuMemsetD32(p + size - 16, 5, 8));
  CUdeviceptr base = 0;
  size_t bytes = 0;
  OK(cuMemGetAddressRange(&base, &bytes, p + size));
  EXPECT(base == p && bytes == 2 * size);

  // The same memory elsewhere.
  OK(cuMemAddressReserve(&twice, size, 0, 0, 0));
  OK(cuMemMap(twice, size, 0, second, 0));
  OK(cuMemSetAccess(twice, size, &access, 1));
  OK(cuMemcpyDtoH(&value, twice + 8, sizeof value));
  EXPECT(value == 5);

  // Another process writes.
  int file = -1;
  OK(cuMemExportToShareableHandle(&file, second, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  OK(cuMemImportFromShareableHandle(&again, (void *)(size_t)file, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  fflush(stdout);
  if (fork() == 0) {
    CUdeviceptr there = 0;
    wrong = 0;
    OK(cuMemAddressReserve(&there, size, 0, 0, 0));
    OK(cuMemMap(there, size, 0, again, 0));
    OK(cuMemSetAccess(there, size, &access, 1));
    OK(cuMemsetD32(there, 9, 4));
    _exit(wrong);
  }
  int status = 0;
  wait(&status);
  EXPECT(status == 0);
  close(file);
  OK(cuMemcpyDtoH(&value, twice + 8, sizeof value));
  EXPECT(value == 9);

  // A released handle is none; its memory is there as long as it is mapped.
  OK(cuMemRelease(second));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemRelease(second));
  OK(cuMemcpyDtoH(&value, twice, sizeof value));
  EXPECT(value == 9);
  OK(cuMemRetainAllocationHandle(&again, (void *)(twice + 4)));
  EXPECT(again == second);
  OK(cuMemRelease(again));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(p + size, 2 * size));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(p, 2 * size));
  OK(cuMemUnmap(p, 2 * size));
  OK(cuMemUnmap(twice, size));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(&value, p, sizeof value));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemGetAccess(&flags, &access.location, p));
  OK(cuMemAddressFree(p, 2 * size));
  OK(cuMemAddressFree(twice, size));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(p, 2 * size));
  OK(cuMemRelease(first));
  printf("done, %d wrong\n", wrong);
}
