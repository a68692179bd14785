// Heat on a 3-D grid in double precision: seven points straight from global memory, blocks of 32x4x2. The border
// keeps its values.
#include "idiom.h"
#include "twins.h"

__global__ void heat_step(const double *from, double *to, int nx, int ny, int nz, double rate) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= nx || y >= ny || z >= nz)
    return;
  const size_t row = nx, plane = static_cast<size_t>(nx) * ny;
  const size_t cell = z * plane + y * row + x;
  const double centre = from[cell];
  if (x == 0 || x == nx - 1 || y == 0 || y == ny - 1 || z == 0 || z == nz - 1) {
    to[cell] = centre;
    return;
  }
  const double around = from[cell - 1] + from[cell + 1] + from[cell - row] + from[cell + row] +
                        from[cell - plane] + from[cell + plane];
  to[cell] = centre + rate * (around - 6.0 * centre);
}

int main(int argc, char **argv) {
  int nx = 50, ny = 40, nz = 30, sweeps = 3;
  bench::IdiomOptions options("heat3d", "seven-point stencil in double precision");
  options.add("nx", &nx, 1, 2048, "cells in x");
  options.add("ny", &ny, 1, 2048, "cells in y");
  options.add("nz", &nz, 1, 2048, "cells in z");
  options.add("sweeps", &sweeps, 0, 1000000, "pairs of time steps");
  options.parse(argc, argv);

  const double rate = 0.1;
  const size_t cells = static_cast<size_t>(nx) * ny * nz;
  const std::vector<float> values = options.floats(0, cells, 0.0f, 100.0f);
  const std::vector<double> initial(values.begin(), values.end());
  const bench::DeviceArray<double> start(initial), grid(cells), scratch(cells);

  const dim3 block(32, 4, 2);
  const dim3 blocks(bench::pieces(nx, 32), bench::pieces(ny, 4), bench::pieces(nz, 2));
  const auto kernels = [&] {
    bench::copy_on_device(grid, start, cells);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      heat_step<<<blocks, block>>>(grid.get(), scratch.get(), nx, ny, nz, rate);
      CHECK_LAUNCH();
      heat_step<<<blocks, block>>>(scratch.get(), grid.get(), nx, ny, nz, rate);
      CHECK_LAUNCH();
    }
  };
  std::vector<double> want(cells), other(cells);
  const auto reference = [&] {
    want = initial;
    twin::heat3d(want.data(), other.data(), nx, ny, nz, sweeps, rate);
  };
  return bench::judge(options, grid, kernels, want, reference, 1e-12, 1.0);
}
