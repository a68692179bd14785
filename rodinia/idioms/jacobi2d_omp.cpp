// Jacobi's iteration: rows in parallel, columns in vectors.
#include "twins.h"

#include <cstddef>
#include <cstring>

namespace {

void relax(const float *__restrict from, float *__restrict to, int rows, int cols) {
#pragma omp for schedule(static)
  for (int y = 0; y < rows; ++y) {
    const float *here = from + static_cast<std::size_t>(y) * cols;
    float *out = to + static_cast<std::size_t>(y) * cols;
    if (y == 0 || y == rows - 1) {
      std::memcpy(out, here, cols * sizeof(float));
      continue;
    }
    out[0] = here[0];
#pragma omp simd
    for (int x = 1; x < cols - 1; ++x)
      out[x] = 0.25f * (here[x - cols] + here[x + cols] + here[x - 1] + here[x + 1]);
    out[cols - 1] = here[cols - 1];
  }
}

} // namespace

void twin::jacobi2d(float *grid, float *scratch, int rows, int cols, int sweeps) {
#pragma omp parallel
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    relax(grid, scratch, rows, cols);
    relax(scratch, grid, rows, cols);
  }
}
