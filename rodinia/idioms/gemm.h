// c = a b on the host, a: m x k, b: k x n: the twin of both matrix products. Panels of b are packed for the cache; four
// rows and 32 columns of c stay in registers while k runs over a panel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace twin {

constexpr int kRows = 4, kCols = 32, kDepth = 256, kRowsOfTask = 32;

// sum = kRows rows of a, which `row` lists, times a packed panel of `depth` rows.
inline void multiply_panel(const float *const row[kRows], const float *__restrict panel, int depth,
                           float (&__restrict sum)[kRows][kCols]) {
  float s0[kCols] = {}, s1[kCols] = {}, s2[kCols] = {}, s3[kCols] = {};
  for (int p = 0; p < depth; ++p) {
    const float *right = panel + p * kCols;
    const float a0 = row[0][p], a1 = row[1][p], a2 = row[2][p], a3 = row[3][p];
#pragma omp simd
    for (int j = 0; j < kCols; ++j) {
      s0[j] += a0 * right[j];
      s1[j] += a1 * right[j];
      s2[j] += a2 * right[j];
      s3[j] += a3 * right[j];
    }
  }
  std::copy_n(s0, kCols, sum[0]);
  std::copy_n(s1, kCols, sum[1]);
  std::copy_n(s2, kCols, sum[2]);
  std::copy_n(s3, kCols, sum[3]);
}

// Rows [first, first + depth) of b, kCols columns after the other, filled up with zeros.
inline void pack(const float *b, float *packed, int n, int first, int depth) {
#pragma omp for schedule(static)
  for (int col = 0; col < n; col += kCols)
    for (int p = 0; p < depth; ++p) {
      const float *from = b + static_cast<std::size_t>(first + p) * n + col;
      float *to = packed + static_cast<std::size_t>(col) * depth + p * kCols;
      const int cols = std::min(kCols, n - col);
      std::copy_n(from, cols, to);
      std::fill(to + cols, to + kCols, 0.0f);
    }
}

inline void gemm(const float *a, const float *b, float *c, int m, int n, int k) {
  std::vector<float> packed(static_cast<std::size_t>(n + kCols) * kDepth);
  std::fill(c, c + static_cast<std::size_t>(m) * n, 0.0f);
#pragma omp parallel
  for (int first = 0; first < k; first += kDepth) {
    const int depth = std::min(kDepth, k - first);
    pack(b, packed.data(), n, first, depth);
#pragma omp for schedule(static)
    for (int top = 0; top < m; top += kRowsOfTask)
      for (int col = 0; col < n; col += kCols)
        for (int at = top; at < std::min(top + kRowsOfTask, m); at += kRows) {
          const float *rows[kRows];
          for (int i = 0; i < kRows; ++i)
            rows[i] = a + static_cast<std::size_t>(std::min(at + i, m - 1)) * k + first;
          float sum[kRows][kCols];
          multiply_panel(rows, &packed[static_cast<std::size_t>(col) * depth], depth, sum);
          for (int i = 0; i < std::min(kRows, m - at); ++i)
            for (int j = 0; j < std::min(kCols, n - col); ++j)
              c[static_cast<std::size_t>(at + i) * n + col + j] += sum[i][j];
        }
  }
}

} // namespace twin
