// Back propagation: training of a network with one hidden layer. Blocks of 16x16
// threads take 16 inputs and the 16 hidden units: a first kernel multiplies
// weights and inputs and reduces the products in shared memory, the host finishes
// the small layers, a second kernel adjusts the weights.
#include "../common/device.h"
#include "../common/options.h"
#include "../common/random.h"
#include "../common/report.h"
#include "backprop.h"

#include <cmath>
#include <string>
#include <vector>

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

namespace {

Network make_network(int inputs, const bench::CounterRandom &random) {
  Network network;
  network.inputs = inputs;
  network.target = 0.1f;
  const size_t rows = static_cast<size_t>(inputs) + 1;
  const float scale = 2.0f / std::sqrt(static_cast<float>(inputs));
  network.input.resize(rows);
  network.weights.resize(rows * kStride);
  network.changes.assign(rows * kStride, 0.0f);
  network.output_weights.resize(kStride);
  network.output_changes.assign(kStride, 0.0f);
  size_t draw = 0;
  for (float &value : network.input)
    value = random.unit(draw++);
  network.input[0] = 1.0f;
  for (float &value : network.weights)
    value = random.uniform(draw++, -scale, scale);
  for (float &value : network.output_weights)
    value = random.uniform(draw++, -1.0f, 1.0f);
  return network;
}

void train(Network &network, int epochs, bench::Report &report) {
  bench::Stopwatch total;
  const int blocks = network.inputs / kTile;
  bench::DeviceArray<float> input(network.input);
  bench::DeviceArray<float> weights(network.weights);
  bench::DeviceArray<float> changes(network.changes);
  bench::DeviceArray<float> sums(static_cast<size_t>(blocks) * kTile);
  bench::DeviceArray<float> delta(kStride);
  const dim3 grid(1, blocks);
  const dim3 block(kTile, kTile);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    bench::DeviceTimer forward;
    forward_layer<<<grid, block>>>(input.get(), weights.get(), sums.get());
    CHECK_LAUNCH();
    report.kernel_ms += forward.stop();

    // The host's part reads the biases' weights, row 0.
    CHECK_CUDA(cudaMemcpy(network.weights.data(), weights.get(), kStride * sizeof(float),
                          cudaMemcpyDeviceToHost));
    delta.upload(train_output_layer(network, sums.download()));

    bench::DeviceTimer backward;
    adjust_weights<<<grid, block>>>(delta.get(), input.get(), weights.get(), changes.get());
    CHECK_LAUNCH();
    report.kernel_ms += backward.stop();
  }
  network.weights = weights.download();
  network.changes = changes.download();
  report.total_ms = total.milliseconds();
}

} // namespace

int main(int argc, char **argv) {
  int inputs = 16384, epochs = 2;
  bench::Options options("backprop", "training of a network with one hidden layer");
  options.add("inputs", &inputs, kTile, 16 * 65535, "input units, a multiple of 16");
  options.add("epochs", &epochs, 1, 1000000, "times the pattern is learnt");
  options.parse(argc, argv);
  if (inputs % kTile)
    options.reject("--inputs wants a multiple of 16, got '" + std::to_string(inputs) + "'");

  const Network untrained = make_network(inputs, bench::CounterRandom(options.seed));

  bench::Report report(options);
  Network network = untrained;
  train(network, epochs, report);
  report.result(network.weights);
  report.result(network.changes);
  report.result(network.output_weights);
  if (!options.no_check) {
    Network want = untrained;
    bench::Stopwatch reference;
    backprop_reference(want, epochs);
    report.reference_ms = reference.milliseconds();
    report.compare(network.weights, want.weights, 1e-4, 1e-3);
    report.compare(network.changes, want.changes, 1e-4, 1e-4);
    report.compare(network.output_weights, want.output_weights, 1e-4, 1.0);
  }
  return report.finish();
}
