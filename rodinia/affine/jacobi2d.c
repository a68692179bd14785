// Jacobi's iteration on a plane, between two arrays.
#ifndef TOLERANCE
#define TOLERANCE 0
#endif
#include "affine.h"

KERNEL((int n, int steps, double *restrict a, double *restrict b), {
  for (int t = 0; t < steps; t++) {
  PARALLEL
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        b[i * n + j] = 0.2 * (a[i * n + j] + a[i * n + j - 1] + a[i * n + j + 1] + a[(i + 1) * n + j] + a[(i - 1) * n + j]);
  PARALLEL
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[i * n + j] = 0.2 * (b[i * n + j] + b[i * n + j - 1] + b[i * n + j + 1] + b[(i + 1) * n + j] + b[(i - 1) * n + j]);
  }
})

int main(int argc, char **argv) {
  int n = argument(argc, argv, 2000);
  double *a = numbers((size_t)n * n, 1);
  double *b = numbers((size_t)n * n, 2);
  double *wanted = numbers(67 * 67, 1);
  double *other = numbers(67 * 67, 2);
  run(67, 5, a, b);
  reference(67, 5, wanted, other);
  int failed = check(a, wanted, 67 * 67);
  double start = now();
  run(n, 20, a, b);
  printf("time %.6f s\n", now() - start);
  return failed;
}
