// The product of two matrices, added to a third: C = alpha A B + beta C.
#ifndef TOLERANCE
#define TOLERANCE 0
#endif
#include "affine.h"

KERNEL((int n, double alpha, double beta, const double *restrict a, const double *restrict b, double *restrict c), {
  PARALLEL
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      c[i * n + j] *= beta;
      for (int k = 0; k < n; k++)
        c[i * n + j] += alpha * a[i * n + k] * b[k * n + j];
    }
})

int main(int argc, char **argv) {
  int n = argument(argc, argv, 640);
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
