// A loop that the program wants unrolled stays one in functions that run blocks where too much would come of it; the one inside of it goes.
// REQUIRES: cuda-toolkit
// RUN: rm -rf %t && %regrain --offload-arch=cpu -O2 -fregrain-dump-ir=%t -c %s -o %t.o
// RUN: grep -c 'call.*@llvm.fmuladd' %t/bounded_unrolling.*-finished.ll | FileCheck %s
// RUN: sed 's/ROUNDS = 128/ROUNDS = 2/' %s > %t.small.cu
// RUN: %regrain --offload-arch=cpu -O2 -fregrain-dump-ir=%t -c %t.small.cu -o %t.o
// RUN: grep -c 'call.*@llvm.fmuladd' %t/*small.*-finished.ll | FileCheck %s --check-prefix=SMALL
// CHECK: {{^[1-9][0-9][0-9]$}}
// SMALL: {{^[2-9][0-9][0-9]$}}
constexpr int ROUNDS = 128;

__global__ void sums(float *p, const float *by) {
  float x = p[threadIdx.x];
#pragma unroll
  for (int i = 0; i < ROUNDS; ++i)
#pragma unroll
    for (int j = 0; j < 120; ++j)
      x = x * by[j] + by[120 + i];
  p[threadIdx.x] = x;
}

void launch(float *p, const float *by) { sums<<<1, 64>>>(p, by); }
