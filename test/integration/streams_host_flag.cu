// A kernel that was quick many times and then waits for the host: its launch returns all the same, at each level and in each form.
// CPU-ONLY: on a GPU of the stand-in a launch returns when its kernel has ended.
// RUN: %regrain -O3 --offload-arch=cpu %s -o %t && env REGRAIN_CPU_THREADS=2 timeout 60 %t | FileCheck %s
// RUN: env REGRAIN_CPU_THREADS=2 REGRAIN_CPU_MODE=coroutine timeout 60 %t | FileCheck %s
// RUN: %regrain -O0 --offload-arch=cpu %s -o %t && env REGRAIN_CPU_THREADS=2 timeout 60 %t | FileCheck %s
#include <cstdio>

__global__ void count(const volatile int *flag, int waits, int *out) {
  if (waits)
    while (*flag == 0) {
    }
  if (threadIdx.x == 0)
    *out += 1;
}

int main() {
  int *flag, *out, result = 0;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped);
  cudaMalloc(&out, sizeof(int));
  cudaMemset(out, 0, sizeof(int));
  *flag = 0;
  for (int i = 0; i < 200; i++)
    count<<<1, 32, 0, stream>>>(flag, 0, out);
  cudaStreamSynchronize(stream);
  count<<<1, 32, 0, stream>>>(flag, 1, out);
  // CHECK: the launch returned: not ready
  printf("the launch returned: %s\n", cudaStreamQuery(stream) == cudaErrorNotReady ? "not ready" : "ready");
  *const_cast<volatile int *>(flag) = 1;
  cudaStreamSynchronize(stream);
  cudaMemcpy(&result, out, sizeof(int), cudaMemcpyDeviceToHost);
  // CHECK: 201
  printf("%d\n", result);
  return 0;
}
