// Means of columns, what is left of them, and their products by tiles of one half that are written to both.
#define TOLERANCE 1e-9
#define HAS_RUN
#include "affine.h"

// A block for 32 columns; what its rows of threads have is added as a tree.
static __global__ void columns(int n, const double *data, double *mean) {
  __shared__ double part[16][32];
  int j = blockIdx.x * 32 + threadIdx.x, row = threadIdx.y;
  double sum = 0;
  for (int i = row; i < n && j < n; i += 16)
    sum += data[i * n + j];
  part[row][threadIdx.x] = sum;
  for (int step = 8; step > 0; step /= 2) {
    __syncthreads();
    if (row < step)
      part[row][threadIdx.x] += part[row + step][threadIdx.x];
  }
  if (j < n && row == 0)
    mean[j] = part[0][threadIdx.x] / n;
}

static __global__ void center(int n, double *data, const double *mean) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n && j < n)
    data[i * n + j] -= mean[j];
}

enum { TILE = 16 };
static __global__ void products(int n, const double *data, double *out) {
  __shared__ double ti[TILE][TILE + 1], tj[TILE][TILE];
  int x = threadIdx.x, y = threadIdx.y, first = blockIdx.y * TILE, j = blockIdx.x * TILE + x, i = first + y;
  if (blockIdx.x < blockIdx.y)
    return;
  double sum = 0;
  for (int k = 0; k < n; k += TILE) {
    ti[y][x] = k + y < n && first + x < n ? data[(k + y) * n + first + x] : 0;
    tj[y][x] = k + y < n && j < n ? data[(k + y) * n + j] : 0;
    __syncthreads();
    for (int l = 0; l < TILE; l++)
      sum += ti[l][y] * tj[l][x];
    __syncthreads();
  }
  if (i < n && j < n)
    out[i * n + j] = sum;
  ti[y][x] = sum;
  __syncthreads();
  int row = blockIdx.x * TILE + y;
  if (blockIdx.x > blockIdx.y && row < n && first + x < n)
    out[row * n + first + x] = ti[x][y];
}

static void run(int n, double *data, double *mean, double *out) {
  size_t all = (size_t)n * n;
  double *dd = on_device(data, all), *dm = on_device(mean, n), *dout = on_device(out, all);
  columns<<<(n + 31) / 32, dim3(32, 16)>>>(n, dd, dm);
  center<<<dim3((n + 31) / 32, (n + 7) / 8), dim3(32, 8)>>>(n, dd, dm);
  products<<<dim3((n + TILE - 1) / TILE, (n + TILE - 1) / TILE), dim3(TILE, TILE)>>>(n, dd, dout);
  to_host(data, dd, all), to_host(mean, dm, n), to_host(out, dout, all);
}
#include "covariance.c"
