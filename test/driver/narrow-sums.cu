// A sum over lanes of which one thread takes the result adds half the lanes in each step: 2 + 1 vectors of eight lanes, then of four.
// RUN: %regrain -O3 --offload-arch=cpu -fregrain-cpu=znver3 -c %s -o %t.o
// RUN: llvm-objdump -d --no-show-raw-insn %t.o | FileCheck %s

// CHECK-LABEL: <__regrain_block.first.b32x1x1>:
// CHECK-COUNT-3: vaddps {{.*}}%ymm
// CHECK-NOT: vaddps {{.*}}%ymm
// CHECK-COUNT-3: vadd{{[ps]}}s {{.*}}%xmm
// CHECK-NOT: vadd
// CHECK: retq
extern "C" __global__ void first(const float *in, float *out) {
  float sum = in[32 * blockIdx.x + threadIdx.x];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// Where all threads take it no lane is left out.
// CHECK-LABEL: <__regrain_block.do_not_narrow.b32x1x1>:
// CHECK-COUNT-20: vaddps {{.*}}%ymm
// CHECK-NOT: vadd
// CHECK: retq
extern "C" __global__ void do_not_narrow(const float *in, float *out) {
  float sum = in[32 * blockIdx.x + threadIdx.x];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  out[32 * blockIdx.x + threadIdx.x] = sum;
}

void launch(const float *in, float *out) {
  first<<<5, 32>>>(in, out);
  do_not_narrow<<<5, 32>>>(in, out);
}
