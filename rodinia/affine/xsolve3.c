// Systems of five diagonals along i, substituted backward: of the shape of the third loops of SP's x_solve, not the benchmark's.
#ifndef TOLERANCE
#define TOLERANCE 0
#endif
#include "affine.h"

// Component c at row i of the line (k, j).
#define AT(of, c, i) of[(((c) * n + k) * m + (i)) * m + j]

KERNEL((int n, int m, const double *restrict lhs, const double *restrict plus, const double *restrict minus, double *restrict rhs), {
  PARALLEL
  for (int k = 0; k < n; k++)
    for (int j = 0; j < m; j++) {
      for (int c = 0; c < 3; c++)
        AT(rhs, c, m - 2) -= AT(lhs, 3, m - 2) * AT(rhs, c, m - 1);
      AT(rhs, 3, m - 2) -= AT(plus, 3, m - 2) * AT(rhs, 3, m - 1);
      AT(rhs, 4, m - 2) -= AT(minus, 3, m - 2) * AT(rhs, 4, m - 1);
      for (int i = m - 3; i >= 0; i--) {
        for (int c = 0; c < 3; c++)
          AT(rhs, c, i) -= AT(lhs, 3, i) * AT(rhs, c, i + 1) + AT(lhs, 4, i) * AT(rhs, c, i + 2);
        AT(rhs, 3, i) -= AT(plus, 3, i) * AT(rhs, 3, i + 1) + AT(plus, 4, i) * AT(rhs, 3, i + 2);
        AT(rhs, 4, i) -= AT(minus, 3, i) * AT(rhs, 4, i + 1) + AT(minus, 4, i) * AT(rhs, 4, i + 2);
      }
    }
})

int main(int argc, char **argv) {
  int m = argument(argc, argv, 160);
  size_t all = 5 * ((size_t)m * m * (m - 1) + 19 * 19 * 18);
  double *lhs[3] = {numbers(all, 1), numbers(all, 2), numbers(all, 3)};
  for (int k = 0; k < 3; k++)
    for (size_t i = 0; i < all; i++)
      lhs[k][i] *= 0.2;
  double *rhs = numbers(all, 4);
  double *wanted = numbers(5 * 19 * 19 * 18, 4);
  run(18, 19, lhs[0], lhs[1], lhs[2], rhs);
  reference(18, 19, lhs[0], lhs[1], lhs[2], wanted);
  int failed = check(rhs, wanted, 5 * 19 * 19 * 18);
  double start = now();
  run(m - 1, m, lhs[0], lhs[1], lhs[2], rhs);
  printf("time %.6f s\n", now() - start);
  return failed;
}
