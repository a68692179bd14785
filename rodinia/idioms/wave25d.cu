// Waves in 3-D, a star of 25 points: a block of 16x16 threads marches along z ("2.5-D"), keeps its column in a queue
// of registers and shares the current plane, with halos, in a tile. The grid has a border of 4 cells that stays 0.
#include "idiom.h"
#include "twins.h"
#include "wave.h"

constexpr int kTile = 16;

__global__ void wave_step(const float *__restrict__ now, float *__restrict__ next, WaveGrid grid,
                          float speed) {
  __shared__ float tile[kTile + 2 * kRadius][kTile + 2 * kRadius];

  const int tx = threadIdx.x + kRadius, ty = threadIdx.y + kRadius;
  const int col = blockIdx.x * kTile + threadIdx.x, row = blockIdx.y * kTile + threadIdx.y;
  const bool inside = col < grid.nx && row < grid.ny;
  // The padded array has room for the halo; threads far outside of it load nothing.
  const bool loads = col < grid.nx + kRadius && row < grid.ny + kRadius;
  const size_t stride = grid.row(), plane = grid.plane();
  size_t cell = (row + kRadius) * stride + col + kRadius;

  float behind[kRadius], ahead[kRadius], centre = 0.0f;
  if (loads) {
    for (int i = 0; i < kRadius; ++i)
      behind[kRadius - 1 - i] = now[cell + i * plane];
    centre = now[cell + kRadius * plane];
    for (int i = 0; i < kRadius; ++i)
      ahead[i] = now[cell + (kRadius + 1 + i) * plane];
  }
  cell += kRadius * plane;

  for (int z = 0; z < grid.nz; ++z) {
    if (loads) {
      tile[ty][tx] = centre;
      if (threadIdx.x < kRadius) {
        tile[ty][tx - kRadius] = now[cell - kRadius];
        if (col + kTile < grid.nx + kRadius)
          tile[ty][tx + kTile] = now[cell + kTile];
      }
      if (threadIdx.y < kRadius) {
        tile[ty - kRadius][tx] = now[cell - kRadius * stride];
        if (row + kTile < grid.ny + kRadius)
          tile[ty + kTile][tx] = now[cell + kTile * stride];
      }
    }
    __syncthreads();

    if (inside) {
      float laplacian = 3.0f * star_weight(0) * centre;
#pragma unroll
      for (int i = 1; i <= kRadius; ++i)
        laplacian += star_weight(i) * (tile[ty][tx - i] + tile[ty][tx + i] + tile[ty - i][tx] +
                                 tile[ty + i][tx] + behind[i - 1] + ahead[i - 1]);
      next[cell] = 2.0f * centre - next[cell] + speed * laplacian;
    }
    __syncthreads();

    if (loads && z + 1 < grid.nz) {
#pragma unroll
      for (int i = kRadius - 1; i > 0; --i)
        behind[i] = behind[i - 1];
      behind[0] = centre;
      centre = ahead[0];
#pragma unroll
      for (int i = 0; i < kRadius - 1; ++i)
        ahead[i] = ahead[i + 1];
      ahead[kRadius - 1] = now[cell + (kRadius + 1) * plane];
    }
    cell += plane;
  }
}

int main(int argc, char **argv) {
  WaveGrid grid = {40, 36, 20};
  int sweeps = 2;
  bench::IdiomOptions options("wave25d", "25-point star, 2.5-D blocking");
  options.add("nx", &grid.nx, 1, 2048, "cells in x");
  options.add("ny", &grid.ny, 1, 2048, "cells in y");
  options.add("nz", &grid.nz, 1, 2048, "cells in z");
  options.add("sweeps", &sweeps, 0, 1000000, "pairs of time steps");
  options.parse(argc, argv);

  const float speed = 0.1f;
  std::vector<float> initial(grid.cells());
  const bench::CounterRandom random = options.generator(0);
  for (int z = 0; z < grid.nz; ++z)
    for (int y = 0; y < grid.ny; ++y)
      for (int x = 0; x < grid.nx; ++x)
        initial[grid.cell(x, y, z)] = random.uniform(grid.cell(x, y, z), -1.0f, 1.0f);
  const bench::DeviceArray<float> start(initial), now(initial.size()), before(initial.size());

  const dim3 block(kTile, kTile), blocks(bench::pieces(grid.nx, kTile), bench::pieces(grid.ny, kTile));
  const auto kernels = [&] {
    bench::copy_on_device(now, start, initial.size());
    bench::copy_on_device(before, start, initial.size());
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      wave_step<<<blocks, block>>>(now.get(), before.get(), grid, speed);
      CHECK_LAUNCH();
      wave_step<<<blocks, block>>>(before.get(), now.get(), grid, speed);
      CHECK_LAUNCH();
    }
  };
  std::vector<float> want(initial.size()), other(initial.size());
  const auto reference = [&] {
    want = initial;
    other = initial;
    twin::wave25d(want.data(), other.data(), grid, sweeps, speed);
  };
  return bench::judge(options, now, kernels, want, reference, 1e-4, 1.0);
}
