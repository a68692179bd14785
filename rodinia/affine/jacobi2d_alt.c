// Jacobi's iteration along each row of a plane, by way of another plane: rows have nothing to do with one another.
#ifndef TOLERANCE
#define TOLERANCE 0
#endif
#include "affine.h"

KERNEL((int n, int steps, double factor, double *restrict a, double *restrict b), {
  for (int t = 0; t < steps; t++) {
    PARALLEL
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        b[i * n + j] = factor * (a[i * n + j] + a[i * n + j - 1] + a[i * n + j + 1]);
    PARALLEL
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[i * n + j] = b[i * n + j];
  }
})

int main(int argc, char **argv) {
  int n = argument(argc, argv, 2000);
  double *a = numbers((size_t)n * n + 67 * 67, 1);
  double *b = numbers((size_t)n * n + 67 * 67, 2);
  double *wanted = numbers(67 * 67, 1);
  double *other = numbers(67 * 67, 2);
  run(67, 35, 0.33, a, b);
  reference(67, 35, 0.33, wanted, other);
  int failed = check(a, wanted, 67 * 67) | check(b, other, 67 * 67);
  double start = now();
  run(n, 40, 0.33, a, b);
  printf("time %.6f s\n", now() - start);
  return failed;
}
