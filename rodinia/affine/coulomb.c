// Coulombic potential: that of charged atoms at the points of a plane.
#ifndef TOLERANCE
#define TOLERANCE 1e-12
#endif
#include "affine.h"

KERNEL((int n, int atoms, const double *restrict x, const double *restrict y, const double *restrict z, const double *restrict charge,
        double *restrict out), {
  PARALLEL
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int a = 0; a < atoms; a++) {
        double dx = 0.1 * j - x[a];
        double dy = 0.1 * i - y[a];
        sum += charge[a] / sqrt(dx * dx + dy * dy + z[a]);
      }
      out[i * n + j] = sum;
    }
})

int main(int argc, char **argv) {
  int n = argument(argc, argv, 512);
  enum { ATOMS = 400 };
  double *x = numbers(ATOMS, 1);
  double *y = numbers(ATOMS, 2);
  double *z = numbers(ATOMS, 3);
  double *charge = numbers(ATOMS, 4);
  double *out = numbers((size_t)n * n, 5);
  double *wanted = numbers(37 * 37, 5);
  run(37, ATOMS, x, y, z, charge, out);
  reference(37, ATOMS, x, y, z, charge, wanted);
  int failed = check(out, wanted, 37 * 37);
  double start = now();
  run(n, ATOMS, x, y, z, charge, out);
  printf("time %.6f s\n", now() - start);
  return failed;
}
