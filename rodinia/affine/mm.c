// The product of two matrices.
#ifndef TOLERANCE
#define TOLERANCE 0
#endif
#include "affine.h"

KERNEL((int n, const double *restrict a, const double *restrict b, double *restrict c), {
  PARALLEL
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++)
        sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
})

int main(int argc, char **argv) {
  int n = argument(argc, argv, 768);
  size_t all = (size_t)n * n + 45 * 45;
  double *a = numbers(all, 1);
  double *b = numbers(all, 2);
  double *c = numbers(all, 3);
  double wanted[45 * 45];
  run(45, a, b, c);
  reference(45, a, b, wanted);
  int failed = check(c, wanted, 45 * 45);
  double start = now();
  run(n, a, b, c);
  printf("time %.6f s\n", now() - start);
  return failed;
}
