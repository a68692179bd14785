// A processor whose gathers are slow gets lanes as scalars, beside what they are told by: no vector of addresses is taken apart. Masked
// lanes go by its gathers, a group at a time, where more than a few take part. Where it has none, lanes load what the first of those that
// take part does: there is no branch for each. Elements of less than a word come out of the words that they lie in.
// Functions with many go by the processor's gathers after all.
// RUN: %regrain -O3 --offload-arch=cpu -fregrain-cpu=znver3 -c %s -o %t.o
// RUN: llvm-objdump -d --no-show-raw-insn %t.o | FileCheck %s
// RUN: %regrain -O3 --offload-arch=cpu -fregrain-cpu=btver2 -c %s -o %t.none.o
// RUN: llvm-objdump -d --no-show-raw-insn %t.none.o | FileCheck %s --check-prefix=NONE

// CHECK-LABEL: <__regrain_block.all_lanes.b128x1x1>:
// CHECK-NOT: vpextr
// CHECK-NOT: gather
// CHECK-COUNT-8: movslq {{.*}}(%{{.*}}), %r
// CHECK-NOT: gather
// CHECK: retq
extern "C" __global__ void all_lanes(const int *__restrict__ index, const float *__restrict__ from, float *__restrict__ out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = from[index[i]];
}

// CHECK-LABEL: <__regrain_block.some_lanes.b128x1x1>:
// CHECK: vpcmpgtd
// CHECK-DAG: popcnt
// CHECK-DAG: vgatherdps
// CHECK: retq
// NONE-LABEL: <__regrain_block.some_lanes.b128x1x1>:
// NONE-NOT: gather
// NONE-NOT: testb
// NONE: tzcnt
// NONE-NOT: gather
// NONE-NOT: testb
// NONE: retq
extern "C" __global__ void some_lanes(const int *__restrict__ index, const float *__restrict__ from, float *__restrict__ out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int at = index[i];
  out[i] = at >= 0 ? from[at] : 0.0f;
}

// CHECK-LABEL: <__regrain_block.some_parts.b128x1x1>:
// CHECK-NOT: popcnt
// CHECK-NOT: movzwl
// CHECK: vp{{s*}}gather{{q|d}}d
// CHECK-NOT: movzwl
// CHECK: retq
extern "C" __global__ void some_parts(const int *__restrict__ index, const unsigned short *__restrict__ from, float *__restrict__ out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int at = index[i];
  out[i] = at >= 0 ? from[at] : 0.0f;
}

// In a function with many all go by the instruction.
// CHECK-LABEL: <__regrain_block.many_lanes.b128x1x1>:
// CHECK-NOT: popcnt
// CHECK-NOT: movslq {{.*}}(%{{.*}}), %r
// CHECK-COUNT-40: vgatherdps
// CHECK: retq
extern "C" __global__ void many_lanes(const int *__restrict__ index, const float *__restrict__ from, float *__restrict__ out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 40; ++k) {
    const int at = index[i + 1000 * k];
    if (k % 2 == 0 || at >= 0)
      sum += from[at];
  }
  out[i] = sum;
}

void launch(const int *index, const float *from, float *out) {
  all_lanes<<<5, 128>>>(index, from, out);
  some_lanes<<<5, 128>>>(index, from, out);
  some_parts<<<5, 128>>>(index, (const unsigned short *)from, out);
  many_lanes<<<5, 128>>>(index, from, out);
}
