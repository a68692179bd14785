// Three products of matrices, the third of the two others: (A B) (C D).
#ifndef TOLERANCE
#define TOLERANCE 0
#endif
#include "affine.h"

KERNEL((int n, const double *restrict a, const double *restrict b, const double *restrict c, const double *restrict d, double *restrict ab,
        double *restrict cd, double *restrict all), {
  PARALLEL
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      ab[i * n + j] = 0;
      for (int k = 0; k < n; k++)
        ab[i * n + j] += a[i * n + k] * b[k * n + j];
    }
  PARALLEL
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      cd[i * n + j] = 0;
      for (int k = 0; k < n; k++)
        cd[i * n + j] += c[i * n + k] * d[k * n + j];
    }
  PARALLEL
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      all[i * n + j] = 0;
      for (int k = 0; k < n; k++)
        all[i * n + j] += ab[i * n + k] * cd[k * n + j];
    }
})

int main(int argc, char **argv) {
  int n = argument(argc, argv, 448);
  size_t size = (size_t)n * n + 45 * 45;
  double *in[4] = {numbers(size, 1), numbers(size, 2), numbers(size, 3), numbers(size, 4)};
  double *made[3] = {numbers(size, 5), numbers(size, 6), numbers(size, 7)};
  double *wanted[3] = {numbers(45 * 45, 5), numbers(45 * 45, 6), numbers(45 * 45, 7)};
  run(45, in[0], in[1], in[2], in[3], made[0], made[1], made[2]);
  reference(45, in[0], in[1], in[2], in[3], wanted[0], wanted[1], wanted[2]);
  int failed = check(made[2], wanted[2], 45 * 45);
  double start = now();
  run(n, in[0], in[1], in[2], in[3], made[0], made[1], made[2]);
  printf("time %.6f s\n", now() - start);
  return failed;
}
