// Launches that CUDA refuses, and what cudaGetLastError says of them.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

__global__ void kernel(int *out) { *out += 1; }
__global__ void __launch_bounds__(128, 2) bounded(int *out) { *out += 1; }

int main() {
  int *out = managed<int>(1);
  auto refused = [&](dim3 grid, dim3 block, cudaError_t expected, size_t shared = 0) {
    kernel<<<grid, block, shared>>>(out);
    EXPECT_ERROR(cudaPeekAtLastError(), expected);
    EXPECT_ERROR(cudaGetLastError(), expected);
    OK(cudaGetLastError());
    OK(cudaDeviceSynchronize());
  };
  refused(0, 32, cudaErrorInvalidConfiguration);
  refused(dim3(1, 0), 32, cudaErrorInvalidConfiguration);
  refused(1, 0, cudaErrorInvalidConfiguration);
  refused(1, dim3(1, 1, 0), cudaErrorInvalidConfiguration);
  refused(1, 1025, cudaErrorInvalidConfiguration);
  refused(1, dim3(32, 33), cudaErrorInvalidConfiguration);
  refused(1, dim3(1, 1, 65), cudaErrorInvalidConfiguration);
  refused(dim3(1, 65536), 1, cudaErrorInvalidConfiguration);
  refused(dim3(1, 1, 65536), 1, cudaErrorInvalidConfiguration);
  refused(1, 1, cudaErrorInvalidValue, 64 * 1024);
  EXPECT_AT(0, *out, 0);
  kernel<<<1, 1>>>(out);
  finish_kernel();
  EXPECT_AT(0, *out, 1);

  bounded<<<1, 256>>>(out);
  cudaError_t error = cudaGetLastError();
  EXPECT(error == cudaErrorInvalidValue || error == cudaErrorInvalidConfiguration || error == cudaErrorLaunchOutOfResources);
  EXPECT_AT(0, *out, 1);
  bounded<<<1, 1>>>(out);
  finish_kernel();
  EXPECT_AT(0, *out, 2);

  // A host function is no kernel. NVIDIA's runtime takes it for a handle of one.
  void *args[] = {&out};
  error = on_nvidia() ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction;
  EXPECT_ERROR(cudaLaunchKernel((void *)&result, 1, 1, args, 0, nullptr), error);
  EXPECT_ERROR(cudaGetLastError(), error);
  OK(cudaGetLastError());

  // Errors of calls are remembered too, and are not sticky.
  EXPECT_ERROR(cudaMemcpy(out, nullptr, 4, cudaMemcpyKind(17)), cudaErrorInvalidMemcpyDirection);
  EXPECT_ERROR(cudaSetDevice(999), cudaErrorInvalidDevice);
  EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidDevice);
  OK(cudaPeekAtLastError());
  void *huge;
  EXPECT_ERROR(cudaMalloc(&huge, size_t(1) << 55), cudaErrorMemoryAllocation);
  OK(cudaFree(nullptr));
  cudaGetLastError();
  int local;
  EXPECT_ERROR(cudaFree(&local), cudaErrorInvalidValue);
  cudaGetLastError();
  EXPECT(!strcmp(cudaGetErrorName(cudaErrorInvalidConfiguration), "cudaErrorInvalidConfiguration"));
  EXPECT(!strcmp(cudaGetErrorString(cudaErrorInvalidConfiguration), "invalid configuration argument"));
  EXPECT(!strcmp(cudaGetErrorString(cudaError_t(12345)), "unrecognized error code"));
  return result();
}
