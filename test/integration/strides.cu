// Loops in which threads go on by a stride: over the grid, over the block, in 32 and 64 bits, where numbers might wrap.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

__global__ void narrow(int *out, const int *in, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = in[i] * 3 + 1;
}

__global__ void wide(int *out, const int *in, long long n) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    if (in[i] % 2)
      out[i] += in[i];
}

// A thread reads what it wrote a stride before.
__global__ void recurrence(int *a, int n) {
  int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x + stride; i < n; i += stride)
    a[i] = a[i - stride] + 1;
}

// Two dimensions of threads, staged in shared memory.
__global__ void staged(int *out, const int *in, int n) {
  extern __shared__ int tile[];
  int t = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
  for (int i = t; i < n; i += threads)
    tile[i] = in[blockIdx.x * n + i];
  __syncthreads();
  for (int i = t; i < n; i += threads)
    out[blockIdx.x * n + i] = tile[n - 1 - i];
}

// The last step of the unsigned number is near the largest: three rounds.
__global__ void far(unsigned *count, unsigned n, unsigned stride) {
  for (unsigned i = threadIdx.x; i < n; i += stride)
    count[(i >> 30) * 64 + threadIdx.x] += 1 + (i >> 30);
}

// Rows and columns of a matrix, narrower and wider than a block, also from a negative start.
__global__ void matrix(int *out, int rows, int cols, int from) {
  for (int i = from + (int)(blockIdx.x * blockDim.x + threadIdx.x); i < rows * cols; i += gridDim.x * blockDim.x) {
    int row = i / cols, col = i % cols;
    out[i - from] = row * 1000 + col;
  }
}

__global__ void matrix_unsigned(int *out, unsigned rows, unsigned cols) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * cols; i += gridDim.x * blockDim.x)
    out[i] = (i / cols) * 1000 + i % cols + (int)i / (int)cols;
}

int main() {
  for (int n : {1, 63, 64, 1000, 4096, 5003}) {
    int *in = managed<int>(n), *out = managed<int>(n);
    for (int i = 0; i < n; ++i)
      in[i] = i * 7 % 31;
    for (dim3 shape : {dim3(1, 32), dim3(3, 64), dim3(4, 100)}) {
      narrow<<<shape.x, shape.y>>>(out, in, n);
      finish_kernel();
      for (int i = 0; i < n; ++i)
        EXPECT_AT(i, out[i], in[i] * 3 + 1);
      wide<<<shape.x, shape.y>>>(out, in, n);
      finish_kernel();
      for (int i = 0; i < n; ++i)
        EXPECT_AT(i, out[i], in[i] * 3 + 1 + (in[i] % 2 ? in[i] : 0));
      int stride = shape.x * shape.y;
      recurrence<<<shape.x, shape.y>>>(out, n);
      finish_kernel();
      for (int i = 0; i < n; ++i) {
        int first = i % stride;
        EXPECT_AT(i, out[i], in[first] * 3 + 1 + (in[first] % 2 ? in[first] : 0) + i / stride);
      }
    }
  }
  const int n = 700;
  int *in = managed<int>(3 * n), *out = managed<int>(3 * n);
  for (int i = 0; i < 3 * n; ++i)
    in[i] = i * i % 1009;
  for (dim3 block : {dim3(32, 4), dim3(16, 16), dim3(7, 3)}) {
    staged<<<3, block, n * sizeof(int)>>>(out, in, n);
    finish_kernel();
    for (int i = 0; i < 3 * n; ++i)
      EXPECT_AT(i, out[i], in[i / n * n + n - 1 - i % n]);
  }
  for (int cols : {1, 31, 64, 65, 127, 128, 129, 300})
    for (int from : {0, -40}) {
      const int rows = 23, all = rows * cols - from;
      int *cells = managed<int>(all);
      matrix<<<2, 64>>>(cells, rows, cols, from);
      finish_kernel();
      for (int i = 0; i < all; ++i)
        EXPECT_AT(i, cells[i], (i + from) / cols * 1000 + (i + from) % cols);
      matrix_unsigned<<<2, 64>>>(cells, rows, cols);
      finish_kernel();
      for (int i = 0; i < rows * cols; ++i)
        EXPECT_AT(i, cells[i], i / cols * 1001 + i % cols);
    }
  unsigned *count = managed<unsigned>(256);
  far<<<1, 64>>>(count, 0xc0000000u, 0x40000000u);
  finish_kernel();
  for (int i = 0; i < 256; ++i)
    EXPECT_AT(i, count[i], i < 192 ? 1 + i / 64u : 0);
  return result();
}
