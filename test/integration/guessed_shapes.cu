// A kernel with warps that asks for y of a thread, states a bound and never reads how many threads a block has is taken to be launched in rows of
// a warp; any other shape gives the same results, by a block function that is compiled for size.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t && %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-coarsen-blocks=2 %s -o %t2 && %t2
#include "check.h"

// Products of rows of `m` with `v`, a row for each y; the lanes of x share it.
__global__ void __launch_bounds__(256) products(const int *m, const int *v, int *out, int columns, int rows, int width) {
  int row = blockIdx.x * rows + threadIdx.y;
  int sum = 0;
#pragma unroll 4
  for (int column = threadIdx.x; column < columns; column += width)
    sum += m[row * columns + column] * v[column];
  for (int distance = width / 2; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(~0u, sum, distance);
  if (threadIdx.x == 0)
    out[row] = sum;
}

int main() {
  constexpr int blocks = 3, columns = 77, most = blocks * 32;
  int *m = managed<int>(most * columns), *v = managed<int>(columns), *out = managed<int>(most);
  for (int i = 0; i < most * columns; ++i)
    m[i] = i * 7 % 13;
  for (int i = 0; i < columns; ++i)
    v[i] = i * 5 % 11 - 3;
  // The shapes are not constants for whoever compiles this.
  static volatile int shapes[][2] = {{32, 8}, {32, 3}, {16, 8}, {16, 16}, {8, 32}, {32, 1}};
  for (volatile auto &shape : shapes) {
    int width = shape[0], rows = shape[1];
    for (int i = 0; i < most; ++i)
      out[i] = -1;
    products<<<blocks, dim3(width, rows)>>>(m, v, out, columns, rows, width);
    finish_kernel();
    for (int row = 0; row < most; ++row) {
      int sum = 0;
      for (int column = 0; column < columns; ++column)
        sum += m[row * columns + column] * v[column];
      EXPECT_AT(row, out[row], row < blocks * rows ? sum : -1);
    }
  }
  return result();
}
