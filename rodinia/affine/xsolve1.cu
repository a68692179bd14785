// Systems of five diagonals eliminated forward, a thread for each; what the next rows need stays in its registers.
#define TOLERANCE 1e-9
#define HAS_RUN
#include "affine.h"

static __global__ void lines(int n, int m, const double *u, const double *rho, double *lhs, double *rhs) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y * blockDim.y + threadIdx.y, cube = n * m * m;
  if (k >= n || j >= m)
    return;
  u += k * m * m + j, rho += k * m * m + j, lhs += k * m * m + j, rhs += k * m * m + j;
  // The upper diagonals and the right sides of the two rows before, eliminated: none at first.
  double d[2] = {0, 0}, e[2] = {0, 0}, r[2][3] = {};
  for (int i = 0; i < m; i++) {
    double row[5] = {0, 0, 1, 0, 0}, right[3];
    if (i > 0 && i < m - 1) {
      row[0] = row[4] = 0.01;
      row[1] = -0.2 * u[(i - 1) * m] - 0.1 * rho[(i - 1) * m] - 0.04;
      row[2] = 1.06 + 0.2 * rho[i * m];
      row[3] = 0.2 * u[(i + 1) * m] - 0.1 * rho[(i + 1) * m] - 0.04;
    }
    row[1] -= row[0] * d[1], row[2] -= row[0] * e[1];
    row[2] -= row[1] * d[0], row[3] -= row[1] * e[0];
    double factor = i < m - 2 ? 1 / row[2] : 1;
    for (int c = 0; c < 3; c++) {
      right[c] = (rhs[c * cube + i * m] - row[0] * r[1][c] - row[1] * r[0][c]) * factor;
      rhs[c * cube + i * m] = right[c], r[1][c] = r[0][c], r[0][c] = right[c];
    }
    row[3] *= factor, row[4] *= factor;
    d[1] = d[0], e[1] = e[0], d[0] = row[3], e[0] = row[4];
    for (int c = 0; c < 5; c++)
      lhs[c * cube + i * m] = row[c];
  }
}

static void run(int n, int m, const double *u, const double *rho, double *lhs, double *rhs) {
  size_t all = (size_t)n * m * m;
  double *du = on_device(u, all), *dr = on_device(rho, all), *dl = on_device(lhs, 5 * all), *drhs = on_device(rhs, 3 * all);
  lines<<<dim3((m + 31) / 32, (n + 3) / 4), dim3(32, 4)>>>(n, m, du, dr, dl, drhs);
  to_host(lhs, dl, 5 * all), to_host(rhs, drhs, 3 * all);
  cudaFree(du), cudaFree(dr);
}
#include "xsolve1.c"
