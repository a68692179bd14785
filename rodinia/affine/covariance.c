// The covariances of the columns of a matrix, of which their means are taken first.
#ifndef TOLERANCE
#define TOLERANCE 0
#endif
#include "affine.h"

KERNEL((int n, double *restrict data, double *restrict mean, double *restrict out), {
  PARALLEL
  for (int j = 0; j < n; j++) {
    mean[j] = 0;
    for (int i = 0; i < n; i++)
      mean[j] += data[i * n + j];
    mean[j] /= n;
  }
  PARALLEL
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      data[i * n + j] -= mean[j];
  PARALLEL
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++) {
      out[i * n + j] = 0;
      for (int k = 0; k < n; k++)
        out[i * n + j] += data[k * n + i] * data[k * n + j];
      out[j * n + i] = out[i * n + j];
    }
})

int main(int argc, char **argv) {
  int n = argument(argc, argv, 640);
  size_t all = (size_t)n * n + 45 * 45;
  double *data = numbers(all, 1);
  double *mean = numbers(n + 45, 2);
  double *out = numbers(all, 3);
  double *same = numbers(45 * 45, 1);
  double *other = numbers(45, 2);
  double *wanted = numbers(45 * 45, 3);
  run(45, data, mean, out);
  reference(45, same, other, wanted);
  int failed = check(out, wanted, 45 * 45);
  double start = now();
  run(n, data, mean, out);
  printf("time %.6f s\n", now() - start);
  return failed;
}
