// Adds a bias to each row and applies GELU in its form with tanh: a grid-stride loop over vectors of four.
#include "idiom.h"
#include "twins.h"

constexpr int kThreads = 256;
constexpr int kBlocks = 512;

__device__ static float gelu(float x) {
  return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}

__global__ void bias_gelu(const float4 *in, const float4 *bias, float4 *out, int count, int quads) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const float4 x = in[i], b = bias[i % quads];
    out[i] = make_float4(gelu(x.x + b.x), gelu(x.y + b.y), gelu(x.z + b.z), gelu(x.w + b.w));
  }
}

int main(int argc, char **argv) {
  int rows = 101, quads = 75;
  bench::IdiomOptions options("gelu", "bias and GELU on vectors of four");
  options.add("rows", &rows, 1, 100000, "rows");
  options.add("quads", &quads, 1, 4096, "columns by four");
  options.parse(argc, argv);

  const size_t count = 4 * static_cast<size_t>(rows) * quads;
  const std::vector<float> data = options.floats(0, count, -4.0f, 4.0f);
  const std::vector<float> biases = options.floats(1, 4 * quads, -1.0f, 1.0f);
  const bench::DeviceArray<float> in(data), bias(biases), out(count);
  const auto kernels = [&] {
    bias_gelu<<<kBlocks, kThreads>>>(reinterpret_cast<const float4 *>(in.get()),
                                     reinterpret_cast<const float4 *>(bias.get()),
                                     reinterpret_cast<float4 *>(out.get()), rows * quads, quads);
    CHECK_LAUNCH();
  };
  std::vector<float> want(count);
  return bench::judge(
      options, out, kernels, want,
      [&] { twin::gelu(data.data(), biases.data(), want.data(), rows, 4 * quads); }, 1e-5, 0.1);
}
