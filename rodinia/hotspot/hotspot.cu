// HotSpot: transient temperature of a chip on a grid of cells, by explicit Euler
// steps of the thermal network. Blocks of 16x16 threads load a tile with a halo,
// advance it several steps in shared memory while the right cells shrink like a
// pyramid, and write its core.
#include "../common/device.h"
#include "../common/options.h"
#include "../common/random.h"
#include "../common/report.h"
#include "hotspot.h"

#include <algorithm>
#include <vector>

constexpr int kTile = 16;

__device__ static inline int clamp_to(int value, int low, int high) {
  return value < low ? low : (value > high ? high : value);
}

// Advances `steps` (at most `halo`) Euler steps. A block owns the core of
// kTile - 2*halo cells a side; thread (x, y) holds one cell of core and halo.
__global__ void advance_tile(ThermalModel model, const float *power, const float *from, float *to,
                             int rows, int cols, int halo, int steps) {
  __shared__ float heat[kTile][kTile];
  __shared__ float watts[kTile][kTile];
  __shared__ float next[kTile][kTile];

  const float step_over_capacitance = model.time_step / model.capacitance;
  const float inverse_x = 1.0f / model.resistance_x;
  const float inverse_y = 1.0f / model.resistance_y;
  const float inverse_z = 1.0f / model.resistance_z;

  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int core = kTile - 2 * halo;
  const int first_row = core * static_cast<int>(blockIdx.y) - halo;
  const int first_col = core * static_cast<int>(blockIdx.x) - halo;
  const int row = first_row + ty;
  const int col = first_col + tx;
  const bool on_chip = row >= 0 && row < rows && col >= 0 && col < cols;
  const size_t cell = static_cast<size_t>(row) * cols + col;

  if (on_chip) {
    heat[ty][tx] = from[cell];
    watts[ty][tx] = power[cell];
  }
  __syncthreads();

  // Neighbours in the tile; the chip's border is its own neighbour.
  const int top = max(0, -first_row);
  const int left = max(0, -first_col);
  const int bottom = min(kTile - 1, rows - 1 - first_row);
  const int right = min(kTile - 1, cols - 1 - first_col);
  const int north = clamp_to(ty - 1, top, bottom);
  const int south = clamp_to(ty + 1, top, bottom);
  const int west = clamp_to(tx - 1, left, right);
  const int east = clamp_to(tx + 1, left, right);

  bool computed = false;
  for (int step = 0; step < steps; ++step) {
    computed = on_chip && tx > step && tx < kTile - 1 - step && ty > step && ty < kTile - 1 - step;
    if (computed) {
      const float centre = heat[ty][tx];
      next[ty][tx] =
          centre + step_over_capacitance *
                       (watts[ty][tx] + (heat[south][tx] + heat[north][tx] - 2.0f * centre) * inverse_y +
                        (heat[ty][east] + heat[ty][west] - 2.0f * centre) * inverse_x +
                        (kAmbientKelvin - centre) * inverse_z);
    }
    __syncthreads();
    if (step == steps - 1)
      break;
    if (computed)
      heat[ty][tx] = next[ty][tx];
    __syncthreads();
  }

  // Only the core is written: neighbouring tiles own the rest.
  const bool in_core = tx >= halo && tx < kTile - halo && ty >= halo && ty < kTile - halo;
  if (computed && in_core)
    to[cell] = next[ty][tx];
}

namespace {

// A silicon die of 16 mm x 16 mm x 0.5 mm. The step keeps the fastest cell's
// change small and, on fine grids, Euler's method stable.
ThermalModel make_model(int rows, int cols) {
  const double thickness = 0.0005, side = 0.016;
  const double conductivity = 100.0, heat_per_volume = 1.75e6, lumping = 0.5;
  const double max_power_density = 3.0e6, precision = 0.001;
  const double cell_x = side / cols, cell_y = side / rows;
  const double capacitance = lumping * heat_per_volume * thickness * cell_x * cell_y;
  const double rx = cell_x / (2.0 * conductivity * thickness * cell_y);
  const double ry = cell_y / (2.0 * conductivity * thickness * cell_x);
  const double rz = thickness / (conductivity * cell_x * cell_y);
  const double accurate = precision * lumping * thickness * heat_per_volume / max_power_density;
  const double stable = 0.9 * capacitance / (2.0 / rx + 2.0 / ry + 1.0 / rz);
  return {static_cast<float>(capacitance), static_cast<float>(rx), static_cast<float>(ry),
          static_cast<float>(rz), static_cast<float>(std::min(accurate, stable))};
}

std::vector<float> simulate(const ThermalModel &model, const std::vector<float> &power,
                            const std::vector<float> &initial, int rows, int cols, int steps,
                            int halo, bench::Report &report) {
  bench::Stopwatch total;
  bench::DeviceArray<float> watts(power);
  bench::DeviceArray<float> first(initial);
  bench::DeviceArray<float> second(initial.size());
  float *from = first.get();
  float *to = second.get();

  const int core = kTile - 2 * halo;
  const dim3 block(kTile, kTile);
  const dim3 grid((cols + core - 1) / core, (rows + core - 1) / core);
  bench::DeviceTimer timer;
  for (int done = 0; done < steps; done += halo) {
    const int now = std::min(halo, steps - done);
    advance_tile<<<grid, block>>>(model, watts.get(), from, to, rows, cols, halo, now);
    CHECK_LAUNCH();
    std::swap(from, to);
  }
  report.kernel_ms = timer.stop();
  std::vector<float> result = from == first.get() ? first.download() : second.download();
  report.total_ms = total.milliseconds();
  return result;
}

} // namespace

int main(int argc, char **argv) {
  int rows = 256, cols = 256, steps = 20, pyramid = 2;
  bench::Options options("hotspot", "transient temperature of a chip");
  options.add("rows", &rows, 1, 32768, "rows of cells");
  options.add("cols", &cols, 1, 32768, "columns of cells");
  options.add("steps", &steps, 0, 1000000, "time steps");
  options.add("pyramid", &pyramid, 1, kTile / 2 - 1, "steps a tile advances in one launch");
  options.parse(argc, argv);

  const size_t cells = static_cast<size_t>(rows) * cols;
  const ThermalModel model = make_model(rows, cols);
  const bench::CounterRandom random(options.seed);
  const float hottest = static_cast<float>(3.0e6 * 0.016 * 0.016 / static_cast<double>(cells));
  std::vector<float> power(cells), initial(cells);
  for (size_t i = 0; i < cells; ++i) {
    power[i] = random.uniform(2 * i, 0.0f, hottest);
    initial[i] = random.uniform(2 * i + 1, 320.0f, 345.0f);
  }

  bench::Report report(options);
  const std::vector<float> result =
      simulate(model, power, initial, rows, cols, steps, pyramid, report);
  report.result(result);
  if (!options.no_check) {
    std::vector<float> want = initial;
    bench::Stopwatch reference;
    hotspot_reference(model, power, want, rows, cols, steps);
    report.reference_ms = reference.milliseconds();
    report.compare(result, want, 1e-5, 1.0);
  }
  return report.finish();
}
