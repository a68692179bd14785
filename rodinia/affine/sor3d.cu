// Gauss-Seidel relaxation of a cube, a launch for each wave of a sweep.
#define TOLERANCE 1e-12
#define HAS_RUN
#include "affine.h"

static __global__ void wave(int n, int w, double *a) {
  int j = blockIdx.x * blockDim.x + threadIdx.x + 1, i = blockIdx.y * blockDim.y + threadIdx.y + 1, k = w - i - j;
  if (i >= n - 1 || j >= n - 1 || k < 1 || k >= n - 1)
    return;
  double *p = a + (i * n + j) * n + k;
  *p = 0.14 * (p[0] + p[-1] + p[1] + p[-n] + p[n] + p[-n * n] + p[n * n]);
}

static void run(int n, int steps, double *a) {
  size_t all = (size_t)n * n * n;
  double *d = on_device(a, all);
  for (int t = 0; t < steps; t++)
    for (int w = 3; w <= 3 * (n - 2); w++)
      wave<<<dim3((n + 31) / 32, (n + 7) / 8), dim3(32, 8)>>>(n, w, d);
  to_host(a, d, all);
}
#include "sor3d.c"
