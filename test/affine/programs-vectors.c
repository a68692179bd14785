// Matrices and vectors, factors of matrices, and a convolution.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -Rpass=regrain-parallelize \
// RUN:     -Rpass-missed=regrain-parallelize %s -o %t 2> %t.said && %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t 33
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=sm_80 -fregrain-parallelize -fregrain-parallelize-from=0 %s -o %t.sm && %t.sm 33
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=gfx90a -fregrain-parallelize -fregrain-parallelize-from=0 %s -o %t.gfx && %t.gfx 33
#include "Inputs/programs.h"

// Vectors.
PROGRAM(atax, {
  FOR(i, 0, n) {
    c[i] = 0;
    FOR(j, 0, n) c[i] += A(i, j) * b[j];
    FOR(j, 0, n) d[j] += A(i, j) * c[i];
  }
})
PROGRAM(bicg, {
  FOR(i, 0, n) {
    c[i] = 0;
    FOR(j, 0, n) {
      d[j] += b[i] * A(i, j);
      c[i] += A(i, j) * b[j];
    }
  }
})
PROGRAM(mvt, {
  FOR(i, 0, n) FOR(j, 0, n) c[i] += A(i, j) * b[j];
  FOR(i, 0, n) FOR(j, 0, n) d[i] += A(j, i) * b[j];
})
PROGRAM(gemver, {
  FOR(i, 0, n) FOR(j, 0, n) A(i, j) += B(0, i) * B(1, j) + B(2, i) * B(3, j);
  FOR(i, 0, n) FOR(j, 0, n) c[i] += 0.5 * A(j, i) * B(1, j);
  FOR(i, 0, n) c[i] += B(2, i);
  FOR(i, 0, n) FOR(j, 0, n) d[i] += 1.5 * A(i, j) * c[j];
})
PROGRAM(filter, { // A row's weights are shared by threads that are beside one another.
  FOR(i, 0, n) {
    double sum = 0;
    FOR(k, 0, n) sum += a[i + k] * b[k];
    c[i] = sum;
  }
})
PROGRAM(covariance, {
  FOR(j, 0, n) {
    d[j] = 0;
    FOR(i, 0, n) d[j] += A(i, j);
    d[j] /= 7;
  }
  FOR(i, 0, n) FOR(j, 0, n) A(i, j) -= d[j];
  FOR(i, 0, n) FOR(j, i, n) {
    C(i, j) = 0;
    FOR(k, 0, n) C(i, j) += A(k, i) * A(k, j);
    C(j, i) = C(i, j);
  }
})

// Factors.
PROGRAM(lu, {
  FOR(k, 0, n) {
    FOR(j, k + 1, n) A(k, j) /= A(k, k) + 3;
    FOR(i, k + 1, n) FOR(j, k + 1, n) A(i, j) -= A(i, k) * A(k, j);
  }
})
PROGRAM(cholesky, {
  FOR(i, 0, n) {
    FOR(j, 0, i) {
      FOR(k, 0, j) A(i, j) -= A(i, k) * A(j, k) * 0.01;
      A(i, j) /= A(j, j) + 4;
    }
    FOR(k, 0, i) A(i, i) -= A(i, k) * A(i, k) * 0.01;
  }
})
PROGRAM(trisolv, {
  FOR(i, 0, n) {
    c[i] = b[i];
    FOR(j, 0, i) c[i] -= A(i, j) * c[j] * 0.01;
    c[i] /= A(i, i) + 2;
  }
})

static const struct row rows[] = {
    ROW(atax, 1000),
    ROW(bicg, 1000),
    ROW(mvt, 1000),
    ROW(gemver, 1000),
    ROW(filter, 1000),
    ROW(covariance, 101),
    ROW(lu, 101),
    ROW(cholesky, 101),
    ROW(trisolv, 1000),
};

int main(int argc, char **argv) { return each(rows, sizeof rows / sizeof *rows, argc > 1 ? atoi(argv[1]) : 1000); }
