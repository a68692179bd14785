// -fregrain-round-trip for the CPU runs what came back from the parallel form, one coroutine for each thread.
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-round-trip -fregrain-dump-ir=%t.ir %s -o %t && %t | FileCheck %s
// RUN: ls %t.ir | FileCheck %s --check-prefix=STAGES
// STAGES: round_trip_cpu.5-outlined.mlir
#include <cstdio>

__device__ __noinline__ int twice(int x) { return x > 3 ? 2 * x : x; }

__global__ void reverse(int *data) {
  __shared__ int fixed[64];
  extern __shared__ int dynamic[];
  fixed[threadIdx.x] = data[threadIdx.x];
  dynamic[threadIdx.x] = twice(threadIdx.x);
  __syncthreads();
  data[threadIdx.x] = fixed[63 - threadIdx.x] + dynamic[63 - threadIdx.x];
}

int main() {
  int host[64], *device;
  for (int i = 0; i < 64; ++i) host[i] = 100 * i;
  cudaMalloc(&device, sizeof host);
  cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
  reverse<<<1, 64, sizeof host>>>(device);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  // CHECK: 6426 5610 1 0
  printf("%d %d %d %d\n", host[0], host[8], host[62] % 100, host[63]);
}
