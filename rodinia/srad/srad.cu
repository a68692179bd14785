// SRAD: speckle reducing anisotropic diffusion of an ultrasonic or radar image.
// Each step measures the speckle in a part of the image that shows noise alone
// (a reduction in shared memory), then two kernels of 16x16 tiles follow: one
// finds the differences of each pixel to its neighbours and the coefficient of
// diffusion, the other lets the image diffuse.
#include "../common/device.h"
#include "../common/options.h"
#include "../common/random.h"
#include "../common/report.h"
#include "srad.h"

#include <algorithm>
#include <cmath>
#include <vector>

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

namespace {

double added(const std::vector<float> &values) {
  double sum = 0.0;
  for (float value : values)
    sum += value;
  return sum;
}

std::vector<float> diffuse_all(const Image &image, const std::vector<float> &initial, float lambda,
                               int steps, bench::Report &report) {
  bench::Stopwatch total;
  const int count = (image.last_row - image.first_row) * (image.last_col - image.first_col);
  const int sum_blocks = (count + kSumThreads - 1) / kSumThreads;
  bench::DeviceArray<float> pixels(initial);
  bench::DeviceArray<float> coefficients(initial.size());
  bench::DeviceArray<Differences> differences(initial.size());
  bench::DeviceArray<float> sums(sum_blocks), squares(sum_blocks);

  const dim3 block(kTile, kTile);
  const dim3 grid((image.cols + kTile - 1) / kTile, (image.rows + kTile - 1) / kTile);
  bench::DeviceTimer timer;
  for (int step = 0; step < steps; ++step) {
    measure_region<<<sum_blocks, kSumThreads>>>(pixels.get(), image, sums.get(), squares.get());
    CHECK_LAUNCH();
    const float scale = speckle_scale(added(sums.download()), added(squares.download()), count);
    find_coefficients<<<grid, block>>>(pixels.get(), differences.get(), coefficients.get(),
                                       image.rows, image.cols, scale);
    CHECK_LAUNCH();
    diffuse<<<grid, block>>>(pixels.get(), differences.get(), coefficients.get(), image.rows,
                             image.cols, lambda);
    CHECK_LAUNCH();
  }
  report.kernel_ms = timer.stop();
  std::vector<float> result = pixels.download();
  report.total_ms = total.milliseconds();
  return result;
}

} // namespace

int main(int argc, char **argv) {
  int rows = 256, cols = 256, steps = 10, lambda = 50, region = 64;
  bench::Options options("srad", "speckle reducing anisotropic diffusion of an image");
  options.add("rows", &rows, 2, 16384, "rows of pixels");
  options.add("cols", &cols, 2, 16384, "columns of pixels");
  options.add("steps", &steps, 0, 1000000, "steps of diffusion");
  options.add("lambda", &lambda, 1, 100, "size of a step in hundredths");
  options.add("region", &region, 2, 16384, "side of the square that shows noise alone");
  options.parse(argc, argv);

  // Intensities of speckle are the exponential of what a detector compresses to 0..1.
  const bench::CounterRandom random(options.seed);
  std::vector<float> pixels(static_cast<size_t>(rows) * cols);
  for (size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = std::exp(random.unit(i));

  const Image image = {rows, cols, 0, std::min(region, rows), 0, std::min(region, cols)};
  const float step_size = static_cast<float>(lambda) / 100.0f;
  bench::Report report(options);
  const std::vector<float> result = diffuse_all(image, pixels, step_size, steps, report);
  report.result(result);
  if (!options.no_check) {
    bench::Stopwatch reference;
    srad_reference(image, pixels, step_size, steps);
    report.reference_ms = reference.milliseconds();
    report.compare(result, pixels, 1e-4, 0.1);
  }
  return report.finish();
}
