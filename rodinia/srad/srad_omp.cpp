// Host reference: rows in parallel, columns in vectors. A pixel's sums are written in the kernels'
// order; the speckle of the region is added up in double precision, in another order than theirs.
#include "srad.h"

#include <algorithm>
#include <cstddef>

namespace {

float measure(const Image &image, const std::vector<float> &pixels) {
  double sum = 0.0, squares = 0.0;
#pragma omp parallel for reduction(+ : sum, squares) schedule(static)
  for (int y = image.first_row; y < image.last_row; ++y) {
    for (int x = image.first_col; x < image.last_col; ++x) {
      const double pixel = pixels[static_cast<std::size_t>(y) * image.cols + x];
      sum += pixel;
      squares += pixel * pixel;
    }
  }
  const double rows = image.last_row - image.first_row, cols = image.last_col - image.first_col;
  return speckle_scale(sum, squares, rows * cols);
}

inline float coefficient(float centre, float north, float south, float west, float east,
                         float scale) {
  const float gradient =
      (north * north + south * south + west * west + east * east) / (centre * centre);
  const float laplacian = (north + south + west + east) / centre;
  const float above = 0.5f * gradient - (1.0f / 16.0f) * (laplacian * laplacian);
  const float below = 1.0f + 0.25f * laplacian;
  const float variation = above / (below * below);
  const float excess = (variation - scale) / (scale * (1.0f + scale));
  return std::min(std::max(1.0f / (1.0f + excess), 0.0f), 1.0f);
}

// The four differences of every pixel, each in an array of its own.
struct Fields {
  std::vector<float> north, south, west, east, coefficient;
};

void find_coefficients(const Image &image, const std::vector<float> &pixels, Fields &fields,
                       float scale) {
  const int rows = image.rows, cols = image.cols;
#pragma omp parallel for schedule(static)
  for (int y = 0; y < rows; ++y) {
    const std::size_t row = static_cast<std::size_t>(y) * cols;
    const float *here = pixels.data() + row;
    const float *above = y > 0 ? here - cols : here;
    const float *below = y < rows - 1 ? here + cols : here;
    for (int x = 0; x < cols; ++x) {
      const float centre = here[x];
      const float north = above[x] - centre, south = below[x] - centre;
      const float west = here[std::max(x - 1, 0)] - centre;
      const float east = here[std::min(x + 1, cols - 1)] - centre;
      fields.north[row + x] = north;
      fields.south[row + x] = south;
      fields.west[row + x] = west;
      fields.east[row + x] = east;
      fields.coefficient[row + x] = coefficient(centre, north, south, west, east, scale);
    }
  }
}

void diffuse(const Image &image, std::vector<float> &pixels, const Fields &fields,
             float lambda) {
  const int rows = image.rows, cols = image.cols;
#pragma omp parallel for schedule(static)
  for (int y = 0; y < rows; ++y) {
    const std::size_t row = static_cast<std::size_t>(y) * cols;
    const float *own = fields.coefficient.data() + row;
    const float *below = y < rows - 1 ? own + cols : own;
    for (int x = 0; x < cols; ++x) {
      const std::size_t at = row + x;
      const float east = own[std::min(x + 1, cols - 1)];
      const float divergence = own[x] * fields.north[at] + below[x] * fields.south[at] +
                               own[x] * fields.west[at] + east * fields.east[at];
      pixels[at] += kQuarter * lambda * divergence;
    }
  }
}

} // namespace

void srad_reference(const Image &image, std::vector<float> &pixels, float lambda, int steps) {
  const std::size_t count = pixels.size();
  Fields fields = {std::vector<float>(count), std::vector<float>(count), std::vector<float>(count),
                   std::vector<float>(count), std::vector<float>(count)};
  for (int step = 0; step < steps; ++step) {
    const float scale = measure(image, pixels);
    find_coefficients(image, pixels, fields, scale);
    diffuse(image, pixels, fields, lambda);
  }
}
