// Host reference: the right-looking blocked factorisation, the panels of a step
// in parallel, inner loops along rows so that they become vectors. Every entry
// sums its products in the kernels' order: block by block, each block from zero.
#include "lud.h"

#include <cstddef>

namespace {

// A kTile x kTile block inside a row-major matrix.
struct Block {
  float *first;
  std::size_t stride;
  float *row(int i) const { return first + i * stride; }
};

Block block_at(std::vector<float> &matrix, int size, int tile_row, int tile_col) {
  return {matrix.data() + (static_cast<std::size_t>(tile_row) * size + tile_col) * kTile,
          static_cast<std::size_t>(size)};
}

void factor_diagonal(Block a) {
  for (int k = 0; k < kTile; ++k)
    for (int i = k + 1; i < kTile; ++i) {
      const float factor = a.row(i)[k] /= a.row(k)[k];
      for (int j = k + 1; j < kTile; ++j)
        a.row(i)[j] -= factor * a.row(k)[j];
    }
}

// b := L^-1 b with the unit lower triangle of `diagonal`.
void solve_row_panel(Block diagonal, Block b) {
  for (int i = 1; i < kTile; ++i) {
    float *row = b.row(i);
    for (int k = 0; k < i; ++k) {
      const float factor = diagonal.row(i)[k];
      const float *above = b.row(k);
#pragma omp simd
      for (int j = 0; j < kTile; ++j)
        row[j] -= factor * above[j];
    }
  }
}

// b := b U^-1 with the upper triangle of `diagonal`. A transposed copy makes
// the rows of b the vector dimension.
void solve_column_panel(Block diagonal, Block b) {
  float t[kTile][kTile];
  for (int i = 0; i < kTile; ++i)
    for (int j = 0; j < kTile; ++j)
      t[j][i] = b.row(i)[j];
  for (int j = 0; j < kTile; ++j) {
    for (int k = 0; k < j; ++k) {
      const float factor = diagonal.row(k)[j];
#pragma omp simd
      for (int i = 0; i < kTile; ++i)
        t[j][i] -= t[k][i] * factor;
    }
    const float pivot = diagonal.row(j)[j];
#pragma omp simd
    for (int i = 0; i < kTile; ++i)
      t[j][i] /= pivot;
  }
  for (int i = 0; i < kTile; ++i)
    for (int j = 0; j < kTile; ++j)
      b.row(i)[j] = t[j][i];
}

// c -= l * u
void update_inner(Block l, Block u, Block c) {
  for (int i = 0; i < kTile; ++i) {
    float sum[kTile] = {};
    for (int k = 0; k < kTile; ++k) {
      const float factor = l.row(i)[k];
      const float *right = u.row(k);
#pragma omp simd
      for (int j = 0; j < kTile; ++j)
        sum[j] += factor * right[j];
    }
    float *row = c.row(i);
#pragma omp simd
    for (int j = 0; j < kTile; ++j)
      row[j] -= sum[j];
  }
}

} // namespace

void lud_reference(std::vector<float> &matrix, int size) {
  const int tiles = size / kTile;
#pragma omp parallel
  for (int step = 0; step < tiles; ++step) {
    const Block diagonal = block_at(matrix, size, step, step);
#pragma omp single
    factor_diagonal(diagonal);
#pragma omp for schedule(static)
    for (int other = step + 1; other < tiles; ++other) {
      solve_row_panel(diagonal, block_at(matrix, size, step, other));
      solve_column_panel(diagonal, block_at(matrix, size, other, step));
    }
#pragma omp for schedule(static)
    for (int row = step + 1; row < tiles; ++row)
      for (int col = step + 1; col < tiles; ++col)
        update_inner(block_at(matrix, size, row, step), block_at(matrix, size, step, col),
                     block_at(matrix, size, row, col));
  }
}
