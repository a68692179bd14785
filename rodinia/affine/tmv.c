// The product of a transposed matrix and a vector.
#ifndef TOLERANCE
#define TOLERANCE 0
#endif
#include "affine.h"

KERNEL((int n, const double *restrict a, const double *restrict x, double *restrict y), {
  PARALLEL
  for (int j = 0; j < n; j++) {
    double sum = 0;
    for (int i = 0; i < n; i++)
      sum += a[i * n + j] * x[i];
    y[j] = sum;
  }
})

int main(int argc, char **argv) {
  int n = argument(argc, argv, 4000);
  double *a = numbers((size_t)n * n + 83 * 83, 1);
  double *x = numbers(n + 83, 2);
  double *y = numbers(n + 83, 3);
  double wanted[83];
  run(83, a, x, y);
  reference(83, a, x, wanted);
  int failed = check(y, wanted, 83);
  double start = now();
  run(n, a, x, y);
  printf("time %.6f s\n", now() - start);
  return failed;
}
