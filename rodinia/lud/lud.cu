// LUD: blocked LU factorisation without pivoting. For each block column one block
// of 16 threads factors the diagonal tile, blocks of 32 threads solve a tile of
// the row panel and one of the column panel, and 16x16 threads update each tile
// of the remaining matrix.
#include "../common/device.h"
#include "../common/options.h"
#include "../common/random.h"
#include "../common/report.h"
#include "lud.h"

#include <string>
#include <vector>

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

namespace {

std::vector<float> factor(const std::vector<float> &input, int size, bench::Report &report) {
  bench::Stopwatch total;
  bench::DeviceArray<float> matrix(input);
  const int tiles = size / kTile;
  bench::DeviceTimer timer;
  for (int step = 0; step < tiles; ++step) {
    factor_diagonal<<<1, kTile>>>(matrix.get(), size, step);
    CHECK_LAUNCH();
    const int rest = tiles - step - 1;
    if (!rest)
      break;
    solve_perimeter<<<rest, 2 * kTile>>>(matrix.get(), size, step);
    CHECK_LAUNCH();
    update_inner<<<dim3(rest, rest), dim3(kTile, kTile)>>>(matrix.get(), size, step);
    CHECK_LAUNCH();
  }
  report.kernel_ms = timer.stop();
  std::vector<float> result = matrix.download();
  report.total_ms = total.milliseconds();
  return result;
}

} // namespace

int main(int argc, char **argv) {
  int size = 256;
  bench::Options options("lud", "LU factorisation of a matrix");
  options.add("size", &size, kTile, 32768, "rows and columns, a multiple of 16");
  options.parse(argc, argv);
  if (size % kTile)
    options.reject("--size wants a multiple of 16, got '" + std::to_string(size) + "'");

  // Dominant diagonal: no pivoting needed, and the factors stay near the input.
  const bench::CounterRandom random(options.seed);
  std::vector<float> matrix(static_cast<size_t>(size) * size);
  for (size_t i = 0; i < matrix.size(); ++i)
    matrix[i] = random.uniform(i, -1.0f, 1.0f);
  for (int i = 0; i < size; ++i)
    matrix[static_cast<size_t>(i) * size + i] += static_cast<float>(size);

  bench::Report report(options);
  const std::vector<float> result = factor(matrix, size, report);
  report.result(result);
  if (!options.no_check) {
    std::vector<float> want = matrix;
    bench::Stopwatch reference;
    lud_reference(want, size);
    report.reference_ms = reference.milliseconds();
    report.compare(result, want, 1e-4, 0.01);
  }
  return report.finish();
}
