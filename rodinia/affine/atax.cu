// A matrix times a vector, and its transpose times that: sums of rows by warps, of columns by blocks.
#define TOLERANCE 1e-9
#define HAS_RUN
#include "affine.h"
#include "sums.cuh"

static __global__ void rows(int n, const double *a, const double *x, double *y) {
  int i = blockIdx.x * blockDim.y + threadIdx.y;
  double sum = row_sum(n, a, x, i);
  if (i < n && threadIdx.x == 0)
    y[i] = sum;
}

static __global__ void columns(int n, const double *a, const double *x, double *y) {
  int j = blockIdx.x * 32 + threadIdx.x;
  double sum = column_sum(n, a, x, j);
  if (j < n && threadIdx.y == 0)
    y[j] = sum;
}

static void run(int n, const double *a, const double *x, double *ax, double *y) {
  double *da = on_device(a, (size_t)n * n), *dx = on_device(x, n), *dax = on_device(ax, n), *dy = on_device(y, n);
  rows<<<(n + 7) / 8, dim3(32, 8)>>>(n, da, dx, dax);
  columns<<<(n + 31) / 32, dim3(32, 16)>>>(n, da, dax, dy);
  to_host(ax, dax, n), to_host(y, dy, n);
  cudaFree(da), cudaFree(dx);
}
#include "atax.c"
