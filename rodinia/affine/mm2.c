// Two products of matrices, one after the other: D = alpha A B C + beta D.
#ifndef TOLERANCE
#define TOLERANCE 0
#endif
#include "affine.h"

KERNEL((int n, double alpha, double beta, const double *restrict a, const double *restrict b, const double *restrict c, double *restrict ab,
        double *restrict d), {
  PARALLEL
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      ab[i * n + j] = 0;
      for (int k = 0; k < n; k++)
        ab[i * n + j] += alpha * a[i * n + k] * b[k * n + j];
    }
  PARALLEL
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      d[i * n + j] *= beta;
      for (int k = 0; k < n; k++)
        d[i * n + j] += ab[i * n + k] * c[k * n + j];
    }
})

int main(int argc, char **argv) {
  int n = argument(argc, argv, 512);
  size_t all = (size_t)n * n + 45 * 45;
  double *a = numbers(all, 1);
  double *b = numbers(all, 2);
  double *c = numbers(all, 3);
  double *ab = numbers(all, 4);
  double *d = numbers(all, 5);
  double *other = numbers(45 * 45, 4);
  double *wanted = numbers(45 * 45, 5);
  run(45, 1.5, 1.2, a, b, c, ab, d);
  reference(45, 1.5, 1.2, a, b, c, other, wanted);
  int failed = check(d, wanted, 45 * 45);
  double start = now();
  run(n, 1.5, 1.2, a, b, c, ab, d);
  printf("time %.6f s\n", now() - start);
  return failed;
}
