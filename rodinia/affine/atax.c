// A matrix times a vector, and its transpose times that: y = A' (A x), both row by row.
#ifndef TOLERANCE
#define TOLERANCE 1e-9
#endif
#include "affine.h"

KERNEL((int n, const double *restrict a, const double *restrict x, double *restrict ax, double *restrict y), {
  for (int j = 0; j < n; j++)
    y[j] = 0;
  _Pragma("omp parallel for reduction(+ : y[:n])")
  for (int i = 0; i < n; i++) {
    ax[i] = 0;
    for (int j = 0; j < n; j++)
      ax[i] += a[i * n + j] * x[j];
    for (int j = 0; j < n; j++)
      y[j] += a[i * n + j] * ax[i];
  }
})

int main(int argc, char **argv) {
  int n = argument(argc, argv, 10000);
  double *a = numbers((size_t)n * n + 83 * 83, 1);
  double *x = numbers(n + 83, 2);
  double *ax = numbers(n + 83, 3);
  double *y = numbers(n + 83, 4);
  double wanted[2][83];
  run(83, a, x, ax, y);
  reference(83, a, x, wanted[0], wanted[1]);
  int failed = check(y, wanted[1], 83);
  double start = now();
  run(n, a, x, ax, y);
  printf("time %.6f s\n", now() - start);
  return failed;
}
