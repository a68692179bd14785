// Kernels in a default stream that wait for what the host does after their launch: in block form and as coroutines, with one OS thread, too. What
// comes behind them in an order of CUDA's waits for them, what does not goes on beside them.
// CPU-ONLY: on a GPU of the stand-in a launch returns when its kernel has ended.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t && env REGRAIN_CPU_THREADS=2 timeout 60 %t | FileCheck %s
// RUN: env REGRAIN_CPU_THREADS=2 REGRAIN_CPU_MODE=coroutine timeout 60 %t | FileCheck %s
// RUN: env REGRAIN_CPU_THREADS=1 timeout 60 %t | FileCheck %s
// RUN: env REGRAIN_CPU_THREADS=1 REGRAIN_CPU_MODE=coroutine timeout 60 %t | FileCheck %s
// RUN: %regrain -O0 --offload-arch=cpu %s -o %t && env REGRAIN_CPU_THREADS=2 timeout 60 %t | FileCheck %s
// RUN: env REGRAIN_CPU_THREADS=1 timeout 60 %t | FileCheck %s
#include <cstdio>

__managed__ int managed;

__global__ void by_volatile(const volatile int *flag, int *out) {
  while (*flag == 0) {
  }
  if (threadIdx.x == 0)
    *out += 1;
}

__device__ __noinline__ void wait_for(int *flag) {
  while (atomicAdd(flag, 0) == 0)
    __nanosleep(100);
}

__global__ void by_atomics(int *flag, int *out) {
  __shared__ int seen;
  if (threadIdx.x == 0) {
    wait_for(flag);
    seen = 1;
  }
  __syncthreads();
  if (threadIdx.x == blockDim.x - 1)
    atomicAdd(out, seen);
}

__global__ void by_ptx(const int *flag, int *out) {
  int seen;
  do
    asm volatile("ld.acquire.sys.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
  while (seen == 0);
  atomicAdd(out, 1);
}

__global__ void by_variable(int *out) {
  while (*static_cast<volatile int *>(&managed) == 0) {
  }
  *out += 1;
}

__global__ void times_ten(int *out) { *out *= 10; }

__global__ void set(volatile int *flag) { *flag = 1; }

static const char *state(cudaStream_t stream) {
  return cudaStreamQuery(stream) == cudaErrorNotReady ? "not ready" : "ready";
}

int main() {
  int *flag, *out;
  cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped);
  cudaMallocManaged(&out, sizeof(int));
  volatile int *seen = flag;
  *out = 0;

  *seen = 0;
  by_volatile<<<1, 1>>>(flag, out);
  *seen = 1;
  cudaDeviceSynchronize();
  // CHECK: volatile: 1
  printf("volatile: %d\n", *out);

  *seen = 0;
  by_atomics<<<2, 64>>>(flag, out);
  times_ten<<<1, 1>>>(out);
  // CHECK: behind it: not ready
  printf("behind it: %s\n", state(nullptr));
  *seen = 1;
  cudaDeviceSynchronize();
  // CHECK: atomics: 30
  printf("atomics: %d\n", *out);

  *seen = 0;
  by_ptx<<<1, 1, 0, cudaStreamPerThread>>>(flag, out);
  *seen = 1;
  cudaStreamSynchronize(cudaStreamPerThread);
  // CHECK: PTX: 31
  printf("PTX: %d\n", *out);

  by_variable<<<1, 1>>>(out);
  *static_cast<volatile int *>(&managed) = 1;
  // A copy that the host waits for comes behind it.
  int copied = 0;
  cudaMemcpy(&copied, out, sizeof(int), cudaMemcpyDefault);
  // CHECK: variable: 32
  printf("variable: %d\n", copied);

  // A stream that blocks waits for the default stream, another one does not, and sets it going.
  cudaStream_t blocks, apart;
  cudaStreamCreate(&blocks);
  cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking);
  *seen = 0;
  by_volatile<<<1, 32>>>(flag, out);
  times_ten<<<1, 1, 0, blocks>>>(out);
  // CHECK: the one that blocks: not ready
  printf("the one that blocks: %s\n", state(blocks));
  set<<<1, 1, 0, apart>>>(flag);
  cudaStreamSynchronize(blocks);
  // CHECK: ordered: 330
  printf("ordered: %d\n", *out);

  // As a node of a graph.
  cudaGraph_t graph;
  cudaGraphExec_t instance;
  *seen = 0;
  cudaStreamBeginCapture(apart, cudaStreamCaptureModeGlobal);
  by_volatile<<<1, 32, 0, apart>>>(flag, out);
  cudaStreamEndCapture(apart, &graph);
  cudaGraphInstantiateWithFlags(&instance, graph, 0);
  cudaGraphLaunch(instance, nullptr);
  *seen = 1;
  // CHECK: graph: 331, no error
  cudaError_t done = cudaDeviceSynchronize();
  printf("graph: %d, %s\n", *out, cudaGetErrorString(done));
  return 0;
}
