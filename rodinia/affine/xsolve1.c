// Systems of five diagonals along i, set up and eliminated forward: of the shape of the first loops of SP's x_solve, not the benchmark's.
#ifndef TOLERANCE
#define TOLERANCE 0
#endif
#include "affine.h"

// Component c at row i of the line (k, j).
#define AT(of, c, i) of[(((c) * n + k) * m + (i)) * m + j]

KERNEL((int n, int m, const double *restrict u, const double *restrict rho, double *restrict lhs, double *restrict rhs), {
  PARALLEL
  for (int k = 0; k < n; k++)
    for (int j = 0; j < m; j++) {
      for (int c = 0; c < 5; c++) {
        AT(lhs, c, 0) = 0;
        AT(lhs, c, m - 1) = 0;
      }
      AT(lhs, 2, 0) = 1;
      AT(lhs, 2, m - 1) = 1;
      for (int i = 1; i < m - 1; i++) {
        AT(lhs, 0, i) = 0.01;
        AT(lhs, 1, i) = -0.2 * AT(u, 0, i - 1) - 0.1 * AT(rho, 0, i - 1) - 0.04;
        AT(lhs, 2, i) = 1.06 + 0.2 * AT(rho, 0, i);
        AT(lhs, 3, i) = 0.2 * AT(u, 0, i + 1) - 0.1 * AT(rho, 0, i + 1) - 0.04;
        AT(lhs, 4, i) = 0.01;
      }
      for (int i = 0; i < m - 2; i++) {
        double factor = 1 / AT(lhs, 2, i);
        AT(lhs, 3, i) *= factor;
        AT(lhs, 4, i) *= factor;
        for (int c = 0; c < 3; c++)
          AT(rhs, c, i) *= factor;
        AT(lhs, 2, i + 1) -= AT(lhs, 1, i + 1) * AT(lhs, 3, i);
        AT(lhs, 3, i + 1) -= AT(lhs, 1, i + 1) * AT(lhs, 4, i);
        for (int c = 0; c < 3; c++)
          AT(rhs, c, i + 1) -= AT(lhs, 1, i + 1) * AT(rhs, c, i);
        AT(lhs, 1, i + 2) -= AT(lhs, 0, i + 2) * AT(lhs, 3, i);
        AT(lhs, 2, i + 2) -= AT(lhs, 0, i + 2) * AT(lhs, 4, i);
        for (int c = 0; c < 3; c++)
          AT(rhs, c, i + 2) -= AT(lhs, 0, i + 2) * AT(rhs, c, i);
      }
    }
})

int main(int argc, char **argv) {
  int m = argument(argc, argv, 128);
  size_t plane = (size_t)m * m * (m - 1) + 19 * 19 * 18;
  double *u = numbers(plane, 1);
  double *rho = numbers(plane, 2);
  double *lhs = numbers(5 * plane, 3);
  double *rhs = numbers(3 * plane, 4);
  double *wanted[2] = {numbers(5 * 19 * 19 * 18, 3), numbers(3 * 19 * 19 * 18, 4)};
  run(18, 19, u, rho, lhs, rhs);
  reference(18, 19, u, rho, wanted[0], wanted[1]);
  int failed = check(lhs, wanted[0], 5 * 19 * 19 * 18) | check(rhs, wanted[1], 3 * 19 * 19 * 18);
  double start = now();
  run(m - 1, m, u, rho, lhs, rhs);
  printf("time %.6f s\n", now() - start);
  return failed;
}
