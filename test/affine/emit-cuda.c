// What loops became as CUDA C++, which any compiler of CUDA takes; small sizes are not launched; options that are wrong.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-emit-cuda=%t.cu -fregrain-dump-ir=%t.dump %s -o %t
// RUN: FileCheck %s < %t.cu
// RUN: %regrain -O2 --offload-arch=cpu -w -c %t.cu -o %t.again.o

// RUN: cat %t.dump/*description.txt %t.dump/*schedule.txt | FileCheck %s --check-prefix=STAGES
// RUN: rm -f %t.small && touch %t.small && env REGRAIN_LAUNCH_TRACE=%t.small %t 9 && FileCheck %s --check-prefix=SMALL --allow-empty < %t.small
// RUN: env REGRAIN_LAUNCH_TRACE=%t.large %t 900 && FileCheck %s --check-prefix=LARGE < %t.large
// RUN: not %regrain -fregrain-parallelize -fregrain-parallelize-from=x %s 2>&1 | FileCheck %s --check-prefix=WRONG
#include <stdlib.h>

// CHECK: #include <cuda_runtime.h>
// CHECK: static __global__ void scale_region0_{{[0-9a-f]+}}_kernel0(
// CHECK: blockIdx.y * blockDim.y + threadIdx.y
// CHECK: extern "C" int regrain_scale_region0_{{[0-9a-f]+}}(
// CHECK: cudaDevAttrPageableMemoryAccess
// CHECK: _kernel0<<<
// STAGES: { S0[i0, i1] : 0 <= i0 < n{{[0-9]}} and 0 <= i1 < n{{[0-9]}} }
// STAGES: coincident: [ 1, 1 ]
// SMALL-NOT: scale_region0
// LARGE: scale_region0
// WRONG: invalid value 'x' in '-fregrain-parallelize-from=x': expected a number of operations
__attribute__((noinline)) void scale(int n, float a[n][n], float by) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] *= by;
}

int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  float *a = calloc((size_t)n * n, sizeof *a);
  a[n * n - 1] = 2;
  scale(n, (float(*)[n])a, 3);
  return a[n * n - 1] != 6 || a[0] != 0;
}
