// A matrix times a vector and its transpose times another: sums of rows by warps, of columns by blocks.
#define TOLERANCE 1e-9
#define HAS_RUN
#include "affine.h"

// A warp for each row.
static __global__ void rows(int n, const double *a, const double *x, double *y) {
  int i = blockIdx.x * blockDim.y + threadIdx.y;
  double sum = 0;
  for (int j = threadIdx.x; i < n && j < n; j += 32)
    sum += a[i * n + j] * x[j];
  for (int step = 16; step > 0; step /= 2)
    sum += __shfl_down_sync(~0u, sum, step);
  if (i < n && threadIdx.x == 0)
    y[i] += sum;
}

// A block for 32 columns; what its rows of threads have is added as a tree.
static __global__ void columns(int n, const double *a, const double *x, double *y) {
  __shared__ double part[16][32];
  int j = blockIdx.x * 32 + threadIdx.x, row = threadIdx.y;
  double sum = 0;
  for (int i = row; i < n && j < n; i += 16)
    sum += a[i * n + j] * x[i];
  part[row][threadIdx.x] = sum;
  for (int step = 8; step > 0; step /= 2) {
    __syncthreads();
    if (row < step)
      part[row][threadIdx.x] += part[row + step][threadIdx.x];
  }
  if (j < n && row == 0)
    y[j] += part[0][threadIdx.x];
}

static void run(int n, const double *a, const double *y, const double *z, double *u, double *v) {
  double *da = on_device(a, (size_t)n * n), *dy = on_device(y, n), *dz = on_device(z, n), *du = on_device(u, n), *dv = on_device(v, n);
  rows<<<(n + 7) / 8, dim3(32, 8)>>>(n, da, dy, du);
  columns<<<(n + 31) / 32, dim3(32, 16)>>>(n, da, dz, dv);
  to_host(u, du, n), to_host(v, dv, n);
  cudaFree(da), cudaFree(dy), cudaFree(dz);
}
#include "mvt.c"
