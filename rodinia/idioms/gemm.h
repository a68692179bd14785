// c = a b on the host, a: m x k, b: k x n: the twin of both matrix products. Four rows of c and 32 columns are kept in
// registers while k runs over a piece that the cache holds.
#pragma once

#include <algorithm>
#include <cstddef>

namespace twin {

constexpr int kRowsAtOnce = 4, kColsAtOnce = 32, kDepth = 256;

// Adds a piece of k to rows x cols of c, at most kRowsAtOnce x kColsAtOnce.
template <int Rows, int Cols>
inline void multiply_piece(const float *a, const float *b, float *c, int depth, int n, int k, int rows,
                           int cols) {
  float sum[Rows][Cols] = {};
  for (int p = 0; p < depth; ++p)
    for (int i = 0; i < rows; ++i) {
      const float left = a[static_cast<std::size_t>(i) * k + p];
#pragma omp simd
      for (int j = 0; j < cols; ++j)
        sum[i][j] += left * b[static_cast<std::size_t>(p) * n + j];
    }
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j)
      c[static_cast<std::size_t>(i) * n + j] += sum[i][j];
}

inline void gemm(const float *a, const float *b, float *c, int m, int n, int k) {
#pragma omp parallel for schedule(static)
  for (int top = 0; top < m; top += 8 * kRowsAtOnce) {
    const int bottom = std::min(top + 8 * kRowsAtOnce, m);
    std::fill(c + static_cast<std::size_t>(top) * n, c + static_cast<std::size_t>(bottom) * n, 0.0f);
    for (int first = 0; first < k; first += kDepth) {
      const int depth = std::min(kDepth, k - first);
      for (int col = 0; col < n; col += kColsAtOnce)
        for (int row = top; row < bottom; row += kRowsAtOnce) {
          const float *left = a + static_cast<std::size_t>(row) * k + first;
          const float *right = b + static_cast<std::size_t>(first) * n + col;
          float *out = c + static_cast<std::size_t>(row) * n + col;
          const int rows = std::min(kRowsAtOnce, bottom - row), cols = std::min(kColsAtOnce, n - col);
          // With constant bounds the sums stay in registers.
          if (rows == kRowsAtOnce && cols == kColsAtOnce)
            multiply_piece<kRowsAtOnce, kColsAtOnce>(left, right, out, depth, n, k, kRowsAtOnce, kColsAtOnce);
          else
            multiply_piece<kRowsAtOnce, kColsAtOnce>(left, right, out, depth, n, k, rows, cols);
        }
    }
  }
}

} // namespace twin
