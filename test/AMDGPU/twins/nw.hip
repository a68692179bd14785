// The kernels of rodinia/nw, ported to HIP by hand. What they compute is said there.
#include "hip.h"

constexpr int kTile = 16;

__device__ static inline int best_of(int match, int gap_left, int gap_above) {
  const int gap = gap_left > gap_above ? gap_left : gap_above;
  return match > gap ? match : gap;
}

// One tile by one block of kTile threads; thread x owns column x of it.
__device__ static inline void fill_tile(const int *similarity, int *score, int size, int penalty,
                                        int tile_row, int tile_col) {
  // Row 0 and column 0 hold the neighbouring tiles' last cells.
  __shared__ int cells[kTile + 1][kTile + 1];
  __shared__ int pairs[kTile][kTile];

  const int tx = threadIdx.x;
  const int stride = size + 1;
  const size_t row = static_cast<size_t>(tile_row) * kTile;
  const size_t col = static_cast<size_t>(tile_col) * kTile;
  int *corner = score + row * stride + col;

  if (tx == 0)
    cells[0][0] = corner[0];
  for (int y = 0; y < kTile; ++y)
    pairs[y][tx] = similarity[(row + y) * size + col + tx];
  __syncthreads();

  cells[tx + 1][0] = corner[static_cast<size_t>(tx + 1) * stride];
  __syncthreads();

  cells[0][tx + 1] = corner[tx + 1];
  __syncthreads();

  // Anti-diagonals that grow to the tile's full side.
  for (int wave = 0; wave < kTile; ++wave) {
    if (tx <= wave) {
      const int x = tx + 1;
      const int y = wave - tx + 1;
      cells[y][x] = best_of(cells[y - 1][x - 1] + pairs[y - 1][x - 1], cells[y][x - 1] - penalty,
                            cells[y - 1][x] - penalty);
    }
    __syncthreads();
  }
  // And that shrink to its last cell.
  for (int wave = kTile - 2; wave >= 0; --wave) {
    if (tx <= wave) {
      const int x = tx + kTile - wave;
      const int y = kTile - tx;
      cells[y][x] = best_of(cells[y - 1][x - 1] + pairs[y - 1][x - 1], cells[y][x - 1] - penalty,
                            cells[y - 1][x] - penalty);
    }
    __syncthreads();
  }

  for (int y = 0; y < kTile; ++y)
    corner[static_cast<size_t>(y + 1) * stride + tx + 1] = cells[y + 1][tx + 1];
}

// Anti-diagonal `wave` of the upper left: wave + 1 tiles.
__global__ void fill_upper_left(const int *similarity, int *score, int size, int penalty,
                                int wave) {
  const int tile_col = blockIdx.x;
  fill_tile(similarity, score, size, penalty, wave - tile_col, tile_col);
}

// Anti-diagonal of the lower right with `wave` tiles, of `tiles` on a side.
__global__ void fill_lower_right(const int *similarity, int *score, int size, int penalty,
                                 int wave, int tiles) {
  const int tile_col = blockIdx.x + tiles - wave;
  const int tile_row = tiles - 1 - blockIdx.x;
  fill_tile(similarity, score, size, penalty, tile_row, tile_col);
}
