// A 3x3 smoothing filter: rows in parallel, columns in vectors, the first and the last on their own.
#include "twins.h"

#include <algorithm>
#include <cstddef>

namespace {

// One row from the three around it.
void smooth_row(const float *__restrict above, const float *__restrict here,
                const float *__restrict below, float *__restrict out, int cols) {
  const auto pixel = [&](int left, int x, int right) {
    const float corners = above[left] + above[right] + below[left] + below[right];
    const float sides = above[x] + here[left] + here[right] + below[x];
    return 0.0625f * corners + 0.125f * sides + 0.25f * here[x];
  };
  out[0] = pixel(0, 0, std::min(1, cols - 1));
#pragma omp simd
  for (int x = 1; x < cols - 1; ++x)
    out[x] = pixel(x - 1, x, x + 1);
  if (cols > 1)
    out[cols - 1] = pixel(cols - 2, cols - 1, cols - 1);
}

void smooth(const float *from, float *to, int rows, int cols) {
#pragma omp for schedule(static)
  for (int y = 0; y < rows; ++y) {
    const auto row = [&](int at) { return from + static_cast<std::size_t>(at) * cols; };
    smooth_row(row(std::max(y - 1, 0)), row(y), row(std::min(y + 1, rows - 1)),
               to + static_cast<std::size_t>(y) * cols, cols);
  }
}

} // namespace

void twin::smooth2d(float *image, float *scratch, int rows, int cols, int sweeps) {
#pragma omp parallel
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    smooth(image, scratch, rows, cols);
    smooth(scratch, image, rows, cols);
  }
}
