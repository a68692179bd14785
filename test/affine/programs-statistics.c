// More programs of paper 000's list: chains of products, sums of two matrices by a vector, correlations; with each schedule.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -Rpass=regrain-parallelize %s -o %t -lm 2> %t.said && %t
// RUN: FileCheck %s < %t.said
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -fregrain-parallelize-schedule=superposed %s -o %t.both -lm && %t.both
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=sm_80 -fregrain-parallelize -fregrain-parallelize-from=0 %s -o %t.sm -lm && %t.sm 33
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=gfx90a -fregrain-parallelize -fregrain-parallelize-from=0 %s -o %t.gfx -lm && %t.gfx 33
#include <math.h>
#include "Inputs/programs.h"

// CHECK: programs-statistics.c:{{.*}}loop runs in parallel
PROGRAM(gesummv, {
  FOR(i, 0, n) {
    d[i] = 0;
    D(1, i) = 0;
    FOR(j, 0, n) {
      d[i] += A(i, j) * c[j];
      D(1, i) += B(i, j) * c[j];
    }
    D(1, i) = 1.5 * d[i] + 0.5 * D(1, i);
  }
})
PROGRAM(mm2, {
  FOR(i, 0, n) FOR(j, 0, n) {
    C(i, j) = 0;
    FOR(k, 0, n) C(i, j) += 1.5 * A(i, k) * B(k, j);
  }
  FOR(i, 0, n) FOR(j, 0, n) {
    D(i, j) *= 0.5;
    FOR(k, 0, n) D(i, j) += C(i, k) * A(k, j);
  }
})
PROGRAM(mm3, {
  FOR(i, 0, n) FOR(j, 0, n) {
    C(i, j) = 0;
    FOR(k, 0, n) C(i, j) += A(i, k) * B(k, j);
  }
  FOR(i, 0, n) FOR(j, 0, n) {
    D(i, j) = 0;
    FOR(k, 0, n) D(i, j) += B(i, k) * C(k, j);
  }
  FOR(i, 0, n) FOR(j, 0, n) {
    A(i, j) = 0;
    FOR(k, 0, n) A(i, j) += C(i, k) * D(k, j);
  }
})
PROGRAM(correlation, {
  FOR(j, 0, n) {
    b[j] = 0;
    FOR(i, 0, n) b[j] += A(i, j);
    b[j] /= 7;
  }
  FOR(j, 0, n) {
    d[j] = 0;
    FOR(i, 0, n) d[j] += (A(i, j) - b[j]) * (A(i, j) - b[j]);
    d[j] = sqrt(d[j] / 7);
    d[j] = d[j] <= 0.1 ? 1.0 : d[j];
  }
  FOR(i, 0, n) FOR(j, 0, n) {
    A(i, j) -= b[j];
    A(i, j) /= 2.5 * d[j];
  }
  FOR(i, 0, n - 1) {
    C(i, i) = 1;
    FOR(j, i + 1, n) {
      C(i, j) = 0;
      FOR(k, 0, n) C(i, j) += A(k, i) * A(k, j);
      C(j, i) = C(i, j);
    }
  }
})
PROGRAM(of_rows, { // Sums of rows, of products of rows, and of what is below the diagonal.
  FOR(i, 0, n) {
    double s = 0;
    FOR(j, 0, i) s += A(i, j) * b[j];
    c[i] = s;
  }
  FOR(i, 0, n) {
    d[i] = 0;
    FOR(j, 0, n) d[i] += A(i, j) * B(i + 1, j);
  }
})

static const struct row rows[] = {
    ROW(gesummv, 1000), ROW(mm2, 101), ROW(mm3, 101), ROW(correlation, 101), ROW(of_rows, 1000),
};

int main(int argc, char **argv) { return each(rows, sizeof rows / sizeof *rows, argc > 1 ? atoi(argv[1]) : 1000); }
