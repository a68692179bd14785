// Rows of constant length, as of arrays whose sizes are macros, and loops of constant length: schedules take no longer for them.
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -Rpass=regrain-parallelize -Rpass-missed=regrain-parallelize %s -o %t 2> %t.err && %t
// RUN: FileCheck %s < %t.err
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=sm_80 -fregrain-parallelize -fregrain-parallelize-from=0 %s -o %t.emulated && %t.emulated
#include "Inputs/twins.h"

// CHECK-DAG: constant-sizes.c:[[#@LINE+2]]:1: remark: loop runs in parallel: launches of {{[0-9]}} kernels stand for it and 2 behind it
TWINS(products, (int n, int m, const double (*restrict a)[1100], const double (*restrict b)[900], double (*restrict c)[900], double (*restrict d)[1200]), {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      c[i][j] = 0;
      for (int k = 0; k < m; k++)
        c[i][j] += a[i][k] * b[k][j];
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      d[i][j] *= 0.5;
      for (int k = 0; k < m; k++)
        d[i][j] += c[i][k] * b[k][j];
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      c[i][j] = 0;
      for (int k = 0; k < m; k++)
        c[i][j] += d[i][k] * b[k][j];
    }
})

// CHECK-DAG: constant-sizes.c:[[#@LINE+2]]:1: remark: loop runs in parallel: launches of {{[0-9]}} kernel
TWINS(heat, (int n, double (*restrict a)[90][90], double (*restrict b)[90][90]), {
  for (int t = 0; t < 20; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          b[i][j][k] = 0.125 * (a[i + 1][j][k] - 2.0 * a[i][j][k] + a[i - 1][j][k]) +
                       0.125 * (a[i][j + 1][k] - 2.0 * a[i][j][k] + a[i][j - 1][k]) +
                       0.125 * (a[i][j][k + 1] - 2.0 * a[i][j][k] + a[i][j][k - 1]) + a[i][j][k];
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          a[i][j][k] = 0.125 * (b[i + 1][j][k] - 2.0 * b[i][j][k] + b[i - 1][j][k]) +
                       0.125 * (b[i][j + 1][k] - 2.0 * b[i][j][k] + b[i][j - 1][k]) +
                       0.125 * (b[i][j][k + 1] - 2.0 * b[i][j][k] + b[i][j][k - 1]) + b[i][j][k];
  }
})

// Sweeps along columns, then along rows: each a tridiagonal system that is eliminated and substituted.
// CHECK-DAG: constant-sizes.c:[[#@LINE+2]]:1: remark: loop runs in parallel: launches of {{[0-9]}} kernels stand for it
TWINS(sweeps, (int n, double (*restrict u)[1000], double (*restrict v)[1000], double (*restrict p)[1000], double (*restrict q)[1000]), {
  for (int t = 1; t <= 20; t++) {
    for (int i = 1; i < n - 1; i++) {
      v[0][i] = 1.0;
      p[i][0] = 0.0;
      q[i][0] = v[0][i];
      for (int j = 1; j < n - 1; j++) {
        p[i][j] = 0.25 / (0.25 * p[i][j - 1] + 1.5);
        q[i][j] = (0.25 * u[j][i - 1] + 0.5 * u[j][i] + 0.25 * u[j][i + 1] + 0.25 * q[i][j - 1]) / (0.25 * p[i][j - 1] + 1.5);
      }
      v[n - 1][i] = 1.0;
      for (int j = n - 2; j >= 1; j--)
        v[j][i] = p[i][j] * v[j + 1][i] + q[i][j];
    }
    for (int i = 1; i < n - 1; i++) {
      u[i][0] = 1.0;
      p[i][0] = 0.0;
      q[i][0] = u[i][0];
      for (int j = 1; j < n - 1; j++) {
        p[i][j] = 0.25 / (0.25 * p[i][j - 1] + 1.5);
        q[i][j] = (0.25 * v[i - 1][j] + 0.5 * v[i][j] + 0.25 * v[i + 1][j] + 0.25 * q[i][j - 1]) / (0.25 * p[i][j - 1] + 1.5);
      }
      u[i][n - 1] = 1.0;
      for (int j = n - 2; j >= 1; j--)
        u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
    }
  }
})

// A number that is as large as a size and none: a factor, a shift, a step; one that is counted down from; ends of loops that are beside one another.
// CHECK-DAG: constant-sizes.c:[[#@LINE+2]]:1: remark: loop runs in parallel: launches of {{[0-9]}} kernel
TWINS(numbers, (float *restrict a, float *restrict b), {
  for (int i = 0; i < 500; i++)
    a[20 * i + 17] = b[499 - i] + 1;
  for (int i = 3; i < 503; i += 20)
    b[i] = a[i + 30] * 0.5f;
  for (int i = 1; i < 498; i++)
    for (int j = 0; j < 40; j++)
      if (i > 250)
        a[i * 20 + 3] += b[i + 4] * j;
      else
        a[i * 20 + 5] += b[i + 4];
})

int main(void) {
  EACH(n) {
    size_t bytes = (n + 1) * sizeof(double);
    fresh(4, 1100 * bytes, 900 * bytes, 900 * bytes, 1200 * bytes);
    products(n, n, mine(0), mine(1), mine(2), mine(3)), products_twin(n, n, twin(0), twin(1), twin(2), twin(3));
    same("products", n);
    fresh(2, 90 * 90 * bytes, 90 * 90 * bytes);
    heat(n, mine(0), mine(1)), heat_twin(n, twin(0), twin(1));
    same("heat", n);
    fresh(4, 1000 * bytes, 1000 * bytes, 1000 * bytes, 1000 * bytes);
    sweeps(n, mine(0), mine(1), mine(2), mine(3)), sweeps_twin(n, twin(0), twin(1), twin(2), twin(3));
    same("sweeps", n);
  }
  fresh(2, 10100 * sizeof(float), 600 * sizeof(float));
  numbers(mine(0), mine(1)), numbers_twin(twin(0), twin(1));
  same("numbers", 500);
  return failures != 0;
}
