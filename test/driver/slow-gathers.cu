// A processor whose gathers are slow gets lanes as scalars, beside what they are told by: no vector of addresses is taken apart. Where
// lanes are masked, groups of them of which all take part go so too.
// RUN: %regrain -O3 --offload-arch=cpu -march=znver3 -c %s -o %t.o
// RUN: llvm-objdump -d --no-show-raw-insn %t.o | FileCheck %s

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
// All lanes of a group in one piece, then each by its bit.
// CHECK-COUNT-4: vinsertps {{.*}}(%{{.*}}), %xmm
// CHECK-NOT: gather
// CHECK: movmsk
// CHECK-COUNT-7: testb
// CHECK-NOT: gather
// CHECK: retq
extern "C" __global__ void some_lanes(const int *__restrict__ index, const float *__restrict__ from, float *__restrict__ out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int at = index[i];
  out[i] = at >= 0 ? from[at] : 0.0f;
}

void launch(const int *index, const float *from, float *out) {
  all_lanes<<<5, 128>>>(index, from, out);
  some_lanes<<<5, 128>>>(index, from, out);
}
