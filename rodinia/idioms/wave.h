// The grid of wave25d and the coefficients of its star.
#pragma once

#include "sides.h"

#include <cstddef>

constexpr int kRadius = 4;

// Second derivative of order 8: the centre and the cells at distance 1 to 4.
BOTH_SIDES constexpr float star_weight(int distance) {
  constexpr float weights[kRadius + 1] = {-205.0f / 72.0f, 8.0f / 5.0f, -1.0f / 5.0f, 8.0f / 315.0f,
                                          -1.0f / 560.0f};
  return weights[distance];
}

// nx x ny x nz cells with a border of kRadius on all sides, x contiguous.
struct WaveGrid {
  int nx, ny, nz;

  BOTH_SIDES std::size_t row() const { return nx + 2 * kRadius; }
  BOTH_SIDES std::size_t plane() const { return row() * (ny + 2 * kRadius); }
  std::size_t cells() const { return plane() * (nz + 2 * kRadius); }
  std::size_t cell(int x, int y, int z) const {
    return (z + kRadius) * plane() + (y + kRadius) * row() + x + kRadius;
  }
};
