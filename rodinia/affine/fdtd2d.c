// Finite differences of an electromagnetic field on a plane.
#ifndef TOLERANCE
#define TOLERANCE 0
#endif
#include "affine.h"

KERNEL((int n, int steps, double *restrict ex, double *restrict ey, double *restrict hz, const double *restrict source), {
  for (int t = 0; t < steps; t++) {
    for (int j = 0; j < n; j++)
      ey[j] = source[t];
    PARALLEL
    for (int i = 1; i < n; i++)
      for (int j = 0; j < n; j++)
        ey[i * n + j] -= 0.5 * (hz[i * n + j] - hz[(i - 1) * n + j]);
    PARALLEL
    for (int i = 0; i < n; i++)
      for (int j = 1; j < n; j++)
        ex[i * n + j] -= 0.5 * (hz[i * n + j] - hz[i * n + j - 1]);
    PARALLEL
    for (int i = 0; i < n - 1; i++)
      for (int j = 0; j < n - 1; j++)
        hz[i * n + j] -= 0.7 * (ex[i * n + j + 1] - ex[i * n + j] + ey[(i + 1) * n + j] - ey[i * n + j]);
  }
})

int main(int argc, char **argv) {
  int n = argument(argc, argv, 1500);
  size_t all = (size_t)n * n + 61 * 61;
  double *ex = numbers(all, 1);
  double *ey = numbers(all, 2);
  double *hz = numbers(all, 3);
  double *source = numbers(64, 4);
  double *ux = numbers(61 * 61, 1);
  double *uy = numbers(61 * 61, 2);
  double *wanted = numbers(61 * 61, 3);
  run(61, 7, ex, ey, hz, source);
  reference(61, 7, ux, uy, wanted, source);
  int failed = check(hz, wanted, 61 * 61);
  double start = now();
  run(n, 20, ex, ey, hz, source);
  printf("time %.6f s\n", now() - start);
  return failed;
}
