// Softmax: rows in parallel, columns in vectors.
#include "twins.h"

#include <cmath>

void twin::softmax(const float *in, float *out, int rows, int cols) {
#pragma omp parallel for schedule(static)
  for (int r = 0; r < rows; ++r) {
    const float *row = in + static_cast<std::size_t>(r) * cols;
    float *result = out + static_cast<std::size_t>(r) * cols;
    float largest = row[0];
#pragma omp simd reduction(max : largest)
    for (int c = 0; c < cols; ++c)
      largest = std::fmax(largest, row[c]);
    // On its own, for a compiler with vectors of exponentials.
    for (int c = 0; c < cols; ++c)
      result[c] = std::exp(row[c] - largest);
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (int c = 0; c < cols; ++c)
      sum += result[c];
    const float scale = 1.0f / sum;
#pragma omp simd
    for (int c = 0; c < cols; ++c)
      result[c] *= scale;
  }
}
