// Short rows of a sparse matrix times a vector: rows in parallel.
#include "sparse.h"
#include "twins.h"

void twin::spmv_scalar(const Csr &matrix, const float *x, float *y) {
  const int *cols = matrix.cols.data();
  const float *values = matrix.values.data();
#pragma omp parallel for schedule(static)
  for (int row = 0; row < matrix.rows; ++row) {
    float sum = 0.0f;
    for (int e = matrix.start[row]; e < matrix.start[row + 1]; ++e)
      sum += values[e] * x[cols[e]];
    y[row] = sum;
  }
}
