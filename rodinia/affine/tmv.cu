// The product of a transposed matrix and a vector, a thread for each column.
#define TOLERANCE 1e-12
#define HAS_RUN
#include "affine.h"

static __global__ void columns(int n, const double *a, const double *x, double *y) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= n)
    return;
  double sum = 0;
  for (int i = 0; i < n; i++)
    sum += a[i * n + j] * x[i];
  y[j] = sum;
}

static void run(int n, const double *a, const double *x, double *y) {
  double *da = on_device(a, (size_t)n * n), *dx = on_device(x, n), *dy = on_device(y, n);
  columns<<<(n + 127) / 128, 128>>>(n, da, dx, dy);
  to_host(y, dy, n);
  cudaFree(da), cudaFree(dx);
}
#include "tmv.c"
