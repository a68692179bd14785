// Products of matrices, as kernels are written for them: one result for each thread, rows of blocks of several heights, tiles in shared memory,
// and several results for each thread in its registers. Each sum is what the host adds up in the same order, bit by bit.
// RUN: %regrain -O2 --offload-arch=cpu -ffp-contract=off %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

#include <vector>

// As the host computes: a product and a sum are rounded each.
#pragma clang fp contract(off)

template <typename T> struct Product {
  const T *a, *b;
  T *c;
  int m, n, k;
};

template <typename T> __global__ void one_each(Product<T> p) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= p.n || y >= p.m)
    return;
  T sum = 0;
  for (int k = 0; k < p.k; ++k)
    sum += p.a[y * p.k + k] * p.b[k * p.n + x];
  p.c[y * p.n + x] = sum;
}

// No guard, and rows of an unknown number.
template <typename T> __global__ void one_row_each(Product<T> p) {
  int x = threadIdx.x, y = threadIdx.y;
  T sum = 0, last = 0;
  for (int k = 0; k < p.k; ++k) {
    T b = p.b[k * p.n + x];
    sum += p.a[y * p.k + k] * b;
    last = last * T(0.5) + b;
  }
  p.c[y * p.n + x] = sum - last * p.a[y * p.k];
}

template <typename T, int Size> __global__ void by_tiles(Product<T> p) {
  __shared__ T as[Size][Size], bs[Size][Size];
  int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * Size + tx, y = blockIdx.y * Size + ty;
  T sum = 0;
  for (int first = 0; first < p.k; first += Size) {
    as[ty][tx] = y < p.m && first + tx < p.k ? p.a[y * p.k + first + tx] : T(0);
    bs[ty][tx] = first + ty < p.k && x < p.n ? p.b[(first + ty) * p.n + x] : T(0);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < Size; ++k)
      sum += as[ty][k] * bs[k][tx];
    __syncthreads();
  }
  if (x < p.n && y < p.m)
    p.c[y * p.n + x] = sum;
}

// Each thread has High x Wide results, side by side or apart.
template <typename T, int Rows, int Columns, int Depth, int High, int Wide, bool Apart>
__global__ void by_registers(Product<T> p) {
  constexpr int X = Columns / Wide, Y = Rows / High;
  __shared__ T as[Rows][Depth], bs[Depth][Columns + 1];
  int tx = threadIdx.x % X, ty = threadIdx.x / X, first_row = blockIdx.y * Rows, first_column = blockIdx.x * Columns;
  T sums[High][Wide] = {}, left[High], right[Wide];
  for (int first = 0; first < p.k; first += Depth) {
    for (int i = threadIdx.x; i < Rows * Depth; i += X * Y) {
      int row = first_row + i / Depth, k = first + i % Depth;
      as[i / Depth][i % Depth] = row < p.m && k < p.k ? p.a[row * p.k + k] : T(0);
    }
    for (int i = threadIdx.x; i < Depth * Columns; i += X * Y) {
      int k = first + i / Columns, column = first_column + i % Columns;
      bs[i / Columns][i % Columns] = k < p.k && column < p.n ? p.b[k * p.n + column] : T(0);
    }
    __syncthreads();
    for (int k = 0; k < Depth; ++k) {
      for (int i = 0; i < High; ++i)
        left[i] = as[Apart ? ty + i * Y : ty * High + i][k];
      for (int j = 0; j < Wide; ++j)
        right[j] = bs[k][Apart ? tx + j * X : tx * Wide + j];
      for (int i = 0; i < High; ++i)
        for (int j = 0; j < Wide; ++j)
          sums[i][j] += left[i] * right[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < High; ++i)
    for (int j = 0; j < Wide; ++j) {
      int row = first_row + (Apart ? ty + i * Y : ty * High + i), column = first_column + (Apart ? tx + j * X : tx * Wide + j);
      if (row < p.m && column < p.n)
        p.c[row * p.n + column] = sums[i][j];
    }
}

// What is multiplied is kept from the round before in part, and read once more behind the loop.
__global__ void with_memory(const float *a, const float *b, float *c) {
  float sums[3][8] = {}, right[8];
  for (int j = 0; j < 8; ++j)
    right[j] = float(j);
  for (int k = 0; k < 6; ++k) {
    for (int j = 0; j < (threadIdx.y ? 8 : 7); ++j)
      right[j] = b[k * 256 + threadIdx.x * 8 + j];
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 8; ++j)
        sums[i][j] += a[(threadIdx.y * 3 + i) * 6 + k] * right[j];
  }
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 8; ++j)
      c[((threadIdx.y * 32 + threadIdx.x) * 3 + i) * 8 + j] = sums[i][j] + right[7 - j];
}

template <typename T> T number(unsigned &state) {
  state = state * 1664525u + 1013904223u;
  return T(int(state >> 20) - 2048) / T(37);
}

// Depth is what a tile adds up to behind the end: zeros, which change no sum but that of nothing but negative zeros.
template <typename T, typename Launch> void check(int m, int n, int k, Launch launch, bool row = false) {
  T *a = managed<T>(m * k), *b = managed<T>(k * n), *c = managed<T>(m * n);
  unsigned state = m * 31 + n * 7 + k;
  for (int i = 0; i < m * k; ++i)
    a[i] = number<T>(state);
  for (int i = 0; i < k * n; ++i)
    b[i] = number<T>(state);
  launch(Product<T>{a, b, c, m, n, k});
  finish_kernel();
  for (int y = 0; y < m; ++y)
    for (int x = 0; x < n; ++x) {
      volatile T sum = 0, last = 0; // no operation is made one with the next
      for (int i = 0; i < k; ++i) {
        volatile T product = a[y * k + i] * b[i * n + x], half = last * T(0.5);
        sum = sum + product;
        last = half + b[i * n + x];
      }
      volatile T more = last * a[y * k];
      EXPECT_AT(y * n + x, c[y * n + x], row ? T(sum - more) : T(sum));
    }
  for (T *array : {a, b, c})
    OK(cudaFree(array));
}

template <typename T> void all() {
  auto blocks = [](int size, int by) { return unsigned((size + by - 1) / by); };
  for (int m : {16, 37, 64})
    for (int n : {32, 61}) {
      int k = m + n;
      check<T>(m, n, k, [&](auto p) { one_each<<<dim3(blocks(n, 16), blocks(m, 16)), dim3(16, 16)>>>(p); });
      check<T>(m, n, k, [&](auto p) { one_each<<<dim3(blocks(n, 32), blocks(m, 6)), dim3(32, 6)>>>(p); });
      check<T>(m, n, k, [&](auto p) { by_tiles<T, 16><<<dim3(blocks(n, 16), blocks(m, 16)), dim3(16, 16)>>>(p); });
      check<T>(m, n, k, [&](auto p) { by_tiles<T, 8><<<dim3(blocks(n, 8), blocks(m, 8)), dim3(8, 8)>>>(p); });
      check<T>(m, n, k, [&](auto p) {
        by_registers<T, 64, 64, 8, 8, 8, false><<<dim3(blocks(n, 64), blocks(m, 64)), 64>>>(p);
      });
      check<T>(m, n, k, [&](auto p) {
        by_registers<T, 64, 64, 16, 4, 4, true><<<dim3(blocks(n, 64), blocks(m, 64)), 256>>>(p);
      });
      check<T>(m, n, k, [&](auto p) {
        by_registers<T, 24, 40, 4, 3, 5, false><<<dim3(blocks(n, 40), blocks(m, 24)), 64>>>(p);
      });
    }
  for (int rows = 1; rows < 8; ++rows) // the compiler does not know how many
    check<T>(rows, 32, 9, [&](auto p) { one_row_each<<<1, dim3(32, rows)>>>(p); }, true);
}

int main() {
  all<float>();
  all<double>();
  float *a = managed<float>(36), *b = managed<float>(6 * 256), *c = managed<float>(2 * 32 * 24);
  unsigned state = 5;
  for (int i = 0; i < 36; ++i)
    a[i] = number<float>(state);
  for (int i = 0; i < 6 * 256; ++i)
    b[i] = number<float>(state);
  with_memory<<<1, dim3(32, 2)>>>(a, b, c);
  finish_kernel();
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 32; ++x)
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 8; ++j) {
          auto right = [&](int k, int j) { return y || j < 7 ? b[k * 256 + x * 8 + j] : 7.f; };
          volatile float sum = 0;
          for (int k = 0; k < 6; ++k) {
            volatile float product = a[(y * 3 + i) * 6 + k] * right(k, j);
            sum = sum + product;
          }
          EXPECT_AT(y, c[((y * 32 + x) * 3 + i) * 8 + j], float(sum + right(5, 7 - j)));
        }
  return result();
}
