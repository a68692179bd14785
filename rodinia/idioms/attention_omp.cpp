// Causal attention: queries in parallel, the later and longer ones handed out as they are taken; the scores of a query
// lie in a buffer.
#include "twins.h"

#include <cmath>
#include <vector>

namespace {

constexpr int kHead = 32;

void attend(const float *query, const float *keys, const float *values, float *out, float *scores, int seen,
            float scale) {
  float largest = -INFINITY;
  for (int k = 0; k < seen; ++k) {
    const float *key = keys + static_cast<std::size_t>(k) * kHead;
    float score = 0.0f;
#pragma omp simd reduction(+ : score)
    for (int d = 0; d < kHead; ++d)
      score += query[d] * key[d];
    scores[k] = score * scale;
    largest = std::fmax(largest, scores[k]);
  }
  for (int k = 0; k < seen; ++k)
    scores[k] = std::exp(scores[k] - largest);
  float sum[kHead] = {}, weight = 0.0f;
  for (int k = 0; k < seen; ++k) {
    const float *value = values + static_cast<std::size_t>(k) * kHead;
    weight += scores[k];
#pragma omp simd
    for (int d = 0; d < kHead; ++d)
      sum[d] += scores[k] * value[d];
  }
  for (int d = 0; d < kHead; ++d)
    out[d] = sum[d] / weight;
}

} // namespace

void twin::attention(const float *queries, const float *keys, const float *values, float *out, int heads,
                     int length, float scale) {
#pragma omp parallel
  {
    std::vector<float> scores(length);
#pragma omp for collapse(2) schedule(dynamic, 16)
    for (int h = 0; h < heads; ++h)
      for (int q = 0; q < length; ++q) {
        const std::size_t head = static_cast<std::size_t>(h) * length * kHead;
        const std::size_t at = head + static_cast<std::size_t>(q) * kHead;
        attend(queries + at, keys + head, values + head, out + at, scores.data(), q + 1, scale);
      }
  }
}
