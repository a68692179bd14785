// The kernels of rodinia/backprop, ported to HIP by hand. What they compute is said there.
#include "hip.h"

constexpr int kTile = 16;
constexpr int kStride = kTile + 1;
constexpr float kRate = 0.3f;
constexpr float kMomentum = 0.3f;

// Partial sums of the block's 16 inputs for each hidden unit. Thread (x, y): unit
// x, input y; the tree over y runs in log2(16) rounds.
__global__ void forward_layer(const float *input, const float *weights, float *partial_sums) {
  __shared__ float inputs[kTile];
  __shared__ float products[kTile][kTile];

  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const size_t row = static_cast<size_t>(blockIdx.y) * kTile + ty + 1;

  if (tx == 0)
    inputs[ty] = input[row];
  __syncthreads();

  products[ty][tx] = weights[row * kStride + tx + 1];
  __syncthreads();

  products[ty][tx] = products[ty][tx] * inputs[ty];
  __syncthreads();

  for (int step = 1; step < kTile; step *= 2) {
    if (ty % (2 * step) == 0)
      products[ty][tx] += products[ty + step][tx];
    __syncthreads();
  }

  // The block's row of sums is written by the threads of one column.
  if (tx == 0)
    partial_sums[static_cast<size_t>(blockIdx.y) * kTile + ty] = products[0][ty];
}

__global__ void adjust_weights(const float *delta, const float *input, float *weights,
                               float *changes) {
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const size_t row = static_cast<size_t>(blockIdx.y) * kTile + ty + 1;
  const int unit = tx + 1;
  const size_t index = row * kStride + unit;

  const float change = kRate * delta[unit] * input[row] + kMomentum * changes[index];
  weights[index] += change;
  changes[index] = change;
  __syncthreads();

  // The bias unit's weights, row 0, by the first block alone.
  if (ty == 0 && blockIdx.y == 0) {
    const float bias_change = kRate * delta[unit] * input[0] + kMomentum * changes[unit];
    weights[unit] += bias_change;
    changes[unit] = bias_change;
  }
}
