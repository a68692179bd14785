// n-body: the forces of all bodies on each.
#ifndef TOLERANCE
#define TOLERANCE 1e-12
#endif
#include "affine.h"

KERNEL((int n, const double *restrict x, const double *restrict y, const double *restrict m, double *restrict fx, double *restrict fy), {
  PARALLEL
  for (int i = 0; i < n; i++) {
    double sx = 0;
    double sy = 0;
    for (int j = 0; j < n; j++) {
      double dx = x[j] - x[i];
      double dy = y[j] - y[i];
      double square = dx * dx + dy * dy + 0.01;
      double force = m[j] / (square * sqrt(square));
      sx += force * dx;
      sy += force * dy;
    }
    fx[i] = sx;
    fy[i] = sy;
  }
})

int main(int argc, char **argv) {
  int n = argument(argc, argv, 8000);
  double *x = numbers(n + 99, 1);
  double *y = numbers(n + 99, 2);
  double *m = numbers(n + 99, 3);
  double *fx = numbers(n + 99, 4);
  double *fy = numbers(n + 99, 5);
  double wanted[2][99];
  run(99, x, y, m, fx, fy);
  reference(99, x, y, m, wanted[0], wanted[1]);
  int failed = check(fx, wanted[0], 99) | check(fy, wanted[1], 99);
  double start = now();
  run(n, x, y, m, fx, fy);
  printf("time %.6f s\n", now() - start);
  return failed;
}
