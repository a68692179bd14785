// Each row of a cube times a matrix as PPCG maps it: tiles of 32 x 32 rows in blocks, a row in a thread, all its statements in one kernel.
#define TOLERANCE 1e-12
#define HAS_RUN
#include "../affine.h"

enum { TILE = 32, WIDTH = 16 };
static __global__ void tiles(int n, double *a, const double *c, double *sum) {
  __shared__ double tc[TILE][TILE];
  int r = blockIdx.y * TILE + threadIdx.y, tq = blockIdx.x * TILE;
  for (int tp = 0; tp < n; tp += TILE)
    for (int ts = 0; ts < n; ts += TILE) {
      for (int s = threadIdx.x; s < TILE; s += WIDTH)
        tc[threadIdx.y][s] = ts + threadIdx.y < n && tp + s < n ? c[(ts + threadIdx.y) * n + tp + s] : 0;
      __syncthreads();
      for (int q = tq + threadIdx.x; r < n && q < tq + TILE && q < n; q += WIDTH)
        for (int p = tp; p < tp + TILE && p < n; p++) {
          if (ts == 0)
            sum[(r * n + q) * n + p] = 0;
          for (int s = ts; s < ts + TILE && s < n; s++)
            sum[(r * n + q) * n + p] += a[(r * n + q) * n + s] * tc[s - ts][p - tp];
        }
      __syncthreads();
    }
  for (int q = tq + threadIdx.x; r < n && q < tq + TILE && q < n; q += WIDTH)
    for (int p = 0; p < n; p++)
      a[(r * n + q) * n + p] = sum[(r * n + q) * n + p];
}

static void run(int n, double *a, const double *c, double *sum) {
  size_t all = (size_t)n * n * n;
  double *da = on_device(a, all), *dc = on_device(c, (size_t)n * n), *ds = on_device(sum, all);
  tiles<<<dim3((n + TILE - 1) / TILE, (n + TILE - 1) / TILE), dim3(WIDTH, TILE)>>>(n, da, dc, ds);
  to_host(a, da, all), to_host(sum, ds, all);
  cudaFree(dc);
}
#include "../doitgen.c"
