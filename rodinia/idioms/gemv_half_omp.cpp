// A matrix in half precision times a vector: rows in parallel, columns in vectors; sums in single precision.
#include "twins.h"

#include <vector>

struct twin::HalfMatrix {
  int rows, cols;
  std::vector<_Float16> values, x;
};

twin::HalfMatrix *twin::make_half(const float *matrix, const float *x, int rows, int cols) {
  const std::size_t count = static_cast<std::size_t>(rows) * cols;
  return new HalfMatrix{rows, cols, {matrix, matrix + count}, {x, x + cols}};
}

void twin::free_half(HalfMatrix *matrix) { delete matrix; }

void twin::gemv_half(const HalfMatrix &matrix, float *y) {
  // The vector is widened once, the matrix as it is read.
  const std::vector<float> x(matrix.x.begin(), matrix.x.end());
#pragma omp parallel for schedule(static)
  for (int row = 0; row < matrix.rows; ++row) {
    const _Float16 *own = &matrix.values[static_cast<std::size_t>(row) * matrix.cols];
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (int col = 0; col < matrix.cols; ++col)
      sum += static_cast<float>(own[col]) * x[col];
    y[row] = sum;
  }
}
