// A 7x7 convolution: rows in parallel. The seven rows that one needs are laid out with zeros at both ends, then
// pieces of the row go through all weights in vectors.
#include "twins.h"

#include <algorithm>
#include <vector>

namespace {

constexpr int kSide = 7;
constexpr int kReach = kSide / 2;
constexpr int kPiece = 64;

// `padded`: kSide rows of `stride` pixels, the first of which lies kReach before the image.
void convolve_row(const float *padded, std::size_t stride, const float *filter, float *out, int cols) {
  for (int first = 0; first < cols; first += kPiece) {
    float sum[kPiece] = {};
    for (int y = 0; y < kSide; ++y)
      for (int x = 0; x < kSide; ++x) {
        const float weight = filter[y * kSide + x];
        const float *from = padded + y * stride + first + x;
#pragma omp simd
        for (int i = 0; i < kPiece; ++i)
          sum[i] += weight * from[i];
      }
    std::copy(sum, sum + std::min(kPiece, cols - first), out + first);
  }
}

} // namespace

void twin::conv2d(const float *in, const float *filter, float *out, int images, int rows, int cols) {
  const std::size_t stride = cols + 2 * kReach + kPiece;
#pragma omp parallel
  {
    std::vector<float> padded(kSide * stride);
#pragma omp for collapse(2) schedule(static)
    for (int image = 0; image < images; ++image)
      for (int row = 0; row < rows; ++row) {
        const std::size_t first = static_cast<std::size_t>(image) * rows;
        for (int y = 0; y < kSide; ++y) {
          const int source = row + y - kReach;
          float *to = &padded[y * stride + kReach];
          if (source < 0 || source >= rows)
            std::fill(to, to + cols, 0.0f);
          else
            std::copy_n(in + (first + source) * cols, cols, to);
        }
        convolve_row(padded.data(), stride, filter, out + (first + row) * cols, cols);
      }
  }
}
