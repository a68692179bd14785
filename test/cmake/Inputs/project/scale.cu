#include "grains.h"
static __global__ void scale_kernel(float *data, float by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= by;
}
void scale(float *data, float by, int n) { scale_kernel<<<(n + 31) / 32, 32>>>(data, by, n); }
