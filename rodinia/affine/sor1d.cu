// Gauss-Seidel relaxation of a row, a launch for each wave.
#define TOLERANCE 1e-12
#define HAS_RUN
#include "affine.h"

static __global__ void wave(int n, int steps, int w, double *a) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, i = w - 2 * t + 1;
  if (t < steps && i >= 1 && i < n - 1)
    a[i] = 0.3 * (a[i - 1] + a[i + 1]) + 0.4 * a[i];
}

static void run(int n, int steps, double *a) {
  double *d = on_device(a, n);
  for (int w = 0; w < n + 2 * steps; w++)
    wave<<<(steps + 63) / 64, 64>>>(n, steps, w, d);
  to_host(a, d, n);
}
#include "sor1d.c"
