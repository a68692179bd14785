// Triangular loops, steps that wait for those before, and conditions in the middle.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -Rpass=regrain-parallelize \
// RUN:     -Rpass-missed=regrain-parallelize %s -o %t -lm 2> %t.said && %t
// RUN: FileCheck %s < %t.said
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=sm_80 -fregrain-parallelize -fregrain-parallelize-from=0 %s -o %t.sm -lm && %t.sm
#include "Inputs/twins.h"
#include <math.h>

// CHECK-DAG: factorisations.c:[[#@LINE+2]]:{{.*}}loop runs in parallel
TWINS(trisolv, (int n, double L[n][n], double *restrict x, double *restrict b), {
  for (int i = 0; i < n; i++) {
    x[i] = b[i];
    for (int j = 0; j < i; j++)
      x[i] -= L[i][j] * x[j];
    x[i] = x[i] / L[i][i];
  }
})
// CHECK-DAG: factorisations.c:[[#@LINE+2]]:{{.*}}loop runs in parallel
TWINS(lu, (int n, double A[n][n]), {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[k][j];
      A[i][j] /= A[j][j];
    }
    for (int j = i; j < n; j++)
      for (int k = 0; k < i; k++)
        A[i][j] -= A[i][k] * A[k][j];
  }
})
// CHECK-DAG: factorisations.c:[[#@LINE+2]]:{{.*}}loop runs in parallel
TWINS(cholesky, (int n, double A[n][n]), {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[j][k];
      A[i][j] /= A[j][j];
    }
    for (int k = 0; k < i; k++)
      A[i][i] -= A[i][k] * A[i][k];
    A[i][i] = sqrt(A[i][i]);
  }
})
// CHECK-DAG: factorisations.c:[[#@LINE+2]]:{{.*}}loop runs in parallel
TWINS(floyd, (int n, int P[n][n]), {
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        P[i][j] = P[i][j] < P[i][k] + P[k][j] ? P[i][j] : P[i][k] + P[k][j];
})
// CHECK-DAG: factorisations.c:[[#@LINE+2]]:{{.*}}loop runs in parallel
TWINS(covariance, (int m, int n, double f, double data[n][m], double cov[m][m], double *restrict mean), {
  for (int j = 0; j < m; j++) {
    mean[j] = 0.0;
    for (int i = 0; i < n; i++)
      mean[j] += data[i][j];
    mean[j] /= f;
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      data[i][j] -= mean[j];
  for (int i = 0; i < m; i++)
    for (int j = i; j < m; j++) {
      cov[i][j] = 0.0;
      for (int k = 0; k < n; k++)
        cov[i][j] += data[k][i] * data[k][j];
      cov[i][j] /= f - 1.0;
      cov[j][i] = cov[i][j];
    }
})
// CHECK-DAG: factorisations.c:[[#@LINE+2]]:{{.*}}loop runs in parallel
TWINS(deviation, (int m, int n, float f, float data[n][m], float *restrict mean, float *restrict dev), {
  for (int j = 0; j < m; j++) {
    float s = 0.0f;
    for (int i = 0; i < n; i++)
      s += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
    s = sqrtf(s / f);
    dev[j] = s <= 0.1f ? 1.0f : s;
  }
})
// CHECK-DAG: factorisations.c:[[#@LINE+2]]:{{.*}}loop runs in parallel
TWINS(lcs, (int n, int T[n][n], const int *restrict a, const int *restrict b), {
  for (int i = 1; i < n; i++)
    for (int j = 1; j < n; j++) {
      int best = T[i - 1][j] > T[i][j - 1] ? T[i - 1][j] : T[i][j - 1];
      if (a[i] == b[j])
        best = T[i - 1][j - 1] + 1;
      T[i][j] = best;
    }
})
// Nothing of this may run in parallel, and it does not.
// CHECK-DAG: factorisations.c:[[#@LINE+2]]:{{.*}}loop stays sequential: its iterations depend on one another
TWINS(prefix, (int n, float *a), {
  for (int i = 1; i < n; i++)
    a[i] += a[i - 1];
})
// CHECK-DAG: factorisations.c:[[#@LINE+2]]:{{.*}}loop stays sequential: its iterations depend on one another
TWINS(total, (int n, float *restrict a, float *restrict b), {
  for (int i = 0; i < n; i++)
    *b += a[i];
})

int main(void) {
  EACH(n) {
    const size_t row = n * sizeof(double), square = n * row;
    fresh(3, square, row, row);
    trisolv(n, mine(0), mine(1), mine(2)), trisolv_twin(n, twin(0), twin(1), twin(2));
    same("trisolv", n);
    fresh(1, square);
    lu(n, mine(0)), lu_twin(n, twin(0));
    same("lu", n);
    fresh(1, square);
    for (int i = 0; i < n; i++)
      ((double *)mine(0))[i * n + i] += 100.0 * n, ((double *)twin(0))[i * n + i] += 100.0 * n;
    cholesky(n, mine(0)), cholesky_twin(n, twin(0));
    same("cholesky", n);
    fresh(1, square);
    for (int i = 0; i < n * n; i++)
      ((int *)mine(0))[i] = ((int *)twin(0))[i] = (i * 7919 + 13) % 1009;
    floyd(n, mine(0)), floyd_twin(n, twin(0));
    same("floyd-warshall", n);
    const int m = n / 3 + 2;
    fresh(3, m * row, m * m * sizeof(double), m * sizeof(double));
    covariance(m, n, n + 2.0, mine(0), mine(1), mine(2)), covariance_twin(m, n, n + 2.0, twin(0), twin(1), twin(2));
    same("covariance", n);
    fresh(3, m * row, m * sizeof(double), m * sizeof(double));
    deviation(m, n, n + 2.0f, mine(0), mine(1), mine(2)), deviation_twin(m, n, n + 2.0f, twin(0), twin(1), twin(2));
    same("correlation", n);
    fresh(3, square, row, row);
    for (int i = 0; i < n; i++)
      for (int k = 1; k < 3; k++)
        ((int *)mine(k))[i] = ((int *)twin(k))[i] = i * k % 3;
    for (int i = 0; i < n * n; i++)
      ((int *)mine(0))[i] = ((int *)twin(0))[i] = 0;
    lcs(n, mine(0), mine(1), mine(2)), lcs_twin(n, twin(0), twin(1), twin(2));
    same("lcs", n);
    fresh(2, row, row);
    prefix(n, mine(0)), prefix_twin(n, twin(0));
    total(n, mine(0), mine(1)), total_twin(n, twin(0), twin(1));
    same("prefix", n);
  }
  return failures != 0;
}
