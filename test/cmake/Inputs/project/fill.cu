#include "grains.h"
static __global__ void fill_kernel(float *data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = i;
}
void fill(float *data, int n) { fill_kernel<<<(n + 31) / 32, 32>>>(data, n); }
