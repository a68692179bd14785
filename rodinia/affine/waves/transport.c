// Transport along a row, upwind: what flows into a place is the new state of the one before it.
#ifndef TOLERANCE
#define TOLERANCE 0
#endif
#include "../affine.h"

KERNEL((int n, int steps, double *restrict a, const double *restrict b), {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n; i++)
      a[i] = a[i] - 0.25 * b[i] * (0.5 * a[i] * a[i] - 0.5 * a[i - 1] * a[i - 1]);
})

int main(int argc, char **argv) {
  int n = argument(argc, argv, 50000);
  double *a = numbers((size_t)n + 301, 1), *b = numbers((size_t)n + 301, 2);
  double *wanted = numbers(301, 1);
  run(301, 40, a, b);
  reference(301, 40, wanted, b);
  int failed = check(a, wanted, 301);
  double start = now();
  run(n, 120, a, b);
  printf("time %.6f s\n", now() - start);
  return failed;
}
