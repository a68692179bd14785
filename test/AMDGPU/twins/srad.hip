// The kernels of rodinia/srad, ported to HIP by hand. What they compute is said there.
#include "hip.h"

struct Image {
  int rows, cols;
  int first_row, last_row;
  int first_col, last_col;
};

constexpr float kQuarter = 0.25f;

constexpr int kTile = 16;
constexpr int kSumThreads = 256;

// Sums of the region's pixels and of their squares, one of each for a block.
__global__ void measure_region(const float *pixels, Image image, float *sums, float *squares) {
  __shared__ float sum[kSumThreads];
  __shared__ float square[kSumThreads];

  const int tx = threadIdx.x;
  const int width = image.last_col - image.first_col;
  const int count = width * (image.last_row - image.first_row);
  const int number = blockIdx.x * kSumThreads + tx;
  float pixel = 0.0f;
  if (number < count) {
    const size_t row = image.first_row + number / width;
    pixel = pixels[row * image.cols + image.first_col + number % width];
  }
  sum[tx] = pixel;
  square[tx] = pixel * pixel;
  __syncthreads();

  for (int half = kSumThreads / 2; half > 0; half /= 2) {
    if (tx < half) {
      sum[tx] += sum[tx + half];
      square[tx] += square[tx + half];
    }
    __syncthreads();
  }
  if (tx == 0) {
    sums[blockIdx.x] = sum[0];
    squares[blockIdx.x] = square[0];
  }
}

// What a pixel differs from its neighbours by; at the border there is no difference.
struct Differences {
  float north, south, west, east;
};

// Differences and the coefficient of diffusion of each pixel. Thread (x, y) has one pixel of
// the tile, those at the tile's edge also fetch the neighbour outside of it.
__global__ void find_coefficients(const float *pixels, Differences *differences,
                                  float *coefficients, int rows, int cols, float scale) {
  __shared__ float tile[kTile][kTile];
  __shared__ float above[kTile], below[kTile], before[kTile], behind[kTile];
  __shared__ float result[kTile][kTile];

  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int row = kTile * static_cast<int>(blockIdx.y) + ty;
  const int col = kTile * static_cast<int>(blockIdx.x) + tx;
  const bool inside = row < rows && col < cols;
  const size_t pixel = static_cast<size_t>(row) * cols + col;

  if (inside) {
    tile[ty][tx] = pixels[pixel];
    if (ty == 0)
      above[tx] = pixels[row > 0 ? pixel - cols : pixel];
    if (ty == kTile - 1)
      below[tx] = pixels[row < rows - 1 ? pixel + cols : pixel];
    if (tx == 0)
      before[ty] = pixels[col > 0 ? pixel - 1 : pixel];
    if (tx == kTile - 1)
      behind[ty] = pixels[col < cols - 1 ? pixel + 1 : pixel];
  }
  __syncthreads();

  Differences d = {};
  if (inside) {
    const float centre = tile[ty][tx];
    d.north = (ty == 0 ? above[tx] : tile[ty - 1][tx]) - centre;
    d.south = (ty == kTile - 1 ? below[tx] : tile[row < rows - 1 ? ty + 1 : ty][tx]) - centre;
    d.west = (tx == 0 ? before[ty] : tile[ty][tx - 1]) - centre;
    d.east = (tx == kTile - 1 ? behind[ty] : tile[ty][col < cols - 1 ? tx + 1 : tx]) - centre;

    // The instantaneous coefficient of variation, squared.
    const float gradient =
        (d.north * d.north + d.south * d.south + d.west * d.west + d.east * d.east) /
        (centre * centre);
    const float laplacian = (d.north + d.south + d.west + d.east) / centre;
    const float above_scale = 0.5f * gradient - (1.0f / 16.0f) * (laplacian * laplacian);
    const float below_scale = 1.0f + 0.25f * laplacian;
    const float variation = above_scale / (below_scale * below_scale);

    const float excess = (variation - scale) / (scale * (1.0f + scale));
    result[ty][tx] = fminf(fmaxf(1.0f / (1.0f + excess), 0.0f), 1.0f);
  }
  __syncthreads();

  if (inside) {
    differences[pixel] = d;
    coefficients[pixel] = result[ty][tx];
  }
}

// One step: each pixel by the divergence of its coefficients times differences.
__global__ void diffuse(float *pixels, const Differences *differences, const float *coefficients,
                        int rows, int cols, float lambda) {
  __shared__ float tile[kTile][kTile];
  __shared__ float below[kTile], behind[kTile];

  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int row = kTile * static_cast<int>(blockIdx.y) + ty;
  const int col = kTile * static_cast<int>(blockIdx.x) + tx;
  const bool inside = row < rows && col < cols;
  const size_t pixel = static_cast<size_t>(row) * cols + col;

  if (inside) {
    tile[ty][tx] = coefficients[pixel];
    if (ty == kTile - 1)
      below[tx] = coefficients[row < rows - 1 ? pixel + cols : pixel];
    if (tx == kTile - 1)
      behind[ty] = coefficients[col < cols - 1 ? pixel + 1 : pixel];
  }
  __syncthreads();

  if (inside) {
    const float own = tile[ty][tx];
    const float south = ty == kTile - 1 ? below[tx] : tile[row < rows - 1 ? ty + 1 : ty][tx];
    const float east = tx == kTile - 1 ? behind[ty] : tile[ty][col < cols - 1 ? tx + 1 : tx];
    const Differences d = differences[pixel];
    const float divergence = own * d.north + south * d.south + own * d.west + east * d.east;
    pixels[pixel] += kQuarter * lambda * divergence;
  }
}
