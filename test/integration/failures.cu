// assert, __trap and a null pointer: the message, the error, and that it stays (more of faults: faults.cu).
// CPU-ONLY: the messages are those of its runtime
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t assert 2>&1 | FileCheck %s --check-prefix=ASSERT
// RUN: env REGRAIN_CPU_MODE=coroutine %t assert 2>&1 | FileCheck %s --check-prefix=ASSERT
// RUN: env REGRAIN_CPU_MODE=coroutine %t assert 2>&1 | FileCheck %s --check-prefix=THREAD
// RUN: %t trap | FileCheck %s --check-prefix=TRAP
// RUN: env REGRAIN_CPU_MODE=coroutine %t trap | FileCheck %s --check-prefix=TRAP
// RUN: %t barrier | FileCheck %s --check-prefix=TRAP
// RUN: %t null 2>&1 | FileCheck %s --check-prefix=NULL
// RUN: env REGRAIN_CPU_MODE=coroutine %t null 2>&1 | FileCheck %s --check-prefix=NULL
#include <cassert>
#include <cstdio>
#include <cstring>

// THREAD: block: [1,0,0], thread: [3,0,0] Assertion
// ASSERT: {{.*}}failures.cu:[[@LINE+1]]: {{.*}}positive{{.*}}: block: [1,0,0], thread: [3,0,0] Assertion `v[i] > 0 && "all are positive"` failed.
__global__ void positive(const int *v) { int i = blockIdx.x * blockDim.x + threadIdx.x; assert(v[i] > 0 && "all are positive"); }
// ASSERT: launch: cudaSuccess
// ASSERT: wait: cudaErrorAssert
// ASSERT: again: cudaErrorAssert
// ASSERT: malloc: cudaErrorAssert
// ASSERT: text: device-side assert triggered

__global__ void trap(const int *v) {
  if (v[threadIdx.x] == 0)
    __trap();
}
// TRAP: launch: cudaSuccess
// TRAP: wait: cudaError{{LaunchFailure|IllegalInstruction}}
// TRAP: again: cudaError{{LaunchFailure|IllegalInstruction}}
// TRAP: malloc: cudaError{{LaunchFailure|IllegalInstruction}}

// Others wait at a barrier for the thread that traps.
__global__ void trap_before_barrier(const int *v) {
  __shared__ int s[4];
  if (threadIdx.x == 2)
    __trap();
  s[threadIdx.x] = v[threadIdx.x];
  __syncthreads();
  if (s[3 - threadIdx.x] == 77)
    printf("not reached\n");
}

__global__ void null(const int *v) {
  int **p = (int **)(v + 4);
  *p[threadIdx.x] = 1;
}
// NULL: error: kernel 'null(int const*)', block (0,0,0){{(, thread \(0,0,0\))?}}: illegal address 0x0 is written
// NULL-NEXT: note: {{.*}}-g says which line; -fregrain-check=memory says which object
// NULL: launch: cudaSuccess
// NULL: wait: cudaErrorIllegalAddress
// NULL: again: cudaErrorIllegalAddress
// NULL: malloc: cudaErrorIllegalAddress
// NULL: text: an illegal memory access was encountered

int main(int, char **argv) {
  int *v;
  void *more;
  cudaMallocManaged(&v, 64 * sizeof(int));
  memset(v, 0, 64 * sizeof(int));
  for (int i = 0; i < 7; ++i)
    v[i] = 1;
  if (!strcmp(argv[1], "assert"))
    positive<<<2, 4>>>(v);
  else if (!strcmp(argv[1], "trap"))
    trap<<<1, 8>>>(v);
  else if (!strcmp(argv[1], "barrier"))
    trap_before_barrier<<<1, 4>>>(v);
  else
    v[4] = v[5] = 0, null<<<1, 1>>>(v);
  printf("launch: %s\n", cudaGetErrorName(cudaGetLastError()));
  printf("wait: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaGetLastError();
  printf("again: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaError_t error = cudaMalloc(&more, 16);
  printf("malloc: %s\n", cudaGetErrorName(error));
  printf("text: %s\n", cudaGetErrorString(error));
}
