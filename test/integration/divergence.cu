// Barriers that not all threads reach: reported with kernel, block and line, and never a hang.
// CPU-ONLY: deadlocks are found there alone; a GPU hangs
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: env REGRAIN_CPU_CHECK=1 timeout 20 %t half 2>&1 | FileCheck %s --check-prefix=HALF
// RUN: %regrain -O0 --offload-arch=cpu %s -o %t0
// RUN: env REGRAIN_CPU_CHECK=1 timeout 20 %t0 half 2>&1 | FileCheck %s --check-prefix=HALF
// RUN: timeout 20 %t deadlock 2>&1 | FileCheck %s --check-prefix=ENDS
// RUN: env REGRAIN_CPU_MODE=coroutine timeout 20 %t deadlock 2>&1 | FileCheck %s --check-prefix=DEADLOCK
// RUN: timeout 20 %t missing 2>&1 | FileCheck %s --check-prefix=ENDS
// RUN: env REGRAIN_CPU_MODE=coroutine timeout 20 %t missing 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: timeout 20 %t two 2>&1 | FileCheck %s --check-prefix=TWO
#include <cstdio>
#include <cstring>

// The split form may let it pass; it ends either way.
// ENDS: result: cuda

// Half of the threads return where the others wait.
__global__ void half_leaves(int *v) {
  if (threadIdx.x >= 16)
    return;
  v[threadIdx.x] = 1;
  // HALF: error: {{.*}}__syncthreads(){{.*}} in kernel '{{.*}}half_leaves{{.*}}', block (0,0,0)
  // HALF: {{.*}}divergence.cu:[[@LINE+1]]: note: 16 threads wait here
  __syncthreads();
  v[threadIdx.x] += v[15 - threadIdx.x];
}
// HALF: 16 threads have returned
// HALF: result: cudaErrorLaunchFailure

// Half of a warp waits at the block's barrier, the other half for the whole warp.
__global__ void deadlock(int *v) {
  // DEADLOCK: error: deadlock in kernel '{{.*}}deadlock{{.*}}', block (1,0,0)
  // DEADLOCK-DAG: {{.*}}divergence.cu:[[@LINE+4]]: note: 16 of 32 threads wait at __syncthreads(), the first is thread (0,0,0)
  // DEADLOCK-DAG: {{.*}}divergence.cu:[[@LINE+5]]: note: 16 of 32 threads wait at a warp operation, the first is thread (16,0,0)
  if (blockIdx.x == 1) {
    if (threadIdx.x < 16)
      __syncthreads();
    else
      v[threadIdx.x] = __shfl_sync(0xffffffffu, v[threadIdx.x], 0);
  }
}
// DEADLOCK: result: cudaErrorLaunchFailure

// A named barrier for more threads than come.
__global__ void missing(int *v) {
  // MISSING: error: deadlock in kernel '{{.*}}missing{{.*}}', block (0,0,0)
  // MISSING: {{.*}}divergence.cu:[[@LINE+2]]: note: 32 of 64 threads wait at barrier 3
  if (threadIdx.x < 32)
    asm volatile("bar.sync 3, 64;" ::: "memory");
  v[threadIdx.x] = 2;
}
// MISSING: result: cudaErrorLaunchFailure

// Two barriers in the branches of a divergent condition: hardware lets them meet.
__global__ void two(int *v) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  if (threadIdx.x < 32)
    __syncthreads();
  else
    __syncthreads();
  v[threadIdx.x] = s[63 - threadIdx.x];
}
// TWO: v[0] is 63
// TWO: result: cudaSuccess

int main(int, char **argv) {
  int *v;
  cudaMallocManaged(&v, 64 * sizeof(int));
  if (!strcmp(argv[1], "half"))
    half_leaves<<<1, 32>>>(v);
  else if (!strcmp(argv[1], "deadlock"))
    deadlock<<<2, 32>>>(v);
  else if (!strcmp(argv[1], "missing"))
    missing<<<1, 64>>>(v);
  else
    two<<<1, 64>>>(v);
  cudaError_t error = cudaDeviceSynchronize();
  printf("v[0] is %d\n", v[0]);
  fflush(stdout);
  fprintf(stderr, "result: %s\n", cudaGetErrorName(error));
}
