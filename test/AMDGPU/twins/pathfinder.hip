// The kernels of rodinia/pathfinder, ported to HIP by hand. What they compute is said there.
#include "hip.h"

constexpr int kBlock = 256;

// `cost` starts at the first of the `rows` rows to add. The block's core, the
// columns it writes, is kBlock - 2*halo wide; rows <= halo.
__global__ void advance_rows(const int *cost, const int *from, int *to, int rows, int cols,
                             int halo) {
  __shared__ int best[kBlock];
  __shared__ int next[kBlock];

  const int tx = threadIdx.x;
  const int core = kBlock - 2 * halo;
  const int first_col = core * static_cast<int>(blockIdx.x) - halo;
  const int col = first_col + tx;
  const bool in_grid = col >= 0 && col < cols;

  // Neighbours in shared memory; the border column is its own neighbour.
  const int west = max(tx - 1, max(0, -first_col));
  const int east = min(tx + 1, min(kBlock - 1, cols - 1 - first_col));

  if (in_grid)
    best[tx] = from[col];
  __syncthreads();

  bool computed = false;
  for (int row = 0; row < rows; ++row) {
    computed = in_grid && tx > row && tx < kBlock - 1 - row;
    if (computed) {
      const int cheapest = min(best[tx], min(best[west], best[east]));
      next[tx] = cheapest + cost[static_cast<size_t>(row) * cols + col];
    }
    __syncthreads();
    if (row == rows - 1)
      break;
    if (computed)
      best[tx] = next[tx];
    __syncthreads();
  }

  if (computed && tx >= halo && tx < kBlock - halo)
    to[col] = next[tx];
}
