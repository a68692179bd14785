// The sum of two matrices times a vector: y = alpha A x + beta B x.
#ifndef TOLERANCE
#define TOLERANCE 1e-9
#endif
#include "affine.h"

KERNEL((int n, double alpha, double beta, const double *restrict a, const double *restrict b, const double *restrict x, double *restrict ax,
        double *restrict y), {
  PARALLEL
  for (int i = 0; i < n; i++) {
    ax[i] = 0;
    y[i] = 0;
    for (int j = 0; j < n; j++) {
      ax[i] += a[i * n + j] * x[j];
      y[i] += b[i * n + j] * x[j];
    }
    y[i] = alpha * ax[i] + beta * y[i];
  }
})

int main(int argc, char **argv) {
  int n = argument(argc, argv, 8192);
  double *a = numbers((size_t)n * n + 83 * 83, 1);
  double *b = numbers((size_t)n * n + 83 * 83, 2);
  double *x = numbers(n + 83, 3);
  double *ax = numbers(n + 83, 4);
  double *y = numbers(n + 83, 5);
  double wanted[2][83];
  run(83, 1.5, 1.2, a, b, x, ax, y);
  reference(83, 1.5, 1.2, a, b, x, wanted[0], wanted[1]);
  int failed = check(y, wanted[1], 83);
  double start = now();
  run(n, 1.5, 1.2, a, b, x, ax, y);
  printf("time %.6f s\n", now() - start);
  return failed;
}
