// The distance of two texts: each number of a table waits for three neighbours before it.
#ifndef TOLERANCE
#define TOLERANCE 0
#endif
#include "../affine.h"

KERNEL((int n, int rows, double *restrict a, const double *restrict x, const double *restrict y), {
  for (int i = 1; i < rows; i++)
    for (int j = 1; j < n; j++) {
      double least = a[(i - 1) * n + j] < a[i * n + j - 1] ? a[(i - 1) * n + j] : a[i * n + j - 1];
      double both = a[(i - 1) * n + j - 1] + (x[i] < y[j] ? 1.0 : 0.0);
      a[i * n + j] = least + 1 < both ? least + 1 : both;
    }
})

int main(int argc, char **argv) {
  int n = argument(argc, argv, 3000);
  double *a = numbers((size_t)n * 3000 + 301 * 300, 1), *x = numbers(3000, 2), *y = numbers(n + 301, 3);
  double *wanted = numbers(301 * 300, 1);
  run(301, 300, a, x, y);
  reference(301, 300, wanted, x, y);
  int failed = check(a, wanted, 301 * 300);
  double start = now();
  run(n, 3000, a, x, y);
  printf("time %.6f s\n", now() - start);
  return failed;
}
