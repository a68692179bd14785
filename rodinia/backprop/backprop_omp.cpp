// Host reference: blocks of 16 inputs in parallel, the 16 hidden units as the
// vector dimension. A block's products are added up in the kernel's order (a
// tree); results differ only where a compiler contracts a multiplication and an
// addition on one side and not on the other.
#include "backprop.h"

#include <cmath>

namespace {

float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }

void sum_block(const float *weights, const float *input, float *sums) {
  float products[kTile][kTile];
  for (int i = 0; i < kTile; ++i) {
#pragma omp simd
    for (int j = 0; j < kTile; ++j)
      products[i][j] = weights[i * kStride + 1 + j] * input[i];
  }
  for (int step = 1; step < kTile; step *= 2)
    for (int i = 0; i < kTile; i += 2 * step) {
#pragma omp simd
      for (int j = 0; j < kTile; ++j)
        products[i][j] += products[i + step][j];
    }
  for (int j = 0; j < kTile; ++j)
    sums[j] = products[0][j];
}

void adjust_row(const float *__restrict delta, float input, float *__restrict weights,
                float *__restrict changes) {
#pragma omp simd
  for (int j = 1; j <= kTile; ++j) {
    const float change = kRate * delta[j] * input + kMomentum * changes[j];
    weights[j] += change;
    changes[j] = change;
  }
}

} // namespace

HiddenDelta train_output_layer(Network &network, const std::vector<float> &partial_sums) {
  float hidden[kStride] = {1.0f};
  for (int j = 1; j <= kTile; ++j)
    hidden[j] = network.weights[j];
  for (std::size_t block = 0; block < partial_sums.size(); block += kTile) {
#pragma omp simd
    for (int j = 0; j < kTile; ++j)
      hidden[j + 1] += partial_sums[block + j];
  }

  float sum = network.output_weights[0];
  for (int j = 1; j <= kTile; ++j) {
    hidden[j] = sigmoid(hidden[j]);
    sum += network.output_weights[j] * hidden[j];
  }
  const float output = sigmoid(sum);
  const float error = output * (1.0f - output) * (network.target - output);

  HiddenDelta delta(kStride, 0.0f);
  for (int j = 1; j <= kTile; ++j)
    delta[j] = hidden[j] * (1.0f - hidden[j]) * error * network.output_weights[j];
  for (int j = 0; j < kStride; ++j) {
    const float change = kRate * error * hidden[j] + kMomentum * network.output_changes[j];
    network.output_weights[j] += change;
    network.output_changes[j] = change;
  }
  return delta;
}

void backprop_reference(Network &network, int epochs) {
  const int blocks = network.inputs / kTile;
  std::vector<float> sums(static_cast<std::size_t>(blocks) * kTile);
  HiddenDelta delta;
  float *weights = network.weights.data();
  float *changes = network.changes.data();
  const float *input = network.input.data();
#pragma omp parallel
  for (int epoch = 0; epoch < epochs; ++epoch) {
#pragma omp for schedule(static)
    for (int block = 0; block < blocks; ++block) {
      const std::size_t first = static_cast<std::size_t>(block) * kTile + 1;
      sum_block(weights + first * kStride, input + first, &sums[first - 1]);
    }
#pragma omp single
    delta = train_output_layer(network, sums);
#pragma omp for schedule(static)
    for (int i = 0; i <= network.inputs; ++i) {
      const std::size_t row = static_cast<std::size_t>(i) * kStride;
      adjust_row(delta.data(), input[i], weights + row, changes + row);
    }
  }
}
