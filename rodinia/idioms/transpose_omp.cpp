// Transposes a matrix tile by tile, so that the lines of both sides stay in the cache.
#include "twins.h"

#include <algorithm>

void twin::transpose(const float *in, float *out, int rows, int cols) {
  constexpr int kTile = 16;
#pragma omp parallel for collapse(2) schedule(static)
  for (int top = 0; top < rows; top += kTile)
    for (int left = 0; left < cols; left += kTile) {
      const int bottom = std::min(top + kTile, rows), right = std::min(left + kTile, cols);
      for (int x = left; x < right; ++x)
#pragma omp simd
        for (int y = top; y < bottom; ++y)
          out[static_cast<std::size_t>(x) * rows + y] = in[static_cast<std::size_t>(y) * cols + x];
    }
}
