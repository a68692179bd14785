// Gauss and Seidel's iteration in two colours: rows in parallel, every second cell of a row.
#include "twins.h"

void twin::relax_cooperative(float *cells, int rows, int cols, int sweeps) {
#pragma omp parallel
  for (int colour = 0; colour < 2 * sweeps; ++colour) {
#pragma omp for schedule(static)
    for (int row = 1; row < rows - 1; ++row) {
      float *here = cells + static_cast<std::size_t>(row) * cols;
#pragma omp simd
      for (int col = 1 + (row + colour) % 2; col < cols - 1; col += 2)
        here[col] = 0.25f * (here[col - cols] + here[col + cols] + here[col - 1] + here[col + 1]);
    }
  }
}
