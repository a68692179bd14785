// A matrix times a vector, and its transpose times another, row by row: q = A p, s = A' r.
#ifndef TOLERANCE
#define TOLERANCE 1e-9
#endif
#include "affine.h"

KERNEL((int n, const double *restrict a, const double *restrict p, const double *restrict r, double *restrict q, double *restrict s), {
  for (int j = 0; j < n; j++)
    s[j] = 0;
  _Pragma("omp parallel for reduction(+ : s[:n])")
  for (int i = 0; i < n; i++) {
    q[i] = 0;
    for (int j = 0; j < n; j++) {
      s[j] += r[i] * a[i * n + j];
      q[i] += a[i * n + j] * p[j];
    }
  }
})

int main(int argc, char **argv) {
  int n = argument(argc, argv, 10000);
  double *a = numbers((size_t)n * n + 83 * 83, 1);
  double *p = numbers(n + 83, 2);
  double *r = numbers(n + 83, 3);
  double *q = numbers(n + 83, 4);
  double *s = numbers(n + 83, 5);
  double wanted[2][83];
  run(83, a, p, r, q, s);
  reference(83, a, p, r, wanted[0], wanted[1]);
  int failed = check(q, wanted[0], 83) | check(s, wanted[1], 83);
  double start = now();
  run(n, a, p, r, q, s);
  printf("time %.6f s\n", now() - start);
  return failed;
}
