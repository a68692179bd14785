// A row of threads is reckoned in registers of 512 bits where these hardly lower the clock, from Ice Lake on and on AMD's processors: the cheapest
// rows are two of them long here. On the first of Intel's processors that have them it is reckoned in halves.
// RUN: %regrain -O3 --offload-arch=cpu -fregrain-cpu=icelake-server -c %s -o %t.o
// RUN: llvm-objdump -d --no-show-raw-insn %t.o | FileCheck %s
// RUN: %regrain -O3 --offload-arch=cpu -fregrain-cpu=znver4 -c %s -o %t.amd.o
// RUN: llvm-objdump -d --no-show-raw-insn %t.amd.o | FileCheck %s
// RUN: %regrain -O3 --offload-arch=cpu -fregrain-cpu=skylake-avx512 -c %s -o %t.half.o
// RUN: llvm-objdump -d --no-show-raw-insn %t.half.o | FileCheck %s --check-prefix=HALF

// CHECK-LABEL: <__regrain_block.scale.b128x1x1>:
// CHECK-COUNT-2: vmovntps %zmm
// CHECK-NOT: %ymm
// CHECK: retq
// HALF-LABEL: <__regrain_block.scale.b128x1x1>:
// HALF-NOT: vmovntps %zmm
// HALF-COUNT-2: vmovntps %ymm
// HALF-NOT: vmovntps %zmm
// HALF: retq
extern "C" __global__ void scale(const float *__restrict__ in, float *__restrict__ out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] * 3.0f;
}

void run(const float *in, float *out) { scale<<<8, 128>>>(in, out); }
