// Three products of matrices, each by tiles in shared memory.
#define TOLERANCE 1e-12
#define HAS_RUN
#include "affine.h"

enum { TILE = 16 };
static __global__ void tiles(int n, const double *a, const double *b, double *c) {
  __shared__ double ta[TILE][TILE], tb[TILE][TILE];
  int x = threadIdx.x, y = threadIdx.y, j = blockIdx.x * TILE + x, i = blockIdx.y * TILE + y;
  double sum = 0;
  for (int k = 0; k < n; k += TILE) {
    ta[y][x] = i < n && k + x < n ? a[i * n + k + x] : 0;
    tb[y][x] = k + y < n && j < n ? b[(k + y) * n + j] : 0;
    __syncthreads();
    for (int l = 0; l < TILE; l++)
      sum += ta[y][l] * tb[l][x];
    __syncthreads();
  }
  if (i < n && j < n)
    c[i * n + j] = sum;
}

static void run(int n, const double *a, const double *b, const double *c, const double *d, double *ab, double *cd, double *all) {
  size_t size = (size_t)n * n;
  double *da = on_device(a, size), *db = on_device(b, size), *dc = on_device(c, size), *dd = on_device(d, size);
  double *dab = on_device(ab, size), *dcd = on_device(cd, size), *dall = on_device(all, size);
  dim3 grid((n + TILE - 1) / TILE, (n + TILE - 1) / TILE), block(TILE, TILE);
  tiles<<<grid, block>>>(n, da, db, dab);
  tiles<<<grid, block>>>(n, dc, dd, dcd);
  tiles<<<grid, block>>>(n, dab, dcd, dall);
  to_host(ab, dab, size), to_host(cd, dcd, size), to_host(all, dall, size);
  cudaFree(da), cudaFree(db), cudaFree(dc), cudaFree(dd);
}
#include "mm3.c"
