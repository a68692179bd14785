// Two products of vectors added to a matrix, its transpose times a vector, and the matrix times that.
#ifndef TOLERANCE
#define TOLERANCE 1e-9
#endif
#include "affine.h"

KERNEL((int n, double alpha, double beta, double *restrict a, const double *restrict u, const double *restrict v, const double *restrict p,
        const double *restrict q, const double *restrict y, const double *restrict z, double *restrict x, double *restrict w), {
  PARALLEL
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i * n + j] += u[i] * v[j] + p[i] * q[j];
  PARALLEL
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      x[i] += beta * a[j * n + i] * y[j];
  PARALLEL
  for (int i = 0; i < n; i++)
    x[i] += z[i];
  PARALLEL
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      w[i] += alpha * a[i * n + j] * x[j];
})

int main(int argc, char **argv) {
  int n = argument(argc, argv, 4000);
  double *a = numbers((size_t)n * n + 83 * 83, 1);
  double *in[6];
  for (int k = 0; k < 6; k++)
    in[k] = numbers(n + 83, 2 + k);
  double *x = numbers(n + 83, 8);
  double *w = numbers(n + 83, 9);
  double *wanted[3] = {numbers(83 * 83, 1), numbers(83, 8), numbers(83, 9)};
  run(83, 1.5, 1.2, a, in[0], in[1], in[2], in[3], in[4], in[5], x, w);
  reference(83, 1.5, 1.2, wanted[0], in[0], in[1], in[2], in[3], in[4], in[5], wanted[1], wanted[2]);
  int failed = check(a, wanted[0], 83 * 83) | check(x, wanted[1], 83) | check(w, wanted[2], 83);
  double start = now();
  run(n, 1.5, 1.2, a, in[0], in[1], in[2], in[3], in[4], in[5], x, w);
  printf("time %.6f s\n", now() - start);
  return failed;
}
