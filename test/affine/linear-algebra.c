// Products of matrices and vectors. Most have no dependence between rows or columns.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -Rpass=regrain-parallelize \
// RUN:     -Rpass-missed=regrain-parallelize %s -o %t 2> %t.said && %t
// RUN: FileCheck %s < %t.said
// RUN: %regrain -O2 --offload-arch=cpu -march=x86-64-v4 -fregrain-parallelize -fregrain-parallelize-from=0 -Rpass-analysis=regrain-vectorize-threads \
// RUN:     -w -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=sm_80 -fregrain-parallelize -fregrain-parallelize-from=0 %s -o %t.sm && %t.sm
#include "Inputs/twins.h"

// CHECK-DAG: linear-algebra.c:[[#@LINE+2]]:{{.*}}loop runs in parallel: launches of 1 kernel
TWINS(gemm, (int n, int m, int p, double alpha, double beta, double C[n][m], double A[n][p], double B[p][m]), {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++)
      C[i][j] *= beta;
    for (int k = 0; k < p; k++)
      for (int j = 0; j < m; j++)
        C[i][j] += alpha * A[i][k] * B[k][j];
  }
})
// CHECK-DAG: linear-algebra.c:[[#@LINE+2]]:{{.*}}loop runs in parallel: launches of {{[12]}} {{kernels?}} stand for it and 1 behind it
TWINS(mm2, (int n, double T[n][n], double A[n][n], double B[n][n], double D[n][n]), {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      T[i][j] = 0;
      for (int k = 0; k < n; k++)
        T[i][j] += A[i][k] * B[k][j];
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = D[i][j] * 1.5;
      for (int k = 0; k < n; k++)
        sum += T[i][k] * B[j][k];
      D[i][j] = sum;
    }
})
// CHECK-DAG: linear-algebra.c:[[#@LINE+2]]:{{.*}}loop runs in parallel: launches of 2 kernels
TWINS(atax, (int m, int n, double A[m][n], double *restrict x, double *restrict y, double *restrict t), {
  for (int i = 0; i < m; i++) {
    t[i] = 0;
    for (int j = 0; j < n; j++)
      t[i] = t[i] + A[i][j] * x[j];
    for (int j = 0; j < n; j++)
      y[j] = y[j] + A[i][j] * t[i];
  }
})
// CHECK-DAG: linear-algebra.c:[[#@LINE+2]]:{{.*}}loop runs in parallel
TWINS(bicg, (int m, int n, double A[n][m], double *s, double *q, double *p, double *r), {
  for (int i = 0; i < n; i++) {
    q[i] = 0.0;
    for (int j = 0; j < m; j++) {
      s[j] = s[j] + r[i] * A[i][j];
      q[i] = q[i] + A[i][j] * p[j];
    }
  }
})
// CHECK-DAG: linear-algebra.c:[[#@LINE+2]]:{{.*}}loop runs in parallel: launches of {{[12]}} {{kernels?}} stand for it and 1 behind it
TWINS(mvt, (int n, double *x, double *y, double *u, double *v, double A[n][n]), {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      x[i] = x[i] + A[i][j] * u[j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      y[i] = y[i] + A[j][i] * v[j];
})
// CHECK-DAG: linear-algebra.c:[[#@LINE+2]]:{{.*}}loop runs in parallel: launches of 1 kernel
TWINS(gesummv, (int n, float alpha, float beta, float A[n][n], float B[n][n], float *x, float *y), {
  for (int i = 0; i < n; i++) {
    float s = 0;
    float t = 0;
    for (int j = 0; j < n; j++) {
      s = A[i][j] * x[j] + s;
      t = B[i][j] * x[j] + t;
    }
    y[i] = alpha * s + beta * t;
  }
})
// CHECK-DAG: linear-algebra.c:[[#@LINE+2]]:{{.*}}loop runs in parallel: launches of 1 kernel
TWINS(syrk, (int n, int m, double alpha, double beta, double C[n][n], double A[n][m]), {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++)
      C[i][j] *= beta;
    for (int k = 0; k < m; k++)
      for (int j = 0; j <= i; j++)
        C[i][j] += alpha * A[i][k] * A[j][k];
  }
})
// CHECK-DAG: linear-algebra.c:[[#@LINE+2]]:{{.*}}loop runs in parallel
TWINS(trmm, (int m, int n, double alpha, double A[m][m], double B[m][n]), {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      for (int k = i + 1; k < m; k++)
        B[i][j] += A[k][i] * B[k][j];
      B[i][j] = alpha * B[i][j];
    }
})
// CHECK-DAG: linear-algebra.c:[[#@LINE+2]]:{{.*}}loop runs in parallel
TWINS(doitgen, (int r, int q, int p, double A[r][q][p], double C[p][p], double S[r][q][p]), {
  for (int a = 0; a < r; a++)
    for (int b = 0; b < q; b++) {
      for (int c = 0; c < p; c++) {
        S[a][b][c] = 0;
        for (int s = 0; s < p; s++)
          S[a][b][c] += A[a][b][s] * C[s][c];
      }
      for (int c = 0; c < p; c++)
        A[a][b][c] = S[a][b][c];
    }
})
// CHECK-DAG: linear-algebra.c:[[#@LINE+2]]:{{.*}}loop runs in parallel
TWINS(gemver, (int n, double alpha, double A[n][n], double *u, double *v, double *x, double *y), {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      A[i][j] = A[i][j] + u[i] * v[j] + alpha * x[i] * y[j];
})

// Lines of a cube from their end on: the end of a row is found where the address has the beginning of the next row less something.
// CHECK-DAG: linear-algebra.c:[[#@LINE+2]]:{{.*}}loop runs in parallel
TWINS(backward, (int n, int m, const double *restrict l, double *restrict r), {
  for (int k = 0; k < n; k++)
    for (int j = 0; j < m; j++) {
      r[(k * m + m - 2) * m + j] -= l[(k * m + m - 2) * m + j] * r[(k * m + m - 1) * m + j];
      for (int i = m - 3; i >= 0; i--)
        r[(k * m + i) * m + j] -= l[(k * m + i) * m + j] * r[(k * m + i + 1) * m + j] + r[(k * m + i + 2) * m + j] * 0.25;
    }
})
// Columns of a matrix that are read again: rows of threads go down several at a time.
// CHECK-DAG: linear-algebra.c:[[#@LINE+3]]:{{.*}}loop runs in parallel
// ROWS: kernel 'columns_region0_{{.*}}threads go in rows of {{[0-9]+}}: 1 access uniform, 2 contiguous
TWINS(columns, (int n, const double *restrict a, const double *restrict x, double *restrict y), {
  for (int j = 0; j < n; j++) {
    y[j] = 0;
    for (int k = 0; k < 2; k++)
      for (int i = 0; i < n; i++)
        y[j] += a[i * n + j] * x[i];
  }
})

int main(void) {
  EACH(n) {
    const size_t row = n * sizeof(double), square = n * row;
    const int m = n / 2 + 3;
    const size_t other = m * row;
    fresh(3, other, n * row, other);
    gemm(n, m, n, 1.25, 0.75, mine(0), mine(1), mine(2)), gemm_twin(n, m, n, 1.25, 0.75, twin(0), twin(1), twin(2));
    same("gemm", n);
    fresh(4, square, square, square, square);
    mm2(n, mine(0), mine(1), mine(2), mine(3)), mm2_twin(n, twin(0), twin(1), twin(2), twin(3));
    same("2mm", n);
    fresh(4, other, m * sizeof(double) + row, m * sizeof(double) + row, m * sizeof(double) + row);
    atax(m, n, mine(0), mine(1), mine(2), mine(3)), atax_twin(m, n, twin(0), twin(1), twin(2), twin(3));
    same("atax", n);
    fresh(5, other, other, other, other, other);
    bicg(m, n, mine(0), mine(1), mine(2), mine(3), mine(4)), bicg_twin(m, n, twin(0), twin(1), twin(2), twin(3), twin(4));
    same("bicg", n);
    fresh(5, row, row, row, row, square);
    mvt(n, mine(0), mine(1), mine(2), mine(3), mine(4)), mvt_twin(n, twin(0), twin(1), twin(2), twin(3), twin(4));
    same("mvt", n);
    fresh(4, square, square, row, row);
    gesummv(n, 1.5f, 1.2f, mine(0), mine(1), mine(2), mine(3)), gesummv_twin(n, 1.5f, 1.2f, twin(0), twin(1), twin(2), twin(3));
    same("gesummv", n);
    fresh(2, square, other);
    syrk(n, m, 1.5, 1.2, mine(0), mine(1)), syrk_twin(n, m, 1.5, 1.2, twin(0), twin(1));
    same("syrk", n);
    fresh(2, m * m * sizeof(double), other);
    trmm(m, n, 0.25, mine(0), mine(1)), trmm_twin(m, n, 0.25, twin(0), twin(1));
    same("trmm", n);
    fresh(3, 7 * other, m * m * sizeof(double), 7 * other);
    doitgen(7, n, m, mine(0), mine(1), mine(2)), doitgen_twin(7, n, m, twin(0), twin(1), twin(2));
    same("doitgen", n);
    fresh(5, square, row, row, row, row);
    gemver(n, 0.5, mine(0), mine(1), mine(2), mine(3), mine(4)), gemver_twin(n, 0.5, twin(0), twin(1), twin(2), twin(3), twin(4));
    same("gemver", n);
    const size_t cube = 3 * (n + 3) * (n + 3) * sizeof(double);
    fresh(2, cube, cube);
    backward(3, n + 3, mine(0), mine(1)), backward_twin(3, n + 3, twin(0), twin(1));
    same("backward", n);
    fresh(3, square, row, row);
    columns(n, mine(0), mine(1), mine(2)), columns_twin(n, twin(0), twin(1), twin(2));
    same("columns", n);
  }
  return failures != 0;
}
