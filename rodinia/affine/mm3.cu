// Three products of matrices, each by tiles in shared memory.
#define TOLERANCE 1e-12
#define HAS_RUN
#include "affine.h"
#include "products.cuh"

static __global__ void tiles(int n, const double *a, const double *b, double *c) {
  int j = blockIdx.x * TILE + threadIdx.x, i = blockIdx.y * TILE + threadIdx.y;
  double sum = product(n, a, b, i, j);
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
