// A matrix times a vector, and its transpose times another: sums of rows by warps, of columns by blocks.
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

static void run(int n, const double *a, const double *p, const double *r, double *q, double *s) {
  double *da = on_device(a, (size_t)n * n), *dp = on_device(p, n), *dr = on_device(r, n), *dq = on_device(q, n), *ds = on_device(s, n);
  rows<<<(n + 7) / 8, dim3(32, 8)>>>(n, da, dp, dq);
  columns<<<(n + 31) / 32, dim3(32, 16)>>>(n, da, dr, ds);
  to_host(q, dq, n), to_host(s, ds, n);
  cudaFree(da), cudaFree(dp), cudaFree(dr);
}
#include "bicg.c"
