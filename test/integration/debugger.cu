// Kernels in gdb: lines, one thread of one block, arguments, variables, shared arrays, and the host's side.
// CPU-ONLY: a debugger of the host, not with a sanitizer: a runtime that is built with one has lines, which the debugger steps into
// REQUIRES: gdb
// RUN: %regrain -O0 -g --offload-arch=cpu %s -o %t
// RUN: gdb -nx -batch -x %root/crates/runtime/gdb/regrain.py -x %S/Inputs/kernel.gdb %t 2>&1 | FileCheck %s
// RUN: gdb -nx -batch -x %S/Inputs/host.gdb %t 2>&1 | FileCheck %s --check-prefix=HOST
// RUN: not gdb -nx -batch -x %root/crates/runtime/gdb/regrain.py -ex "print $_thread()" -ex "regrain info blocks" %t 2>&1 | FileCheck %s --check-prefix=NONE
// Where code is optimised there are lines.
// RUN: %regrain -O2 -g --offload-arch=cpu %s -o %t2
// RUN: gdb -nx -batch -ex "break twice" -ex "info breakpoints" %t2 2>&1 | FileCheck %s --check-prefix=LINES
// LINES: debugger.cu, line [[@LINE+4]]
#include <cstdio>

__constant__ int factor = 2;
__device__ int twice(int value) { return factor * value; }

__global__ void sums(const int *p, int *out, int n) {
  __shared__ int tile[64];
  extern __shared__ int more[];
  int i = blockIdx.x * 64 + threadIdx.x;
  tile[threadIdx.x] = i < n ? p[i] : 0;
  more[threadIdx.x] = i;
  __syncthreads();
  for (int step = 32; step > 0; step /= 2) {
    if (threadIdx.x < step)
      tile[threadIdx.x] += tile[threadIdx.x + step]; // in the loop
    __syncthreads();
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = twice(tile[0]);
}

// CHECK: hit Breakpoint 1, sums (p=0x{{.*}}, out=0x{{.*}}, n=100) at {{.*}}debugger.cu:[[@LINE-7]]
// CHECK: step = 32
// CHECK: i = 67
// CHECK-NOT: <optimized out>
// CHECK: $1 = {x = 3, y = 0, z = 0}
// CHECK: $2 = 1
// CHECK: $3 = {x = 64, y = 1, z = 1}
// CHECK: $4 = 2
// CHECK: $5 = {67, 68, 69, 70}
// CHECK: $6 = 99
// CHECK: $7 = 67
// CHECK: $8 = "(3,0,0)"
// CHECK: $9 = "(1,0,0)"
// CHECK: $10 = 2
// CHECK: kernel 'sums(int const*, int*, int)', block (1,0,0) of 64 threads
// CHECK-NEXT: thread (3,0,0) runs
// CHECK-NEXT: 28 can go on
// CHECK-NEXT: 35 wait at __syncthreads() in {{.*}}debugger.cu:{{[0-9]+}}, the first is thread (0,0,0)
// CHECK: * {{[0-9]+}} {{ *}}block (1,0,0) thread (3,0,0) sums at {{.*}}debugger.cu:[[@LINE-25]]
// CHECK: hit Breakpoint 2, twice (value=2934)
// CHECK: $11 = 2
// CHECK: #1 {{.*}} sums (
// CHECK: 4032 5868
// CHECK: exited normally

// HOST: Breakpoint 1, main ()
// HOST: sums<<<2, 64, 256>>>(p, out, 100);
// HOST: $1 = 100
// HOST: cudaDeviceSynchronize();
// HOST: 4032 5868

// NONE: no kernel runs here, or it was not compiled with -O0 -g
// NONE: the program is not being run

int main() {
  int *p, *out, n = 100;
  cudaMallocManaged(&p, n * sizeof(int));
  cudaMallocManaged(&out, 2 * sizeof(int));
  for (int i = 0; i < n; ++i)
    p[i] = i;
  sums<<<2, 64, 256>>>(p, out, 100);
  cudaDeviceSynchronize();
  printf("%d %d\n", out[0], out[1]);
}
