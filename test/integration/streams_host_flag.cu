// A kernel that was quick many times and then waits for the host: its launch returns all the same, at each level and in each form.
// CPU-ONLY: on a GPU of the stand-in a launch returns when its kernel has ended.
// So too where one OS thread runs all blocks.
// RUN: %regrain -O3 --offload-arch=cpu %s -o %t && env REGRAIN_CPU_THREADS=2 timeout 60 %t | FileCheck %s
// RUN: env REGRAIN_CPU_THREADS=2 REGRAIN_CPU_MODE=coroutine timeout 60 %t | FileCheck %s
// RUN: env REGRAIN_CPU_THREADS=1 timeout 60 %t | FileCheck %s
// RUN: env REGRAIN_CPU_THREADS=1 REGRAIN_CPU_MODE=coroutine timeout 60 %t | FileCheck %s
// RUN: %regrain -O0 --offload-arch=cpu %s -o %t && env REGRAIN_CPU_THREADS=2 timeout 60 %t | FileCheck %s
// RUN: env REGRAIN_CPU_THREADS=1 timeout 60 %t | FileCheck %s
#include <cstdio>

__global__ void count(const volatile int *flag, int waits, int *out) {
  if (waits)
    while (*flag == 0) {
    }
  if (threadIdx.x == 0)
    atomicAdd(out, 1);
}

__global__ void set(volatile int *flag) { *flag = 1; }

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

  // The same kernel as a node of a graph, and one in another stream that the first waits for.
  cudaGraph_t graph;
  cudaGraphExec_t instance;
  cudaStream_t other;
  *flag = 0;
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  count<<<2, 32, 0, stream>>>(flag, 1, out);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiateWithFlags(&instance, graph, 0);
  cudaGraphLaunch(instance, stream);
  // CHECK: the graph is at work: not ready
  printf("the graph is at work: %s\n", cudaStreamQuery(stream) == cudaErrorNotReady ? "not ready" : "ready");
  set<<<1, 1, 0, other>>>(flag);
  // CHECK: no error, no error
  printf("%s, ", cudaGetErrorString(cudaStreamSynchronize(stream)));
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaMemcpy(&result, out, sizeof(int), cudaMemcpyDeviceToHost);
  // CHECK: 203
  printf("%d\n", result);
  return 0;
}
