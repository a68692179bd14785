// The products of a matrix and the transpose of another, both ways, by tiles in shared memory.
#define TOLERANCE 1e-12
#define HAS_RUN
#include "affine.h"

enum { TILE = 16 };
static __global__ void tiles(int n, double alpha, double beta, const double *a, const double *b, double *c) {
  __shared__ double ai[TILE][TILE], bi[TILE][TILE], aj[TILE][TILE + 1], bj[TILE][TILE + 1];
  int x = threadIdx.x, y = threadIdx.y, first = blockIdx.x * TILE, j = first + x, i = blockIdx.y * TILE + y;
  double sum = 0;
  for (int k = 0; k < n; k += TILE) {
    bool row = i < n && k + x < n, other = first + y < n && k + x < n;
    ai[y][x] = row ? a[i * n + k + x] : 0, bi[y][x] = row ? b[i * n + k + x] : 0;
    aj[y][x] = other ? a[(first + y) * n + k + x] : 0, bj[y][x] = other ? b[(first + y) * n + k + x] : 0;
    __syncthreads();
    for (int l = 0; l < TILE; l++)
      sum += ai[y][l] * bj[x][l] + bi[y][l] * aj[x][l];
    __syncthreads();
  }
  if (i < n && j < n)
    c[i * n + j] = beta * c[i * n + j] + alpha * sum;
}

static void run(int n, double alpha, double beta, const double *a, const double *b, double *c) {
  size_t all = (size_t)n * n;
  double *da = on_device(a, all), *db = on_device(b, all), *dc = on_device(c, all);
  tiles<<<dim3((n + TILE - 1) / TILE, (n + TILE - 1) / TILE), dim3(TILE, TILE)>>>(n, alpha, beta, da, db, dc);
  to_host(c, dc, all);
  cudaFree(da), cudaFree(db);
}
#include "syr2k.c"
