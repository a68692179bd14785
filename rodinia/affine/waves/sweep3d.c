// A sweep through a cube, where each number waits for three neighbours.
#ifndef TOLERANCE
#define TOLERANCE 0
#endif
#include "../affine.h"

KERNEL((int n, int planes, double *restrict a, const double *restrict b), {
  for (int i = 1; i < planes; i++)
    for (int j = 1; j < n; j++)
      for (int k = 1; k < n; k++)
        a[(i * n + j) * n + k] = 0.3 * (a[((i - 1) * n + j) * n + k] + a[(i * n + j - 1) * n + k] + a[(i * n + j) * n + k - 1]) +
                                 b[(i * n + j) * n + k];
})

int main(int argc, char **argv) {
  int n = argument(argc, argv, 200);
  double *a = numbers((size_t)n * n * 200 + 17 * 17 * 17, 1), *b = numbers((size_t)n * n * 200 + 17 * 17 * 17, 2);
  double *wanted = numbers(17 * 17 * 17, 1);
  run(17, 17, a, b);
  reference(17, 17, wanted, b);
  int failed = check(a, wanted, 17 * 17 * 17);
  double start = now();
  run(n, 200, a, b);
  printf("time %.6f s\n", now() - start);
  return failed;
}
