// Coulombic potential, a thread for each point.
#define TOLERANCE 1e-12
#define HAS_RUN
#include "affine.h"

static __global__ void potential(int n, int atoms, const double *x, const double *y, const double *z, const double *charge, double *out) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= n)
    return;
  double sum = 0;
  for (int a = 0; a < atoms; a++) {
    double dx = 0.1 * j - x[a], dy = 0.1 * i - y[a];
    sum += charge[a] / sqrt(dx * dx + dy * dy + z[a]);
  }
  out[i * n + j] = sum;
}

static void run(int n, int atoms, const double *x, const double *y, const double *z, const double *charge, double *out) {
  double *dx = on_device(x, atoms), *dy = on_device(y, atoms), *dz = on_device(z, atoms), *dc = on_device(charge, atoms);
  double *d = on_device(out, (size_t)n * n);
  potential<<<dim3((n + 31) / 32, (n + 7) / 8), dim3(32, 8)>>>(n, atoms, dx, dy, dz, dc, d);
  to_host(out, d, (size_t)n * n);
  cudaFree(dx), cudaFree(dy), cudaFree(dz), cudaFree(dc);
}
#include "coulomb.c"
