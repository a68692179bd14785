// Products of vectors added to a matrix; then sums of its columns by blocks and of its rows by warps.
#define TOLERANCE 1e-9
#define HAS_RUN
#include "affine.h"
#include "sums.cuh"

static __global__ void outer(int n, double *a, const double *u, const double *v, const double *p, const double *q) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n && j < n)
    a[i * n + j] += u[i] * v[j] + p[i] * q[j];
}

static __global__ void columns(int n, double beta, const double *a, const double *y, const double *z, double *x) {
  int j = blockIdx.x * 32 + threadIdx.x;
  double sum = column_sum(n, a, y, j);
  if (j < n && threadIdx.y == 0)
    x[j] += beta * sum + z[j];
}

static __global__ void rows(int n, double alpha, const double *a, const double *x, double *w) {
  int i = blockIdx.x * blockDim.y + threadIdx.y;
  double sum = row_sum(n, a, x, i);
  if (i < n && threadIdx.x == 0)
    w[i] += alpha * sum;
}

static void run(int n, double alpha, double beta, double *a, const double *u, const double *v, const double *p, const double *q,
                const double *y, const double *z, double *x, double *w) {
  size_t all = (size_t)n * n;
  double *da = on_device(a, all), *du = on_device(u, n), *dv = on_device(v, n), *dp = on_device(p, n), *dq = on_device(q, n);
  double *dy = on_device(y, n), *dz = on_device(z, n), *dx = on_device(x, n), *dw = on_device(w, n);
  outer<<<dim3((n + 31) / 32, (n + 7) / 8), dim3(32, 8)>>>(n, da, du, dv, dp, dq);
  columns<<<(n + 31) / 32, dim3(32, 16)>>>(n, beta, da, dy, dz, dx);
  rows<<<(n + 7) / 8, dim3(32, 8)>>>(n, alpha, da, dx, dw);
  to_host(a, da, all), to_host(x, dx, n), to_host(w, dw, n);
  cudaFree(du), cudaFree(dv), cudaFree(dp), cudaFree(dq), cudaFree(dy), cudaFree(dz);
}
#include "gemver.c"
