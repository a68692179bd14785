// Waves in 3-D: rows of blocks of planes in parallel, x in vectors. A tile of rows goes through z, so that the nine
// planes of the star stay in the cache.
#include "twins.h"
#include "wave.h"

#include <algorithm>

namespace {

constexpr int kRows = 16;

void wave_row(const float *__restrict now, float *__restrict next, std::ptrdiff_t row,
              std::ptrdiff_t plane, int nx, float speed) {
#pragma omp simd
  for (int x = 0; x < nx; ++x) {
    const float *c = now + x;
    float laplacian = 3.0f * star_weight(0) * c[0];
#pragma GCC unroll 4
    for (int i = 1; i <= kRadius; ++i)
      laplacian += star_weight(i) * (c[-i] + c[i] + c[-i * row] + c[i * row] + c[-i * plane] + c[i * plane]);
    next[x] = 2.0f * c[0] - next[x] + speed * laplacian;
  }
}

void wave_step(const float *now, float *next, const WaveGrid &grid, float speed) {
#pragma omp for schedule(static)
  for (int first = 0; first < grid.ny; first += kRows)
    for (int z = 0; z < grid.nz; ++z)
      for (int y = first; y < std::min(first + kRows, grid.ny); ++y) {
        const std::size_t at = grid.cell(0, y, z);
        wave_row(now + at, next + at, grid.row(), grid.plane(), grid.nx, speed);
      }
}

} // namespace

void twin::wave25d(float *now, float *before, const WaveGrid &grid, int sweeps, float speed) {
#pragma omp parallel
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    wave_step(now, before, grid, speed);
    wave_step(before, now, grid, speed);
  }
}
