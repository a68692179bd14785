// Bias and GELU: rows in parallel.
#include "twins.h"

#include <cmath>

void twin::gelu(const float *in, const float *bias, float *out, int rows, int cols) {
#pragma omp parallel for schedule(static)
  for (int r = 0; r < rows; ++r) {
    const std::size_t row = static_cast<std::size_t>(r) * cols;
    for (int c = 0; c < cols; ++c) {
      const float x = in[row + c] + bias[c];
      out[row + c] = 0.5f * x * (1.0f + std::tanh(0.7978845608f * (x + 0.044715f * x * x * x)));
    }
  }
}
