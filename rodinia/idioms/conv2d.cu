// A 7x7 convolution of several images: the filter in constant memory, tiles with halos in shared memory, fetched by all
// threads of a 16x16 block together. Beyond an image there are zeros.
#include "idiom.h"
#include "twins.h"

constexpr int kTile = 16;
constexpr int kSide = 7;
constexpr int kReach = kSide / 2;
constexpr int kPadded = kTile + 2 * kReach;

__constant__ float filter[kSide * kSide];

__global__ void convolve(const float *in, float *out, int rows, int cols) {
  __shared__ float tile[kPadded][kPadded];

  const size_t image = static_cast<size_t>(blockIdx.z) * rows * cols;
  const int top = blockIdx.y * kTile - kReach, west = blockIdx.x * kTile - kReach;
  for (int i = threadIdx.y * kTile + threadIdx.x; i < kPadded * kPadded; i += kTile * kTile) {
    const int row = top + i / kPadded, col = west + i % kPadded;
    const bool inside = row >= 0 && row < rows && col >= 0 && col < cols;
    tile[i / kPadded][i % kPadded] = inside ? in[image + static_cast<size_t>(row) * cols + col] : 0.0f;
  }
  __syncthreads();

  const int row = blockIdx.y * kTile + threadIdx.y, col = blockIdx.x * kTile + threadIdx.x;
  if (row >= rows || col >= cols)
    return;
  float sum = 0.0f;
#pragma unroll
  for (int y = 0; y < kSide; ++y)
#pragma unroll
    for (int x = 0; x < kSide; ++x)
      sum += filter[y * kSide + x] * tile[threadIdx.y + y][threadIdx.x + x];
  out[image + static_cast<size_t>(row) * cols + col] = sum;
}

int main(int argc, char **argv) {
  int rows = 100, cols = 150, images = 3;
  bench::IdiomOptions options("conv2d", "7x7 convolution, filter in constant memory");
  options.add("rows", &rows, 1, 16384, "rows of an image");
  options.add("cols", &cols, 1, 16384, "columns of an image");
  options.add("images", &images, 1, 1024, "images");
  options.parse(argc, argv);

  const size_t count = static_cast<size_t>(images) * rows * cols;
  const std::vector<float> data = options.floats(0, count, 0.0f, 1.0f);
  const std::vector<float> weights = options.floats(1, kSide * kSide, -1.0f, 1.0f);
  const bench::DeviceArray<float> in(data), out(count);
  CHECK_CUDA(cudaMemcpyToSymbol(filter, weights.data(), weights.size() * sizeof(float)));
  const dim3 block(kTile, kTile), blocks(bench::pieces(cols, kTile), bench::pieces(rows, kTile), images);
  const auto kernels = [&] {
    convolve<<<blocks, block>>>(in.get(), out.get(), rows, cols);
    CHECK_LAUNCH();
  };
  std::vector<float> want(count);
  const auto reference = [&] {
    twin::conv2d(data.data(), weights.data(), want.data(), images, rows, cols);
  };
  return bench::judge(options, out, kernels, want, reference, 1e-4, 1.0);
}
