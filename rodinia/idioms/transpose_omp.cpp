// Transposes a matrix tile by tile: a tile is turned on its way into a buffer, so that both arrays are read and written
// in whole lines, also where rows are a power of two apart.
#include "twins.h"

#include <algorithm>

void twin::transpose(const float *in, float *out, int rows, int cols) {
  constexpr int kTile = 64;
#pragma omp parallel for collapse(2) schedule(static)
  for (int top = 0; top < rows; top += kTile)
    for (int left = 0; left < cols; left += kTile) {
      const int height = std::min(kTile, rows - top), width = std::min(kTile, cols - left);
      float turned[kTile][kTile];
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
          turned[x][y] = in[static_cast<std::size_t>(top + y) * cols + left + x];
      for (int x = 0; x < width; ++x)
        std::copy_n(turned[x], height, out + static_cast<std::size_t>(left + x) * rows + top);
    }
}
