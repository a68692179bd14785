// Stencils: sweeps that follow one another, with launches in a loop of the host, and those that go along a skewed wave.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -Rpass=regrain-parallelize \
// RUN:     -Rpass-missed=regrain-parallelize %s -o %t 2> %t.said && %t
// RUN: FileCheck %s < %t.said
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=sm_80 -fregrain-parallelize -fregrain-parallelize-from=0 %s -o %t.sm && %t.sm
#include "Inputs/twins.h"

// CHECK-DAG: stencils.c:[[#@LINE+2]]:{{.*}}loop runs in parallel: launches of 1 kernel stand
TWINS(jacobi1, (int t, int n, float *a, float *b), {
  for (int s = 0; s < t; s++) {
    for (int i = 1; i < n - 1; i++)
      b[i] = 0.33333f * (a[i - 1] + a[i] + a[i + 1]);
    for (int i = 1; i < n - 1; i++)
      a[i] = 0.33333f * (b[i - 1] + b[i] + b[i + 1]);
  }
})
// CHECK-DAG: stencils.c:[[#@LINE+2]]:{{.*}}loop runs in parallel: launches of 2 kernels
TWINS(jacobi2, (int t, int n, double A[n][n], double B[n][n]), {
  for (int s = 0; s < t; s++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][1 + j] + A[1 + i][j] + A[i - 1][j]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[i][j] = B[i][j];
  }
})
// CHECK-DAG: stencils.c:[[#@LINE+2]]:{{.*}}loop runs in parallel: launches of 1 kernel
TWINS(seidel, (int t, int n, double A[n][n]), {
  for (int s = 0; s < t; s++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] + A[i][j + 1] +
                   A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) / 9.0;
})
// CHECK-DAG: stencils.c:[[#@LINE+2]]:{{.*}}loop runs in parallel
TWINS(heat3, (int t, int n, double A[n][n][n], double B[n][n][n]), {
  for (int s = 0; s < t; s++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          B[i][j][k] = 0.125 * (A[i + 1][j][k] - 2.0 * A[i][j][k] + A[i - 1][j][k]) +
                       0.125 * (A[i][j + 1][k] - 2.0 * A[i][j][k] + A[i][j - 1][k]) + A[i][j][k - 1] * A[i][j][k + 1];
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          A[i][j][k] = B[i][j][k] - 0.5 * B[i][j - 1][k];
  }
})
// CHECK-DAG: stencils.c:[[#@LINE+2]]:{{.*}}loop runs in parallel
TWINS(fdtd, (int t, int nx, int ny, float ex[nx][ny], float ey[nx][ny], float hz[nx][ny], float *f), {
  for (int s = 0; s < t; s++) {
    for (int j = 0; j < ny; j++)
      ey[0][j] = f[s];
    for (int i = 1; i < nx; i++)
      for (int j = 0; j < ny; j++)
        ey[i][j] = ey[i][j] - 0.5f * (hz[i][j] - hz[i - 1][j]);
    for (int i = 0; i < nx; i++)
      for (int j = 1; j < ny; j++)
        ex[i][j] = ex[i][j] - 0.5f * (hz[i][j] - hz[i][j - 1]);
    for (int i = 0; i < nx - 1; i++)
      for (int j = 0; j < ny - 1; j++)
        hz[i][j] = hz[i][j] - 0.7f * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
  }
})
// CHECK-DAG: stencils.c:[[#@LINE+2]]:{{.*}}loop runs in parallel: launches of {{[0-9]+}} kernel
TWINS(adi, (int n, double u[n][n], double v[n][n], double p[n][n]), {
  for (int i = 1; i < n - 1; i++) {
    v[0][i] = 1.0;
    p[i][0] = 0.0;
    for (int j = 1; j < n - 1; j++) {
      p[i][j] = -0.25 / (0.125 * p[i][j - 1] + 1.5);
      v[j][i] = (u[j][i - 1] - u[j][i + 1] * 0.3 - v[j - 1][i]) / (0.25 * p[i][j - 1] + 2.0);
    }
    for (int j = n - 2; j >= 1; j--)
      v[j][i] = p[i][j] * v[j + 1][i] + v[j][i];
  }
})
// CHECK-DAG: stencils.c:[[#@LINE+2]]:{{.*}}loop runs in parallel: launches of 1 kernel
TWINS(sor, (int n, double A[n][n]), {
  for (int i = 1; i < n; i++)
    for (int j = 1; j < n; j++)
      A[i][j] = 0.25 * (A[i - 1][j] + A[i][j - 1]) + 0.5 * A[i][j];
})

int main(void) {
  EACH(n) {
    const size_t square = (size_t)n * n * sizeof(double);
    const int t = 4;
    fresh(2, n * sizeof(float), n * sizeof(float));
    jacobi1(t, n, mine(0), mine(1)), jacobi1_twin(t, n, twin(0), twin(1));
    same("jacobi-1d", n);
    fresh(2, square, square);
    jacobi2(t, n, mine(0), mine(1)), jacobi2_twin(t, n, twin(0), twin(1));
    same("jacobi-2d", n);
    fresh(1, square);
    seidel(t, n, mine(0)), seidel_twin(t, n, twin(0));
    same("seidel", n);
    const int s = n / 4;
    fresh(2, s * s * s * sizeof(double), s * s * s * sizeof(double));
    heat3(t, s, mine(0), mine(1)), heat3_twin(t, s, twin(0), twin(1));
    same("heat-3d", n);
    fresh(4, square, square, square, (size_t)64);
    fdtd(t, n, n / 2 + 1, mine(0), mine(1), mine(2), mine(3)), fdtd_twin(t, n, n / 2 + 1, twin(0), twin(1), twin(2), twin(3));
    same("fdtd-2d", n);
    fresh(3, square, square, square);
    adi(n, mine(0), mine(1), mine(2)), adi_twin(n, twin(0), twin(1), twin(2));
    same("adi", n);
    fresh(1, square);
    sor(n, mine(0)), sor_twin(n, twin(0));
    same("sor", n);
  }
  return failures != 0;
}
