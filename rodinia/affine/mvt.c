// A matrix times a vector and its transpose times another, each added to a vector.
#ifndef TOLERANCE
#define TOLERANCE 1e-9
#endif
#include "affine.h"

KERNEL((int n, const double *restrict a, const double *restrict y, const double *restrict z, double *restrict u, double *restrict v), {
  PARALLEL
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      u[i] += a[i * n + j] * y[j];
  PARALLEL
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      v[i] += a[j * n + i] * z[j];
})

int main(int argc, char **argv) {
  int n = argument(argc, argv, 4000);
  double *a = numbers((size_t)n * n + 83 * 83, 1);
  double *y = numbers(n + 83, 2);
  double *z = numbers(n + 83, 3);
  double *u = numbers(n + 83, 4);
  double *v = numbers(n + 83, 5);
  double *wanted[2] = {numbers(83, 4), numbers(83, 5)};
  run(83, a, y, z, u, v);
  reference(83, a, y, z, wanted[0], wanted[1]);
  int failed = check(u, wanted[0], 83) | check(v, wanted[1], 83);
  double start = now();
  run(n, a, y, z, u, v);
  printf("time %.6f s\n", now() - start);
  return failed;
}
