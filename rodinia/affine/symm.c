// The product of a symmetric matrix and another, added to a third: rows above j - 1 of column j are added to as they are read.
#ifndef TOLERANCE
#define TOLERANCE 0
#endif
#include "affine.h"

KERNEL((int n, double alpha, double beta, const double *restrict a, const double *restrict b, double *restrict c), {
  for (int i = 0; i < n; i++) {
    PARALLEL
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < j - 1; k++) {
        c[k * n + j] += alpha * a[k * n + i] * b[i * n + j];
        sum += b[k * n + j] * a[k * n + i];
      }
      c[i * n + j] = beta * c[i * n + j] + alpha * a[i * n + i] * b[i * n + j] + alpha * sum;
    }
  }
})

int main(int argc, char **argv) {
  int n = argument(argc, argv, 512);
  size_t all = (size_t)n * n + 45 * 45;
  double *a = numbers(all, 1);
  double *b = numbers(all, 2);
  double *c = numbers(all, 3);
  double *wanted = numbers(45 * 45, 3);
  run(45, 1.5, 1.2, a, b, c);
  reference(45, 1.5, 1.2, a, b, wanted);
  int failed = check(c, wanted, 45 * 45);
  double start = now();
  run(n, 1.5, 1.2, a, b, c);
  printf("time %.6f s\n", now() - start);
  return failed;
}
