// Layer normalisation: rows in parallel, columns in vectors.
#include "twins.h"

#include <cmath>

void twin::layernorm(const float *in, const float *weight, const float *bias, float *out, int rows, int cols,
                     float epsilon) {
#pragma omp parallel for schedule(static)
  for (int r = 0; r < rows; ++r) {
    const float *own = in + static_cast<std::size_t>(r) * cols;
    float *result = out + static_cast<std::size_t>(r) * cols;
    float sum = 0.0f, squares = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (int c = 0; c < cols; ++c)
      sum += own[c];
    const float mean = sum / cols;
#pragma omp simd reduction(+ : squares)
    for (int c = 0; c < cols; ++c)
      squares += (own[c] - mean) * (own[c] - mean);
    const float scale = 1.0f / std::sqrt(squares / cols + epsilon);
#pragma omp simd
    for (int c = 0; c < cols; ++c)
      result[c] = (own[c] - mean) * scale * weight[c] + bias[c];
  }
}
