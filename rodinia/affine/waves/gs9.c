// Gauss-Seidel relaxation of a plane with nine points.
#ifndef TOLERANCE
#define TOLERANCE 0
#endif
#include "../affine.h"

KERNEL((int n, int steps, double *restrict a), {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[i * n + j] = 0.1 * (a[(i - 1) * n + j - 1] + a[(i - 1) * n + j] + a[(i - 1) * n + j + 1] + a[i * n + j - 1] + 2 * a[i * n + j] +
                              a[i * n + j + 1] + a[(i + 1) * n + j - 1] + a[(i + 1) * n + j] + a[(i + 1) * n + j + 1]);
})

int main(int argc, char **argv) {
  int n = argument(argc, argv, 1200);
  double *a = numbers((size_t)n * n + 53 * 53, 1);
  double *wanted = numbers(53 * 53, 1);
  run(53, 6, a);
  reference(53, 6, wanted);
  int failed = check(a, wanted, 53 * 53);
  double start = now();
  run(n, 12, a);
  printf("time %.6f s\n", now() - start);
  return failed;
}
