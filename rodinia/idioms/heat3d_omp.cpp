// Heat on a 3-D grid: planes and rows in parallel, x in vectors.
#include "twins.h"

#include <cstddef>
#include <cstring>

namespace {

void heat_step(const double *__restrict from, double *__restrict to, int nx, int ny, int nz,
               double rate) {
  const std::ptrdiff_t row = nx, plane = static_cast<std::ptrdiff_t>(nx) * ny;
#pragma omp for collapse(2) schedule(static)
  for (int z = 0; z < nz; ++z) {
    for (int y = 0; y < ny; ++y) {
      const double *here = from + z * plane + y * row;
      double *out = to + z * plane + y * row;
      if (z == 0 || z == nz - 1 || y == 0 || y == ny - 1) {
        std::memcpy(out, here, nx * sizeof(double));
        continue;
      }
      out[0] = here[0];
#pragma omp simd
      for (int x = 1; x < nx - 1; ++x) {
        const double around = here[x - 1] + here[x + 1] + here[x - row] + here[x + row] +
                              here[x - plane] + here[x + plane];
        out[x] = here[x] + rate * (around - 6.0 * here[x]);
      }
      out[nx - 1] = here[nx - 1];
    }
  }
}

} // namespace

void twin::heat3d(double *grid, double *scratch, int nx, int ny, int nz, int sweeps, double rate) {
#pragma omp parallel
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    heat_step(grid, scratch, nx, ny, nz, rate);
    heat_step(scratch, grid, nx, ny, nz, rate);
  }
}
