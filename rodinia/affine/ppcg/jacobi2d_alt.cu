// Jacobi's iteration along each row of a plane as PPCG maps it: 32 rows in a block, a row in a thread, with tiles of steps and columns.
#define TOLERANCE 1e-12
#define HAS_RUN
#include "../affine.h"

enum { TILE = 32 };
static __global__ void rows(int n, int steps, double factor, double *a, double *b) {
  int i = blockIdx.x * TILE + threadIdx.x;
  if (i < 1 || i >= n - 1)
    return;
  for (int tt = 0; tt < steps; tt += TILE)
    // A step begins two columns behind the one before, so that what it reads is made.
    for (int tj = 2 * tt; tj < n + 2 * (tt + TILE); tj += TILE)
      for (int t = tt; t < tt + TILE && t < steps; t++)
        for (int at = tj; at < tj + TILE; at++) {
          int j = at - 2 * t;
          if (j >= 1 && j < n - 1)
            b[i * n + j] = factor * (a[i * n + j] + a[i * n + j - 1] + a[i * n + j + 1]);
          if (j >= 2 && j < n)
            a[i * n + j - 1] = b[i * n + j - 1];
        }
}

static void run(int n, int steps, double factor, double *a, double *b) {
  double *da = on_device(a, (size_t)n * n), *db = on_device(b, (size_t)n * n);
  rows<<<(n + TILE - 1) / TILE, TILE>>>(n, steps, factor, da, db);
  to_host(a, da, (size_t)n * n), to_host(b, db, (size_t)n * n);
}
#include "../jacobi2d_alt.c"
