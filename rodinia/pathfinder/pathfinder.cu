// PathFinder: dynamic programming over the rows of a grid. A block of 256 threads
// holds 256 columns in shared memory and advances several rows in one launch; the
// columns that are still right shrink by one on each side with every row, so
// neighbouring blocks overlap in a ghost zone as wide as the rows of a launch.
#include "../common/device.h"
#include "../common/options.h"
#include "../common/random.h"
#include "../common/report.h"
#include "pathfinder.h"

#include <algorithm>
#include <vector>

constexpr int kBlock = 256;

// `cost` starts at the first of the `rows` rows to add. The block's core, the
// columns it writes, is kBlock - 2*halo wide; rows <= halo.
__global__ void advance_rows(const int *cost, const int *from, int *to, int rows, int cols,
                             int halo) {
  __shared__ int best[kBlock];
  __shared__ int next[kBlock];

  const int tx = threadIdx.x;
  const int core = kBlock - 2 * halo;
  const int first_col = core * static_cast<int>(blockIdx.x) - halo;
  const int col = first_col + tx;
  const bool in_grid = col >= 0 && col < cols;

  // Neighbours in shared memory; the border column is its own neighbour.
  const int west = max(tx - 1, max(0, -first_col));
  const int east = min(tx + 1, min(kBlock - 1, cols - 1 - first_col));

  if (in_grid)
    best[tx] = from[col];
  __syncthreads();

  bool computed = false;
  for (int row = 0; row < rows; ++row) {
    computed = in_grid && tx > row && tx < kBlock - 1 - row;
    if (computed) {
      const int cheapest = min(best[tx], min(best[west], best[east]));
      next[tx] = cheapest + cost[static_cast<size_t>(row) * cols + col];
    }
    __syncthreads();
    if (row == rows - 1)
      break;
    if (computed)
      best[tx] = next[tx];
    __syncthreads();
  }

  if (computed && tx >= halo && tx < kBlock - halo)
    to[col] = next[tx];
}

namespace {

std::vector<int> find_paths(const std::vector<int> &cost, int rows, int cols, int halo,
                            bench::Report &report) {
  bench::Stopwatch total;
  bench::DeviceArray<int> grid_cost(cost);
  bench::DeviceArray<int> first(std::vector<int>(cost.begin(), cost.begin() + cols));
  bench::DeviceArray<int> second(cols);
  int *from = first.get();
  int *to = second.get();

  const int core = kBlock - 2 * halo;
  const int blocks = (cols + core - 1) / core;
  bench::DeviceTimer timer;
  for (int done = 1; done < rows; done += halo) {
    const int now = std::min(halo, rows - done);
    const int *start = grid_cost.get() + static_cast<size_t>(done) * cols;
    advance_rows<<<blocks, kBlock>>>(start, from, to, now, cols, halo);
    CHECK_LAUNCH();
    std::swap(from, to);
  }
  report.kernel_ms = timer.stop();
  std::vector<int> result = from == first.get() ? first.download() : second.download();
  report.total_ms = total.milliseconds();
  return result;
}

} // namespace

int main(int argc, char **argv) {
  int rows = 101, cols = 20000, pyramid = 20;
  bench::Options options("pathfinder", "cheapest paths down a grid, by dynamic programming");
  options.add("rows", &rows, 1, 1000000, "rows of the grid");
  options.add("cols", &cols, 1, 100000000, "columns of the grid");
  options.add("pyramid", &pyramid, 1, kBlock / 2 - 1, "rows a block advances in one launch");
  options.parse(argc, argv);

  const size_t cells = static_cast<size_t>(rows) * cols;
  const bench::CounterRandom random(options.seed);
  std::vector<int> cost(cells);
  for (size_t i = 0; i < cells; ++i)
    cost[i] = static_cast<int>(random.below(i, 10));

  bench::Report report(options);
  const std::vector<int> result = find_paths(cost, rows, cols, pyramid, report);
  report.result(result);
  if (!options.no_check) {
    bench::Stopwatch reference;
    const std::vector<int> want = pathfinder_reference(cost, rows, cols);
    report.reference_ms = reference.milliseconds();
    report.compare(result, want);
  }
  return report.finish();
}
