// Finite differences of an electromagnetic field, two launches for each step.
#define TOLERANCE 1e-9
#define HAS_RUN
#include "affine.h"

static __global__ void electric(int n, int t, double *ex, double *ey, const double *hz, const double *source) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= n)
    return;
  ey[i * n + j] = i == 0 ? source[t] : ey[i * n + j] - 0.5 * (hz[i * n + j] - hz[(i - 1) * n + j]);
  if (j > 0)
    ex[i * n + j] -= 0.5 * (hz[i * n + j] - hz[i * n + j - 1]);
}

static __global__ void magnetic(int n, const double *ex, const double *ey, double *hz) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n - 1 && j < n - 1)
    hz[i * n + j] -= 0.7 * (ex[i * n + j + 1] - ex[i * n + j] + ey[(i + 1) * n + j] - ey[i * n + j]);
}

static void run(int n, int steps, double *ex, double *ey, double *hz, const double *source) {
  size_t all = (size_t)n * n;
  double *dx = on_device(ex, all), *dy = on_device(ey, all), *dz = on_device(hz, all), *ds = on_device(source, steps);
  dim3 grid((n + 31) / 32, (n + 7) / 8), block(32, 8);
  for (int t = 0; t < steps; t++) {
    electric<<<grid, block>>>(n, t, dx, dy, dz, ds);
    magnetic<<<grid, block>>>(n, dx, dy, dz);
  }
  to_host(ex, dx, all), to_host(ey, dy, all), to_host(hz, dz, all);
  cudaFree(ds);
}
#include "fdtd2d.c"
