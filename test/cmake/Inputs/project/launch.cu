#include "grains.h"
#include <cstdio>
#ifdef APART
extern __device__ int squares_made;
extern __device__ float square(float x);
static __global__ void square_kernel(float *data) { data[threadIdx.x] = square(data[threadIdx.x]); }
static float apart() {
  float *data, h[4] = {1, 2, 3, 4};
  int made = 0;
  cudaMalloc(&data, sizeof h);
  cudaMemcpy(data, h, sizeof h, cudaMemcpyHostToDevice);
  square_kernel<<<1, 4>>>(data);
  cudaMemcpy(h, data, sizeof h, cudaMemcpyDeviceToHost);
  cudaMemcpyFromSymbol(&made, squares_made, sizeof made);
  cudaFree(data);
  return made == 4 ? h[3] : -1;
}
#else
static float apart() { return 16; }
#endif
float run(int n) {
  float *data;
  if (cudaMalloc(&data, n * sizeof *data) != cudaSuccess) return -1;
  fill(data, n);
  scale(data, apart() / 16, n);
  float result = sum(data, n);
  cudaFree(data);
  return result;
}
