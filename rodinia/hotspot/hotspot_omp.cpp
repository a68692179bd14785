// Host reference: whole-grid Euler steps, rows in parallel, columns in vectors.
// The sum is written in the kernel's order; results differ only where a compiler
// contracts a multiplication and an addition on one side and not on the other.
#include "hotspot.h"

#include <algorithm>
#include <cstddef>

namespace {

struct Coefficients {
  float step_over_capacitance, inverse_x, inverse_y, inverse_z;
};

inline float next_temperature(const Coefficients &k, float centre, float north, float south,
                              float east, float west, float power) {
  return centre + k.step_over_capacitance *
                      (power + (south + north - 2.0f * centre) * k.inverse_y +
                       (east + west - 2.0f * centre) * k.inverse_x +
                       (kAmbientKelvin - centre) * k.inverse_z);
}

void advance_row(const Coefficients &k, const float *__restrict centre,
                 const float *__restrict north, const float *__restrict south,
                 const float *__restrict power, float *__restrict out, int cols) {
  const int last = cols - 1;
  out[0] = next_temperature(k, centre[0], north[0], south[0], centre[std::min(1, last)], centre[0],
                            power[0]);
#pragma omp simd
  for (int x = 1; x < last; ++x)
    out[x] = next_temperature(k, centre[x], north[x], south[x], centre[x + 1], centre[x - 1],
                              power[x]);
  if (last > 0)
    out[last] = next_temperature(k, centre[last], north[last], south[last], centre[last],
                                 centre[last - 1], power[last]);
}

} // namespace

void hotspot_reference(const ThermalModel &model, const std::vector<float> &power,
                       std::vector<float> &temperature, int rows, int cols, int steps) {
  const Coefficients k = {model.time_step / model.capacitance, 1.0f / model.resistance_x,
                          1.0f / model.resistance_y, 1.0f / model.resistance_z};
  std::vector<float> scratch(temperature.size());
  float *from = temperature.data();
  float *to = scratch.data();
#pragma omp parallel firstprivate(from, to)
  for (int step = 0; step < steps; ++step) {
#pragma omp for schedule(static)
    for (int y = 0; y < rows; ++y) {
      const std::size_t row = static_cast<std::size_t>(y) * cols;
      const std::size_t above = static_cast<std::size_t>(std::max(y - 1, 0)) * cols;
      const std::size_t below = static_cast<std::size_t>(std::min(y + 1, rows - 1)) * cols;
      advance_row(k, from + row, from + above, from + below, power.data() + row, to + row, cols);
    }
    std::swap(from, to);
  }
  if (steps % 2)
    temperature.swap(scratch);
}
