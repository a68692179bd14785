// Distances through a plane by sweeps: each number is at most what its nearest neighbours in both directions and the cost of its place say.
#ifndef TOLERANCE
#define TOLERANCE 0
#endif
#include "../affine.h"

KERNEL((int n, int steps, double *restrict a, const double *restrict b), {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        double down = a[(i - 1) * n + j] < a[(i + 1) * n + j] ? a[(i - 1) * n + j] : a[(i + 1) * n + j];
        double across = a[i * n + j - 1] < a[i * n + j + 1] ? a[i * n + j - 1] : a[i * n + j + 1];
        double through = 0.5 * (down + across) + b[i * n + j];
        a[i * n + j] = through < a[i * n + j] ? through : a[i * n + j];
      }
})

int main(int argc, char **argv) {
  int n = argument(argc, argv, 1000);
  double *a = numbers((size_t)n * n + 53 * 53, 1), *b = numbers((size_t)n * n + 53 * 53, 2);
  double *wanted = numbers(53 * 53, 1);
  run(53, 6, a, b);
  reference(53, 6, wanted, b);
  int failed = check(a, wanted, 53 * 53);
  double start = now();
  run(n, 16, a, b);
  printf("time %.6f s\n", now() - start);
  return failed;
}
