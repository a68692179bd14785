// Jacobi's iteration, a launch for each sweep.
#define TOLERANCE 1e-12
#define HAS_RUN
#include "affine.h"

static __global__ void sweep(int n, const double *a, double *b) {
  int j = blockIdx.x * blockDim.x + threadIdx.x + 1, i = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (i < n - 1 && j < n - 1)
    b[i * n + j] = 0.2 * (a[i * n + j] + a[i * n + j - 1] + a[i * n + j + 1] + a[(i + 1) * n + j] + a[(i - 1) * n + j]);
}

static void run(int n, int steps, double *a, double *b) {
  double *da = on_device(a, (size_t)n * n), *db = on_device(b, (size_t)n * n);
  dim3 grid((n + 31) / 32, (n + 7) / 8), block(32, 8);
  for (int t = 0; t < steps; t++) {
    sweep<<<grid, block>>>(n, da, db);
    sweep<<<grid, block>>>(n, db, da);
  }
  to_host(a, da, (size_t)n * n), to_host(b, db, (size_t)n * n);
}
#include "jacobi2d.c"
