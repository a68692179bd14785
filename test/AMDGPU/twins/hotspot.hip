// The kernels of rodinia/hotspot, ported to HIP by hand. What they compute is said there.
#include "hip.h"

struct ThermalModel {
  float capacitance;
  float resistance_x;
  float resistance_y;
  float resistance_z;
  float time_step;
};

constexpr float kAmbientKelvin = 80.0f;

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
