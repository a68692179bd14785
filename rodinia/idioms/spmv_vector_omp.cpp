// Long rows of a sparse matrix times a vector: rows in parallel, entries in vectors. Rows differ in length, so shares
// are handed out as they are taken.
#include "sparse.h"
#include "twins.h"

void twin::spmv_vector(const Csr &matrix, const float *x, float *y) {
  const int *cols = matrix.cols.data();
  const float *values = matrix.values.data();
#pragma omp parallel for schedule(dynamic, 512)
  for (int row = 0; row < matrix.rows; ++row) {
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (int e = matrix.start[row]; e < matrix.start[row + 1]; ++e)
      sum += values[e] * x[cols[e]];
    y[row] = sum;
  }
}
