// Heat along a rod whose conductance depends on it, in place.
#ifndef TOLERANCE
#define TOLERANCE 0
#endif
#include "../affine.h"

KERNEL((int n, int steps, double *restrict a), {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 2; i++)
      a[i] = (a[i - 1] + a[i] + a[i + 1] + a[i + 2]) / (3.5 + a[i] * a[i]);
})

int main(int argc, char **argv) {
  int n = argument(argc, argv, 30000);
  double *a = numbers(n + 301, 1);
  double *wanted = numbers(301, 1);
  run(301, 19, a);
  reference(301, 19, wanted);
  int failed = check(a, wanted, 301);
  double start = now();
  run(n, 100, a);
  printf("time %.6f s\n", now() - start);
  return failed;
}
