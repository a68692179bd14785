// A warp for a row of any length: the last round of its loop, and sums over lanes by shuffles whose distances halve, double or count.
// RUN: %regrain -O3 --offload-arch=cpu -ffp-contract=off %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"
#include <vector>

// As the host computes: a product and a sum are rounded each.
#pragma clang fp contract(off)

enum { ROWS = 301, BLOCK = 128 };

template <class T> __global__ void down(int rows, const int *begin, const int *column, const T *value, const T *x, T *y) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  T sum = 0;
  for (int j = begin[row] + lane; j < begin[row + 1]; j += 32) sum += value[j] * x[column[j]];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (lane == 0) y[row] = sum;
}

// Two sums, one of which only some lanes change; distances double; unsigned numbers, by 64.
template <class T> __global__ void two(unsigned rows, const int *begin, const int *column, const T *value, const T *x, T *y) {
  unsigned row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  T sum = 0, odd = 1;
  int last = -1;
  for (unsigned j = begin[row] + lane; j < begin[row + 1]; j += 64) {
    sum += value[j] * x[column[j]];
    if (column[j] & 1) odd += x[column[j] / 2];
    last = column[j];
  }
  for (int d = 1; d < 32; d <<= 1) sum += __shfl_xor_sync(~0u, sum, d);
  for (int k = 0; k < 5; ++k) odd += __shfl_xor_sync(~0u, odd, 1 << k);
  y[32 * row + lane] = sum + odd * last;
}

template <class T> int check(const char *name) {
  std::vector<int> begin{0}, column;
  std::vector<T> value, x(1000);
  unsigned seed = 7;
  auto next = [&] { return (seed = seed * 1664525u + 1013904223u) >> 10; };
  for (int row = 0; row < ROWS; ++row) {
    for (int count = row < 100 ? row : next() % 150; count > 0; --count) {
      column.push_back(next() % x.size());
      value.push_back(T(next() % 1000) / 7);
    }
    begin.push_back(column.size());
  }
  column.push_back(0), value.push_back(0);
  for (T &number : x) number = T(next() % 1000) / 3;

  int *dbegin = nullptr, *dcolumn = nullptr;
  T *dvalue = nullptr, *dx = nullptr, *dy = nullptr;
  cudaMalloc(&dbegin, begin.size() * sizeof(int)), cudaMalloc(&dcolumn, column.size() * sizeof(int));
  cudaMalloc(&dvalue, value.size() * sizeof(T)), cudaMalloc(&dx, x.size() * sizeof(T));
  cudaMalloc(&dy, 32 * ROWS * sizeof(T));
  cudaMemcpy(dbegin, begin.data(), begin.size() * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(dcolumn, column.data(), column.size() * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(dvalue, value.data(), value.size() * sizeof(T), cudaMemcpyHostToDevice);
  cudaMemcpy(dx, x.data(), x.size() * sizeof(T), cudaMemcpyHostToDevice);

  int wrong = 0;
  const int blocks = (ROWS * 32 + BLOCK - 1) / BLOCK;
  std::vector<T> y(32 * ROWS);
  down<<<blocks, BLOCK>>>(ROWS, dbegin, dcolumn, dvalue, dx, dy);
  cudaMemcpy(y.data(), dy, ROWS * sizeof(T), cudaMemcpyDeviceToHost);
  for (int row = 0; row < ROWS; ++row) {
    T lanes[64] = {};
    for (int j = begin[row]; j < begin[row + 1]; ++j) lanes[(j - begin[row]) % 32] += value[j] * x[column[j]];
    for (int d = 16; d > 0; d /= 2)
      for (int lane = 0; lane < 32; ++lane) lanes[lane] += lanes[lane + d < 32 ? lane + d : lane];
    wrong += y[row] != lanes[0];
  }
  two<<<blocks, BLOCK>>>(ROWS, dbegin, dcolumn, dvalue, dx, dy);
  cudaMemcpy(y.data(), dy, y.size() * sizeof(T), cudaMemcpyDeviceToHost);
  for (int row = 0; row < ROWS; ++row) {
    T sum[32] = {}, odd[32];
    int last[32];
    for (int lane = 0; lane < 32; ++lane) {
      odd[lane] = 1, last[lane] = -1;
      for (int j = begin[row] + lane; j < begin[row + 1]; j += 64) {
        sum[lane] += value[j] * x[column[j]];
        if (column[j] & 1) odd[lane] += x[column[j] / 2];
        last[lane] = column[j];
      }
    }
    for (int d = 1; d < 32; d *= 2) {
      T s[32], o[32];
      for (int lane = 0; lane < 32; ++lane) s[lane] = sum[lane] + sum[lane ^ d], o[lane] = odd[lane] + odd[lane ^ d];
      for (int lane = 0; lane < 32; ++lane) sum[lane] = s[lane], odd[lane] = o[lane];
    }
    for (int lane = 0; lane < 32; ++lane) wrong += y[32 * row + lane] != sum[lane] + odd[lane] * last[lane];
  }
  printf("%s: %d wrong\n", name, wrong);
  return wrong;
}

int main() { return (check<float>("float") + check<double>("double")) != 0; }
