// Gauss and Seidel's iteration in two colours: one cooperative launch for all sweeps, the whole grid meets between the
// colours. As many blocks as the device holds at once stride over the cells.
#include "idiom.h"
#include "twins.h"

#include <algorithm>
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr int kThreads = 256;

__global__ void relax(float *cells, int rows, int cols, int sweeps) {
  const cg::grid_group grid = cg::this_grid();
  const int half = (cols - 1) / 2;
  const long long count = static_cast<long long>(rows - 2) * half;
  for (int colour = 0; colour < 2 * sweeps; ++colour) {
    for (long long i = grid.thread_rank(); i < count; i += grid.size()) {
      const int row = 1 + static_cast<int>(i / half);
      const int col = 1 + 2 * static_cast<int>(i % half) + (row + colour) % 2;
      if (col < cols - 1) {
        float *cell = cells + static_cast<size_t>(row) * cols + col;
        *cell = 0.25f * (cell[-cols] + cell[cols] + cell[-1] + cell[1]);
      }
    }
    grid.sync();
  }
}

int main(int argc, char **argv) {
  int rows = 150, cols = 201, sweeps = 4;
  bench::IdiomOptions options("relax_cooperative", "red-black relaxation in a cooperative launch");
  options.add("rows", &rows, 3, 32768, "rows of the grid");
  options.add("cols", &cols, 3, 32768, "columns of the grid");
  options.add("sweeps", &sweeps, 0, 100000, "sweeps of both colours");
  options.parse(argc, argv);

  int processors = 1, resident = 1;
  CHECK_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, relax, kThreads, 0));

  const size_t count = static_cast<size_t>(rows) * cols;
  const std::vector<float> initial = options.floats(0, count, 0.0f, 100.0f);
  const bench::DeviceArray<float> start(initial), cells(count);
  const int blocks = std::min<int>(processors * resident, bench::pieces(count, 2 * kThreads));
  float *data = cells.get();
  void *arguments[] = {&data, &rows, &cols, &sweeps};
  const auto kernels = [&] {
    bench::copy_on_device(cells, start, count);
    CHECK_CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<void *>(relax), dim3(blocks), dim3(kThreads),
                                           arguments, 0, nullptr));
  };
  std::vector<float> want(count);
  const auto reference = [&] {
    want = initial;
    twin::relax_cooperative(want.data(), rows, cols, sweeps);
  };
  return bench::judge(options, cells, kernels, want, reference, 1e-5, 1.0);
}
