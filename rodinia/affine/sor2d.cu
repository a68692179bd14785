// Gauss-Seidel relaxation of a plane, a launch for each wave of a sweep.
#define TOLERANCE 1e-12
#define HAS_RUN
#include "affine.h"

static __global__ void wave(int n, int w, double *a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x + 1, j = w - i;
  if (i < n - 1 && j >= 1 && j < n - 1)
    a[i * n + j] = 0.2 * (a[i * n + j] + a[i * n + j - 1] + a[i * n + j + 1] + a[(i - 1) * n + j] + a[(i + 1) * n + j]);
}

static void run(int n, int steps, double *a) {
  double *d = on_device(a, (size_t)n * n);
  for (int t = 0; t < steps; t++)
    for (int w = 2; w <= 2 * (n - 2); w++)
      wave<<<(n + 127) / 128, 128>>>(n, w, d);
  to_host(a, d, (size_t)n * n);
}
#include "sor2d.c"
