// Systems of five diagonals substituted backward, a thread for each; the two rows behind stay in its registers.
#define TOLERANCE 1e-9
#define HAS_RUN
#include "affine.h"

static __global__ void lines(int n, int m, const double *lhs, const double *plus, const double *minus, double *rhs) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y * blockDim.y + threadIdx.y, cube = n * m * m;
  if (k >= n || j >= m)
    return;
  int line = k * m * m + j, d = 3 * cube + line, e = 4 * cube + line;
  rhs += line;
  double next[5], second[5] = {};
  for (int c = 0; c < 5; c++)
    next[c] = rhs[c * cube + (m - 1) * m];
  for (int i = m - 2; i >= 0; i--) {
    double one[3] = {lhs[d + i * m], plus[d + i * m], minus[d + i * m]}, two[3] = {0, 0, 0};
    if (i < m - 2)
      two[0] = lhs[e + i * m], two[1] = plus[e + i * m], two[2] = minus[e + i * m];
    for (int c = 0; c < 5; c++) {
      int of = c < 3 ? 0 : c - 2;
      double x = rhs[c * cube + i * m] - (one[of] * next[c] + two[of] * second[c]);
      rhs[c * cube + i * m] = x, second[c] = next[c], next[c] = x;
    }
  }
}

static void run(int n, int m, const double *lhs, const double *plus, const double *minus, double *rhs) {
  size_t all = 5 * (size_t)n * m * m;
  double *dl = on_device(lhs, all), *dp = on_device(plus, all), *dm = on_device(minus, all), *dr = on_device(rhs, all);
  lines<<<dim3((m + 31) / 32, (n + 3) / 4), dim3(32, 4)>>>(n, m, dl, dp, dm, dr);
  to_host(rhs, dr, all);
  cudaFree(dl), cudaFree(dp), cudaFree(dm);
}
#include "xsolve3.c"
