// Layer normalisation: a tile of 32 threads of a cooperative group for each row, mean and variance by its reductions.
#include "idiom.h"
#include "twins.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

constexpr int kThreads = 256;
constexpr int kTile = 32;

__global__ void normalise(const float *in, const float *weight, const float *bias, float *out, int rows,
                          int cols, float epsilon) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<kTile> tile = cg::tiled_partition<kTile>(block);
  const int row = blockIdx.x * (kThreads / kTile) + tile.meta_group_rank();
  if (row >= rows)
    return;
  const float *own = in + static_cast<size_t>(row) * cols;
  float *result = out + static_cast<size_t>(row) * cols;

  float sum = 0.0f;
  for (int col = tile.thread_rank(); col < cols; col += kTile)
    sum += own[col];
  const float mean = cg::reduce(tile, sum, cg::plus<float>()) / cols;

  float squares = 0.0f;
  for (int col = tile.thread_rank(); col < cols; col += kTile) {
    const float off = own[col] - mean;
    squares += off * off;
  }
  const float scale = rsqrtf(cg::reduce(tile, squares, cg::plus<float>()) / cols + epsilon);

  for (int col = tile.thread_rank(); col < cols; col += kTile)
    result[col] = (own[col] - mean) * scale * weight[col] + bias[col];
}

int main(int argc, char **argv) {
  int rows = 201, cols = 300;
  bench::IdiomOptions options("layernorm", "layer normalisation with tiles of a cooperative group");
  options.add("rows", &rows, 1, 1000000, "rows");
  options.add("cols", &cols, 1, 1000000, "columns");
  options.parse(argc, argv);

  const float epsilon = 1e-5f;
  const size_t count = static_cast<size_t>(rows) * cols;
  const std::vector<float> data = options.floats(0, count, -3.0f, 5.0f);
  const std::vector<float> weights = options.floats(1, cols, 0.5f, 1.5f);
  const std::vector<float> biases = options.floats(2, cols, -1.0f, 1.0f);
  const bench::DeviceArray<float> in(data), weight(weights), bias(biases), out(count);
  const auto kernels = [&] {
    normalise<<<bench::pieces(rows, kThreads / kTile), kThreads>>>(in.get(), weight.get(), bias.get(),
                                                                   out.get(), rows, cols, epsilon);
    CHECK_LAUNCH();
  };
  std::vector<float> want(count);
  const auto reference = [&] {
    twin::layernorm(data.data(), weights.data(), biases.data(), want.data(), rows, cols, epsilon);
  };
  return bench::judge(options, out, kernels, want, reference, 1e-4, 1.0);
}
