// Arrays in shared memory are aligned for accesses of 16 bytes, as clang aligns them for HIP.

// REQUIRES: cuda-toolkit
// RUN: %regrain --offload-arch=gfx90a -O2 --cuda-device-only -S %s -o - | FileCheck %s

// CHECK-LABEL: {{^}}_Z4rowsPf:
// CHECK: s_barrier
// CHECK: ds_read_b128
// CHECK: s_endpgm
__global__ void rows(float *a) {
  __shared__ float s[64][4];
  s[threadIdx.x / 4][threadIdx.x % 4] = a[threadIdx.x];
  __syncthreads();
  const float *row = s[63 - threadIdx.x / 4];
  a[threadIdx.x] = row[0] + row[1] * row[2] + row[3];
}
