// A matrix in ELLPACK form times a vector: pieces of rows in parallel, the rows of a piece in vectors, column by column
// as they are stored.
#include "twins.h"

#include <algorithm>

void twin::spmv_ell(const int *cols, const float *values, const float *x, float *y, int rows, int width) {
  constexpr int kPiece = 512;
#pragma omp parallel for schedule(static)
  for (int first = 0; first < rows; first += kPiece) {
    const int last = std::min(first + kPiece, rows);
    std::fill(y + first, y + last, 0.0f);
    for (int e = 0; e < width; ++e) {
      const std::size_t column = static_cast<std::size_t>(e) * rows;
#pragma omp simd
      for (int row = first; row < last; ++row) {
        const int col = cols[column + row];
        // A filler's value is 0.
        y[row] += values[column + row] * x[std::max(col, 0)];
      }
    }
  }
}
