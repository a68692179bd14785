// Gauss-Seidel relaxation of a cube.
#ifndef TOLERANCE
#define TOLERANCE 0
#endif
#include "affine.h"

KERNEL((int n, int steps, double *restrict a), {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          a[(i * n + j) * n + k] = 0.14 * (a[(i * n + j) * n + k] + a[(i * n + j) * n + k - 1] + a[(i * n + j) * n + k + 1] +
                                           a[(i * n + j - 1) * n + k] + a[(i * n + j + 1) * n + k] +
                                           a[((i - 1) * n + j) * n + k] + a[((i + 1) * n + j) * n + k]);
})

int main(int argc, char **argv) {
  int n = argument(argc, argv, 150);
  double *a = numbers((size_t)n * n * n + 17 * 17 * 17, 1);
  double *wanted = numbers(17 * 17 * 17, 1);
  run(17, 4, a);
  reference(17, 4, wanted);
  int failed = check(a, wanted, 17 * 17 * 17);
  double start = now();
  run(n, 8, a);
  printf("time %.6f s\n", now() - start);
  return failed;
}
