// Jacobi's iteration on a 2-D grid, five points, straight from global memory: a thread for each cell in blocks of
// 32x8. The border keeps its values.
#include "idiom.h"
#include "twins.h"

__global__ void relax(const float *from, float *to, int rows, int cols) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || col >= cols)
    return;
  const size_t cell = static_cast<size_t>(row) * cols + col;
  if (row == 0 || row == rows - 1 || col == 0 || col == cols - 1)
    to[cell] = from[cell];
  else
    to[cell] = 0.25f * (from[cell - cols] + from[cell + cols] + from[cell - 1] + from[cell + 1]);
}

int main(int argc, char **argv) {
  int rows = 200, cols = 300, sweeps = 4;
  bench::IdiomOptions options("jacobi2d", "five-point stencil without shared memory");
  options.add("rows", &rows, 1, 32768, "rows of the grid");
  options.add("cols", &cols, 1, 32768, "columns of the grid");
  options.add("sweeps", &sweeps, 0, 1000000, "pairs of iterations");
  options.parse(argc, argv);

  const size_t cells = static_cast<size_t>(rows) * cols;
  const std::vector<float> initial = options.floats(0, cells, 0.0f, 100.0f);
  const bench::DeviceArray<float> start(initial), grid(cells), scratch(cells);

  const dim3 block(32, 8), blocks(bench::pieces(cols, 32), bench::pieces(rows, 8));
  const auto kernels = [&] {
    bench::copy_on_device(grid, start, cells);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      relax<<<blocks, block>>>(grid.get(), scratch.get(), rows, cols);
      CHECK_LAUNCH();
      relax<<<blocks, block>>>(scratch.get(), grid.get(), rows, cols);
      CHECK_LAUNCH();
    }
  };
  std::vector<float> want(cells), other(cells);
  const auto reference = [&] {
    want = initial;
    twin::jacobi2d(want.data(), other.data(), rows, cols, sweeps);
  };
  return bench::judge(options, grid, kernels, want, reference, 1e-5, 1.0);
}
