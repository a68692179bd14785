// Loops that keep a thread's array in memory are unrolled for the CPU, where registers come of it: nothing is left of the array then.
// REQUIRES: cuda-toolkit
// RUN: rm -rf %t.ir
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-alternatives=none -fregrain-dump-ir=%t.ir -c %s -o %t.o
// RUN: FileCheck %s --input-file=%t.ir/arrays_in_registers.2-clean.ll
#include <cuda_runtime.h>

// CHECK-LABEL: define {{.*}} @_Z7stripedPiPKi
// CHECK-NOT: alloca
// CHECK-NOT: phi
// CHECK: ret void
__global__ void striped(int *out, const int *in) {
  int items[6], sum = 0;
  for (int i = 0; i < 6; ++i)
    items[i] = in[i * 64 + threadIdx.x];
  for (int i = 0; i < 6; ++i)
    sum = sum * 3 + items[i ^ 1];
  out[threadIdx.x] = sum;
}

// One loop inside of the other, both of which count.
// CHECK-LABEL: define {{.*}} @_Z6nestedPiPKi
// CHECK-NOT: alloca
// CHECK-NOT: phi
// CHECK: ret void
__global__ void nested(int *out, const int *in) {
  int sums[2][3];
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      sums[i][j] = in[i * 64 + threadIdx.x] * in[j * 64 + threadIdx.x];
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      out[(i * 3 + j) * 64 + threadIdx.x] = sums[i][j];
}

// The rounds of the inner loop are told by the round of the outer one, which counts in powers.
// CHECK-LABEL: define {{.*}} @_Z4treePiPKi
// CHECK-NOT: alloca
// CHECK-NOT: phi
// CHECK: ret void
__global__ void tree(int *out, const int *in) {
  int items[16];
  for (int i = 0; i < 16; ++i)
    items[i] = in[i * 64 + threadIdx.x];
  for (int i = 1; i < 16; i *= 2)
    for (int j = 0; j + i < 16; j += 2 * i)
      items[j] = items[j] * 3 + items[j + i];
  out[threadIdx.x] = items[0];
}

// What the outer loop carries is not only its own: nothing is unrolled.
// CHECK-LABEL: define {{.*}} @_Z17do_not_grow_looseiPiPKi
// CHECK: alloca [16 x i32]
// CHECK: ret void
__global__ void do_not_grow_loose(int by, int *out, const int *in) {
  int items[16];
  for (int i = 0; i < 16; ++i)
    items[i] = in[i * 64 + threadIdx.x];
  for (int i = 1, round = 0; round < 4; i = i * 2 + by, ++round)
    for (int j = 0; j + i < 16; j += 2 * i)
      items[j] = items[j] * 3 + items[j + i];
  out[threadIdx.x] = items[0];
}

// A pointer that was kept in an array is one to shared memory again.
// CHECK-LABEL: define {{.*}} @_Z5tablePiPKi
// CHECK-NOT: alloca
// CHECK: atomicrmw add ptr addrspacecast (ptr addrspace(3) @{{.*}} to ptr)
// CHECK: ret void
__global__ void table(int *out, const int *in) {
  __shared__ int counts[1];
  int *tables[2];
  for (int i = 0; i < 2; ++i)
    tables[i] = i == 0 ? counts : out;
  atomicAdd(tables[0], in[threadIdx.x]);
  __syncthreads();
  tables[1][threadIdx.x] = *tables[0];
}

// A loop without such an array keeps its form, also beside one that has it.
// CHECK-LABEL: define {{.*}} @_Z27do_not_unroll_without_arrayPiPKi
// CHECK-NOT: alloca
// CHECK: phi i32
// CHECK: ret void
__global__ void do_not_unroll_without_array(int *out, const int *in) {
  int items[4], sum = 0;
  for (int i = 0; i < 4; ++i)
    items[i] = in[i * 64 + threadIdx.x];
  for (int i = 0; i < 8; ++i)
    sum = sum * 3 + in[i * 64 + threadIdx.x];
  for (int i = 0; i < 4; ++i)
    sum += items[i];
  out[threadIdx.x] = sum;
}

// One index that only the running program knows keeps the array in memory, so nothing is gained.
// CHECK-LABEL: define {{.*}} @_Z24do_not_unroll_for_memoryPiPKi
// CHECK: alloca [6 x i32]
// CHECK: phi i32
// CHECK: ret void
__global__ void do_not_unroll_for_memory(int *out, const int *in) {
  int items[6];
  for (int i = 0; i < 6; ++i)
    items[i] = in[i * 64 + threadIdx.x];
  out[threadIdx.x] = items[in[threadIdx.x] & 3];
}

// Nor where rounds are not known, or where it is asked for.
// CHECK-LABEL: define {{.*}} @_Z28do_not_unroll_unknown_roundsPiPKii
// CHECK: alloca [6 x i32]
// CHECK: phi i32
// CHECK: ret void
__global__ void do_not_unroll_unknown_rounds(int *out, const int *in, int n) {
  int items[6];
  for (int i = 0; i < n; ++i)
    items[i] = in[i * 64 + threadIdx.x];
  for (int i = 0; i < 6; ++i)
    out[i * 64 + threadIdx.x] = items[i];
}

// CHECK-LABEL: define {{.*}} @_Z24do_not_unroll_if_told_soPiPKi
// CHECK: alloca [6 x i32]
// CHECK: phi i32
// CHECK: ret void
__global__ void do_not_unroll_if_told_so(int *out, const int *in) {
  int items[6];
#pragma unroll 1
  for (int i = 0; i < 6; ++i)
    items[i] = in[i * 64 + threadIdx.x];
  for (int i = 0; i < 6; ++i)
    out[i * 64 + threadIdx.x] = items[i];
}

// A barrier stays one.
// CHECK-LABEL: define {{.*}} @_Z22do_not_unroll_barriersPiPKi
// CHECK: alloca [6 x i32]
// CHECK: call void @llvm.nvvm.barrier
// CHECK-NOT: call void @llvm.nvvm.barrier
// CHECK: ret void
__global__ void do_not_unroll_barriers(int *out, const int *in) {
  int items[6];
  for (int i = 0; i < 6; ++i) {
    items[i] = in[i * 64 + threadIdx.x];
    __syncthreads();
    out[i * 64 + threadIdx.x] = items[i];
  }
}

// Each thread's own consecutive elements: tiles of rounds are made of this loop.
// CHECK-LABEL: define {{.*}} @_Z21do_not_unroll_blockedPiPKi
// CHECK: alloca [6 x i32]
// CHECK: phi i32
// CHECK: ret void
__global__ void do_not_unroll_blocked(int *out, const int *in) {
  int items[6], sum = 0;
  for (int i = 0; i < 6; ++i)
    items[i] = in[threadIdx.x * 6 + i];
  for (int i = 0; i < 6; ++i)
    sum = sum * 3 + items[i];
  out[threadIdx.x] = sum;
}

// As many instructions as this would be are more than LLVM makes of such a loop.
// CHECK-LABEL: define {{.*}} @_Z19do_not_unroll_largePiPKi
// CHECK: alloca [4096 x i32]
// CHECK: phi i32
// CHECK: ret void
__global__ void do_not_unroll_large(int *out, const int *in) {
  int items[4096], sum = 0;
  for (int i = 0; i < 4096; ++i)
    items[i] = in[i * 64 + threadIdx.x];
  for (int i = 0; i < 4096; ++i)
    sum = sum * 3 + items[i];
  out[threadIdx.x] = sum;
}

void launch(int *out, const int *in) {
  striped<<<1, 64>>>(out, in);
  nested<<<1, 64>>>(out, in);
  table<<<1, 64>>>(out, in);
  do_not_unroll_without_array<<<1, 64>>>(out, in);
  do_not_unroll_for_memory<<<1, 64>>>(out, in);
  do_not_unroll_unknown_rounds<<<1, 64>>>(out, in, 6);
  do_not_unroll_if_told_so<<<1, 64>>>(out, in);
  do_not_unroll_barriers<<<1, 64>>>(out, in);
  do_not_unroll_blocked<<<1, 64>>>(out, in);
  do_not_unroll_large<<<1, 64>>>(out, in);
}

// The loop goes along a row element by element, from where threads beside one another are at elements beside one another: nothing is gathered
// where it is unrolled.
// CHECK-LABEL: define {{.*}} @_Z6windowPiPKi
// CHECK-NOT: alloca
// CHECK-NOT: phi
// CHECK: ret void
__global__ void window(int *out, const int *in) {
  int items[5];
  for (int i = 0; i < 5; ++i)
    items[i] = in[threadIdx.x + i];
  int sum = 0;
  for (int i = 0; i < 5; ++i)
    sum = sum * 3 + items[4 - i];
  out[threadIdx.x] = sum;
}
