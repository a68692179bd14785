// Transposes a matrix: tiles of 32x32 in shared memory, a padded column against bank conflicts, blocks of 32x8 threads.
#include "idiom.h"
#include "twins.h"

constexpr int kTile = 32;
constexpr int kRows = 8;

__global__ void transpose(const float *in, float *out, int rows, int cols) {
  __shared__ float tile[kTile][kTile + 1];

  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows)
    if (x < cols && y + j < rows)
      tile[threadIdx.y + j][threadIdx.x] = in[static_cast<size_t>(y + j) * cols + x];
  __syncthreads();

  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows)
    if (x < rows && y + j < cols)
      out[static_cast<size_t>(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}

int main(int argc, char **argv) {
  int rows = 300, cols = 500;
  bench::IdiomOptions options("transpose", "matrix transpose on tiles in shared memory");
  options.add("rows", &rows, 1, 32768, "rows of the matrix");
  options.add("cols", &cols, 1, 32768, "columns of the matrix");
  options.parse(argc, argv);

  const size_t count = static_cast<size_t>(rows) * cols;
  const std::vector<float> data = options.floats(0, count, -1.0f, 1.0f);
  const bench::DeviceArray<float> in(data), out(count);
  const dim3 block(kTile, kRows), blocks(bench::pieces(cols, kTile), bench::pieces(rows, kTile));
  const auto kernels = [&] {
    transpose<<<blocks, block>>>(in.get(), out.get(), rows, cols);
    CHECK_LAUNCH();
  };
  std::vector<float> want(count);
  return bench::judge(options, out, kernels, want,
                      [&] { twin::transpose(data.data(), want.data(), rows, cols); });
}
