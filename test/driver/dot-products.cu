// A dot product of bytes by lanes is what the processor has for it: one instruction where no byte of a factor is negative, two where both
// have a sign, products of halves where it has no more than those. Nothing multiplies words.
// RUN: %regrain -O3 --offload-arch=cpu -fregrain-cpu=znver4 -c %s -o %t.o
// RUN: llvm-objdump -d --no-show-raw-insn %t.o | FileCheck %s
// RUN: %regrain -O3 --offload-arch=cpu -fregrain-cpu=znver3 -c %s -o %t.halves.o
// RUN: llvm-objdump -d --no-show-raw-insn %t.halves.o | FileCheck %s --check-prefix=HALVES

// CHECK-LABEL: <__regrain_block.any.b128x1x1>:
// CHECK-NOT: vpmull
// CHECK-COUNT-2: vpdpbusd
// CHECK-NOT: vpmull
// CHECK: retq
// HALVES-LABEL: <__regrain_block.any.b128x1x1>:
// HALVES-NOT: vpmull
// HALVES-COUNT-2: vpmaddwd
// HALVES-NOT: vpmull
// HALVES: retq
extern "C" __global__ void any(const int *__restrict__ a, const int *__restrict__ b, int *__restrict__ out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = __dp4a(a[i], b[i], out[i]);
}

// CHECK-LABEL: <__regrain_block.never_negative.b128x1x1>:
// CHECK-NOT: vpmull
// CHECK: vpdpbusd
// CHECK-NOT: vpmull
// CHECK: retq
// HALVES-LABEL: <__regrain_block.never_negative.b128x1x1>:
// HALVES-NOT: vpmull
// HALVES: vpmaddubsw
// HALVES: vpmaddwd
// HALVES-NOT: vpmull
// HALVES: retq
extern "C" __global__ void never_negative(const int *__restrict__ a, const int *__restrict__ b, int *__restrict__ out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = __dp4a(a[i] & 0x0f0f0f0f, b[i], out[i]);
}

// Products of bytes at other places are none.
// CHECK-LABEL: <__regrain_block.do_not_find.b128x1x1>:
// CHECK-NOT: vpdpbusd
// CHECK: retq
extern "C" __global__ void do_not_find(const unsigned *__restrict__ a, const unsigned *__restrict__ b, unsigned *__restrict__ out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned x = a[i], y = b[i];
  out[i] += (x & 255) * (y >> 24) + (x >> 8 & 255) * (y >> 16 & 255) + (x >> 16 & 255) * (y >> 8 & 255) + (x >> 24) * (y & 255);
}

void launch(const int *a, const int *b, int *out) {
  any<<<5, 128>>>(a, b, out);
  never_negative<<<5, 128>>>(a, b, out);
  do_not_find<<<5, 128>>>((const unsigned *)a, (const unsigned *)b, (unsigned *)out);
}
