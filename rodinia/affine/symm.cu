// A product with a symmetric matrix by tiles: what other rows add to one before its turn and after it, and what it takes from them.
#define TOLERANCE 1e-12
#define HAS_RUN
#include "affine.h"

enum { TILE = 16 };
static __global__ void tiles(int n, double alpha, double beta, const double *a, const double *b, double *c) {
  __shared__ double across[TILE][TILE], along[TILE][TILE], tb[TILE][TILE];
  int x = threadIdx.x, y = threadIdx.y, first = blockIdx.y * TILE, j = blockIdx.x * TILE + x, i = first + y;
  double before = 0, after = 0, sum = 0;
  for (int k = 0; k < n; k += TILE) {
    across[y][x] = i < n && k + x < n ? a[i * n + k + x] : 0;
    along[y][x] = k + y < n && first + x < n ? a[(k + y) * n + first + x] : 0;
    tb[y][x] = k + y < n && j < n ? b[(k + y) * n + j] : 0;
    __syncthreads();
    for (int l = 0; l < TILE; l++) {
      before += k + l <= i ? across[y][l] * tb[l][x] : 0;
      after += k + l > i ? across[y][l] * tb[l][x] : 0;
      sum += k + l < j - 1 ? along[l][y] * tb[l][x] : 0;
    }
    __syncthreads();
  }
  if (i >= n || j >= n)
    return;
  // Rows up to the own one add to it before it is scaled, those behind it after, and none of them right of row j - 2.
  bool low = i < j - 1;
  double own = a[i * n + i] * b[i * n + j] + sum;
  c[i * n + j] = beta * (c[i * n + j] + (low ? alpha * before : 0)) + alpha * (own + (low ? after : 0));
}

static void run(int n, double alpha, double beta, const double *a, const double *b, double *c) {
  size_t all = (size_t)n * n;
  double *da = on_device(a, all), *db = on_device(b, all), *dc = on_device(c, all);
  tiles<<<dim3((n + TILE - 1) / TILE, (n + TILE - 1) / TILE), dim3(TILE, TILE)>>>(n, alpha, beta, da, db, dc);
  to_host(c, dc, all);
  cudaFree(da), cudaFree(db);
}
#include "symm.c"
