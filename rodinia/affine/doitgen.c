// Each row of a cube times a matrix, in place, by way of another cube.
#ifndef TOLERANCE
#define TOLERANCE 0
#endif
#include "affine.h"

KERNEL((int n, double *restrict a, const double *restrict c, double *restrict sum), {
  PARALLEL
  for (int r = 0; r < n; r++)
    for (int q = 0; q < n; q++) {
      for (int p = 0; p < n; p++) {
        sum[(r * n + q) * n + p] = 0;
        for (int s = 0; s < n; s++)
          sum[(r * n + q) * n + p] += a[(r * n + q) * n + s] * c[s * n + p];
      }
      for (int p = 0; p < n; p++)
        a[(r * n + q) * n + p] = sum[(r * n + q) * n + p];
    }
})

int main(int argc, char **argv) {
  int n = argument(argc, argv, 128);
  size_t all = (size_t)n * n * n + 21 * 21 * 21;
  double *a = numbers(all, 1);
  double *c = numbers((size_t)n * n + 21 * 21, 2);
  double *sum = numbers(all, 3);
  double *wanted = numbers(21 * 21 * 21, 1);
  double *other = numbers(21 * 21 * 21, 3);
  run(21, a, c, sum);
  reference(21, wanted, c, other);
  int failed = check(a, wanted, 21 * 21 * 21) | check(sum, other, 21 * 21 * 21);
  double start = now();
  run(n, a, c, sum);
  printf("time %.6f s\n", now() - start);
  return failed;
}
