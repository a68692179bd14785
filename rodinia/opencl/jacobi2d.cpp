// idioms/jacobi2d.cu in OpenCL.
#include "idiom.h"

const char *const kSource = R"cl(
kernel void relax(global const float *from, global float *to, int rows, int cols) {
  const int col = get_global_id(0);
  const int row = get_global_id(1);
  if (row >= rows || col >= cols)
    return;
  const size_t cell = (size_t)row * cols + col;
  if (row == 0 || row == rows - 1 || col == 0 || col == cols - 1)
    to[cell] = from[cell];
  else
    to[cell] = 0.25f * (from[cell - cols] + from[cell + cols] + from[cell - 1] + from[cell + 1]);
}
)cl";

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
  const bench::Kernel relax(kSource, "relax");

  const bench::Shape threads = {32, 8, 1};
  const bench::Shape blocks = {static_cast<size_t>(bench::pieces(cols, 32)), static_cast<size_t>(bench::pieces(rows, 8)), 1};
  const auto kernels = [&] {
    bench::copy_on_device(grid, start, cells);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      relax.launch(blocks, threads, grid, scratch, rows, cols);
      relax.launch(blocks, threads, scratch, grid, rows, cols);
    }
  };
  std::vector<float> want(cells), other(cells);
  const auto reference = [&] {
    want = initial;
    twin::jacobi2d(want.data(), other.data(), rows, cols, sweeps);
  };
  return bench::judge(options, grid, kernels, want, reference, 1e-5, 1.0);
}
