// Host reference: square tiles along anti-diagonals, the tiles of one
// anti-diagonal in parallel. Inside a tile the two terms that come from the row
// above are a vector loop, the dependence on the left neighbour a short scan.
// Integers throughout: equal to the kernels' result in every bit.
#include "nw.h"

#include <algorithm>
#include <cstddef>

namespace {

// Larger than the kernels' tiles: less to start, still in the first cache.
constexpr int kSide = 8 * kTile;

void fill_tile(const int *similarity, int *score, int size, int penalty, int first_row,
               int first_col) {
  const std::size_t stride = static_cast<std::size_t>(size) + 1;
  const int rows = std::min(kSide, size - first_row);
  const int cols = std::min(kSide, size - first_col);
  int partial[kSide];
  for (int y = 0; y < rows; ++y) {
    const int *pair = similarity + static_cast<std::size_t>(first_row + y) * size + first_col;
    const int *above = score + (first_row + y) * stride + first_col;
    int *row = score + (first_row + y + 1) * stride + first_col;
#pragma omp simd
    for (int x = 0; x < cols; ++x)
      partial[x] = std::max(above[x] + pair[x], above[x + 1] - penalty);
    int left = row[0];
    for (int x = 0; x < cols; ++x)
      row[x + 1] = left = std::max(partial[x], left - penalty);
  }
}

} // namespace

void nw_reference(const std::vector<int> &similarity, std::vector<int> &score, int size,
                  int penalty) {
  const int tiles = (size + kSide - 1) / kSide;
#pragma omp parallel
  for (int wave = 0; wave < 2 * tiles - 1; ++wave) {
    const int first = std::max(0, wave - tiles + 1);
    const int last = std::min(wave, tiles - 1);
#pragma omp for schedule(dynamic)
    for (int row = first; row <= last; ++row)
      fill_tile(similarity.data(), score.data(), size, penalty, row * kSide,
                (wave - row) * kSide);
  }
}
