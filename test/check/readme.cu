// The program of the manual, "Checking kernels" (tools/regrain/manual/cpu.md).

// REQUIRES: cuda-toolkit
// RUN: %regrain --offload-arch=cpu -O2 -g -fregrain-check=all %s -o %t && not %t 2>&1 | FileCheck %s

// CHECK-DAG: {{^}}========= Race of a write and an earlier read of __shared__ memory
// CHECK-DAG: ========= Invalid __global__ read of size 4 bytes
// CHECK-DAG: by thread (36,0,0) in block (1,0,0) of sums(int const*, int*, int)
// CHECK-DAG: is right behind an allocation of 400 bytes made by cudaMalloc at
// CHECK: ========= ERROR SUMMARY: 5 errors, met 395 times
__global__ void sums(const int *p, int *out, int n) {
  __shared__ int tile[64];
  int i = blockIdx.x * 64 + threadIdx.x;
  tile[threadIdx.x] = p[i];
  for (int step = 32; step > 0; step /= 2)
    if (threadIdx.x < step) tile[threadIdx.x] += tile[threadIdx.x + step];
  if (threadIdx.x == 0) out[blockIdx.x] = tile[0];
}
int main() {
  int *p, *out, n = 100;
  cudaMalloc(&p, n * sizeof(int));
  cudaMemset(p, 0, n * sizeof(int));
  cudaMalloc(&out, 2 * sizeof(int));
  sums<<<2, 64>>>(p, out, n);
  cudaFree(p);
  return cudaDeviceSynchronize();
}
