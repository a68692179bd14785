// The kernels of rodinia/lud, ported to HIP by hand. What they compute is said there.
#include "hip.h"

constexpr int kTile = 16;

// The tile at (step, step) into unit lower and upper triangle: in turn a column
// of L, then the next row of U, each thread one entry. One block of kTile threads.
__global__ void factor_diagonal(float *matrix, int size, int step) {
  __shared__ float tile[kTile][kTile];
  const int tx = threadIdx.x;
  float *corner = matrix + (static_cast<size_t>(step) * size + step) * kTile;

  for (int row = 0; row < kTile; ++row)
    tile[row][tx] = corner[static_cast<size_t>(row) * size + tx];
  __syncthreads();

  for (int pivot = 0; pivot < kTile - 1; ++pivot) {
    if (tx > pivot) {
      for (int k = 0; k < pivot; ++k)
        tile[tx][pivot] -= tile[tx][k] * tile[k][pivot];
      tile[tx][pivot] /= tile[pivot][pivot];
    }
    __syncthreads();
    if (tx > pivot) {
      for (int k = 0; k <= pivot; ++k)
        tile[pivot + 1][tx] -= tile[pivot + 1][k] * tile[k][tx];
    }
    __syncthreads();
  }

  // The first row of U is the matrix's own.
  for (int row = 1; row < kTile; ++row)
    corner[static_cast<size_t>(row) * size + tx] = tile[row][tx];
}

// Block b solves the b-th tile right of the diagonal (threads 0 to 15, a column
// each) and the b-th below it (threads 16 to 31, a row each).
__global__ void solve_perimeter(float *matrix, int size, int step) {
  __shared__ float diagonal[kTile][kTile];
  __shared__ float across[kTile][kTile];
  __shared__ float down[kTile][kTile];

  const bool is_row = threadIdx.x < kTile;
  const int lane = is_row ? threadIdx.x : threadIdx.x - kTile;
  const int other = step + 1 + blockIdx.x;
  const float *corner = matrix + (static_cast<size_t>(step) * size + step) * kTile;
  float *right = matrix + (static_cast<size_t>(step) * size + other) * kTile;
  float *below = matrix + (static_cast<size_t>(other) * size + step) * kTile;

  // Each half of the threads loads half of the diagonal and its own tile.
  if (is_row) {
    for (int row = 0; row < kTile / 2; ++row)
      diagonal[row][lane] = corner[static_cast<size_t>(row) * size + lane];
    for (int row = 0; row < kTile; ++row)
      across[row][lane] = right[static_cast<size_t>(row) * size + lane];
  } else {
    for (int row = kTile / 2; row < kTile; ++row)
      diagonal[row][lane] = corner[static_cast<size_t>(row) * size + lane];
    for (int row = 0; row < kTile; ++row)
      down[row][lane] = below[static_cast<size_t>(row) * size + lane];
  }
  __syncthreads();

  if (is_row) {
    for (int row = 1; row < kTile; ++row)
      for (int k = 0; k < row; ++k)
        across[row][lane] -= diagonal[row][k] * across[k][lane];
  } else {
    for (int col = 0; col < kTile; ++col) {
      for (int k = 0; k < col; ++k)
        down[lane][col] -= down[lane][k] * diagonal[k][col];
      down[lane][col] /= diagonal[col][col];
    }
  }
  __syncthreads();

  if (is_row) {
    for (int row = 1; row < kTile; ++row)
      right[static_cast<size_t>(row) * size + lane] = across[row][lane];
  } else {
    for (int row = 0; row < kTile; ++row)
      below[static_cast<size_t>(row) * size + lane] = down[row][lane];
  }
}

// Subtracts the product of a solved column tile and a solved row tile from the
// tile where they meet. kTile x kTile threads, one entry each.
__global__ void update_inner(float *matrix, int size, int step) {
  __shared__ float across[kTile][kTile];
  __shared__ float down[kTile][kTile];

  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const size_t diagonal = static_cast<size_t>(step) * kTile;
  const size_t row = diagonal + (blockIdx.y + 1) * kTile + ty;
  const size_t col = diagonal + (blockIdx.x + 1) * kTile + tx;

  across[ty][tx] = matrix[(diagonal + ty) * size + col];
  down[ty][tx] = matrix[row * size + diagonal + tx];
  __syncthreads();

  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < kTile; ++k)
    sum += down[ty][k] * across[k][tx];
  matrix[row * size + col] -= sum;
}
