#include <cstdio>
__global__ void add(int *out, int v) { out[threadIdx.x] += v; }
int main() {
  int *out;
  cudaMallocManaged(&out, 64 * sizeof(int));
  add<<<1, 64>>>(out, 3);
  cudaDeviceSynchronize();
  printf("sum %d\n", out[0] + out[63]);
}
