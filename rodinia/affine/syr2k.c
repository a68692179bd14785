// The products of a matrix and the transpose of another, both ways, added to a third: C = alpha A B' + alpha B A' + beta C.
#ifndef TOLERANCE
#define TOLERANCE 0
#endif
#include "affine.h"

KERNEL((int n, double alpha, double beta, const double *restrict a, const double *restrict b, double *restrict c), {
  PARALLEL
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      c[i * n + j] *= beta;
  PARALLEL
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) {
        c[i * n + j] += alpha * a[i * n + k] * b[j * n + k];
        c[i * n + j] += alpha * b[i * n + k] * a[j * n + k];
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
