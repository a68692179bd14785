// Threads of y do all the same, and add to what they find: a data race, in which a GPU's threads go in step, so that the sum is added once.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t && %t | FileCheck %s
// CHECK: 4 28 52 76
#include <cstdio>

__global__ void sums(const float *matrix, float *sums, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  for (int column = 0; column < columns; ++column)
    sums[row] += matrix[row * columns + column];
}

int main() {
  constexpr int rows = 32, columns = 4;
  float *matrix, *result;
  cudaMallocManaged(&matrix, rows * columns * sizeof(float));
  cudaMallocManaged(&result, rows * sizeof(float));
  for (int i = 0; i < rows * columns; ++i)
    matrix[i] = 1.5f * i;
  for (int row = 0; row < rows; ++row)
    result[row] = -5;
  sums<<<1, dim3(rows, 8)>>>(matrix, result, columns);
  if (cudaDeviceSynchronize() != cudaSuccess)
    return 1;
  std::printf("%g %g %g %g\n", result[0], result[1], result[2], result[3]);
}
