// A 3x3 smoothing filter: tiles of 16x16 in shared memory, the halo fetched by the threads at the tile's edges and
// corners. Beyond the image its nearest pixel counts.
#include "idiom.h"
#include "twins.h"

constexpr int kTile = 16;

__device__ static float pixel_at(const float *image, int row, int col, int rows, int cols) {
  row = min(max(row, 0), rows - 1);
  col = min(max(col, 0), cols - 1);
  return image[static_cast<size_t>(row) * cols + col];
}

__global__ void smooth(const float *from, float *to, int rows, int cols) {
  __shared__ float tile[kTile + 2][kTile + 2];

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int col = blockIdx.x * kTile + tx;
  const int row = blockIdx.y * kTile + ty;
  const bool west = tx == 0, east = tx == kTile - 1;

  tile[ty + 1][tx + 1] = pixel_at(from, row, col, rows, cols);
  if (west)
    tile[ty + 1][0] = pixel_at(from, row, col - 1, rows, cols);
  if (east)
    tile[ty + 1][kTile + 1] = pixel_at(from, row, col + 1, rows, cols);
  if (ty == 0) {
    tile[0][tx + 1] = pixel_at(from, row - 1, col, rows, cols);
    if (west)
      tile[0][0] = pixel_at(from, row - 1, col - 1, rows, cols);
    if (east)
      tile[0][kTile + 1] = pixel_at(from, row - 1, col + 1, rows, cols);
  }
  if (ty == kTile - 1) {
    tile[kTile + 1][tx + 1] = pixel_at(from, row + 1, col, rows, cols);
    if (west)
      tile[kTile + 1][0] = pixel_at(from, row + 1, col - 1, rows, cols);
    if (east)
      tile[kTile + 1][kTile + 1] = pixel_at(from, row + 1, col + 1, rows, cols);
  }
  __syncthreads();

  if (row >= rows || col >= cols)
    return;
  const float corners = tile[ty][tx] + tile[ty][tx + 2] + tile[ty + 2][tx] + tile[ty + 2][tx + 2];
  const float sides = tile[ty][tx + 1] + tile[ty + 1][tx] + tile[ty + 1][tx + 2] + tile[ty + 2][tx + 1];
  to[static_cast<size_t>(row) * cols + col] =
      0.0625f * corners + 0.125f * sides + 0.25f * tile[ty + 1][tx + 1];
}

int main(int argc, char **argv) {
  int rows = 200, cols = 300, sweeps = 3;
  bench::IdiomOptions options("smooth2d", "3x3 filter on tiles with halos in shared memory");
  options.add("rows", &rows, 1, 32768, "rows of the image");
  options.add("cols", &cols, 1, 32768, "columns of the image");
  options.add("sweeps", &sweeps, 0, 1000000, "pairs of passes");
  options.parse(argc, argv);

  const size_t pixels = static_cast<size_t>(rows) * cols;
  const std::vector<float> initial = options.floats(0, pixels, 0.0f, 255.0f);
  const bench::DeviceArray<float> start(initial), image(pixels), scratch(pixels);

  const dim3 block(kTile, kTile), blocks(bench::pieces(cols, kTile), bench::pieces(rows, kTile));
  const auto kernels = [&] {
    bench::copy_on_device(image, start, pixels);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      smooth<<<blocks, block>>>(image.get(), scratch.get(), rows, cols);
      CHECK_LAUNCH();
      smooth<<<blocks, block>>>(scratch.get(), image.get(), rows, cols);
      CHECK_LAUNCH();
    }
  };
  std::vector<float> want(pixels), other(pixels);
  const auto reference = [&] {
    want = initial;
    twin::smooth2d(want.data(), other.data(), rows, cols, sweeps);
  };
  return bench::judge(options, image, kernels, want, reference, 1e-5, 1.0);
}
