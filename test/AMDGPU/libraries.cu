// Mathematical functions of the device are AMD's, linked and made part of the kernel.

// REQUIRES: cuda-toolkit, rocm-device-libs
// RUN: %regrain --offload-arch=gfx90a -O2 --cuda-device-only -S %s -o - | FileCheck %s
// RUN: %regrain --offload-arch=gfx942,gfx1030,gfx1100,gfx1201 -O2 -c %s -o %t.o

// CHECK-NOT: __nv_
// CHECK-NOT: __ocml_
// CHECK-LABEL: {{^}}_Z4sinePf:
// CHECK: s_endpgm
__global__ void sine(float *p) { p[threadIdx.x] = sinf(p[threadIdx.x]); }

// CHECK-LABEL: {{^}}_Z4fastPf:
// CHECK: v_sin_f32
// CHECK: s_endpgm
__global__ void fast(float *p) { p[threadIdx.x] = __sinf(p[threadIdx.x]); }

// A quotient is rounded right; a product and a sum become one operation, as CUDA has it.
// CHECK-LABEL: {{^}}_Z8quotientPfff:
// CHECK: v_div_scale_f32
// CHECK: v_div_fixup_f32
// CHECK-LABEL: {{^}}_Z5fusedPfff:
// CHECK: {{v_(fma|fmac|fmamk|pk_fma)}}_f32
__global__ void quotient(float *p, float a, float b) { *p = a / b; }
__global__ void fused(float *p, float a, float b) { *p = *p * a + b; }

// printf and assert write to a buffer that the runtime reads.
// CHECK: .globl __regrain_output
__global__ void speaks(int n) { printf("%d\n", n); }
