// Products, whose loops go by pieces: squares, triangles, what lies between others, steps, several sums.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -Rpass=regrain-parallelize \
// RUN:     -Rpass-missed=regrain-parallelize -fregrain-emit-cuda=%t.cu %s -o %t 2> %t.said && %t
// RUN: FileCheck %s < %t.said
// RUN: FileCheck %s --check-prefix=CODE < %t.cu
// RUN: env REGRAIN_CPU_MODE=coroutine %t 33
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=sm_80 -fregrain-parallelize -fregrain-parallelize-from=0 %s -o %t.sm && %t.sm 33
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=gfx90a -fregrain-parallelize -fregrain-parallelize-from=0 %s -o %t.gfx && %t.gfx 33
#include "Inputs/programs.h"

// Products.
// CHECK-DAG: programs-products.c:[[#@LINE+5]]:{{.*}}loop runs in parallel: launches of 1 kernel
// CODE: __shared__ double T0_{{[0-9]}}[{{[0-9]+}}][32]; // of A
// CODE: __syncthreads();
// CODE: regrain_gemm_region0
PROGRAM(gemm, {
  FOR(i, 0, n) {
    FOR(j, 0, n) C(i, j) *= 0.5;
    FOR(k, 0, n) FOR(j, 0, n) C(i, j) += 1.5 * A(i, k) * B(k, j);
  }
})
// CODE: __shared__ double T0_{{[0-9]}}[32][32 + 1]; // of A
// CODE: regrain_transposed_region0
PROGRAM(transposed, {
  FOR(i, 0, n) FOR(j, 0, n) {
    double sum = D(i, j);
    FOR(k, 0, n) sum += A(i, k) * B(j, k);
    C(i, j) = sum;
  }
})
PROGRAM(both_transposed, {
  FOR(i, 0, n) FOR(j, 0, n) {
    double sum = 0;
    FOR(k, 0, n) sum += A(k, i) * B(j, k);
    C(i, j) += sum * D(j, i);
  }
})
PROGRAM(syrk, {
  FOR(i, 0, n) FOR(j, 0, i + 1) {
    C(i, j) *= 0.25;
    FOR(k, 0, n) C(i, j) += A(i, k) * A(j, k);
  }
})
PROGRAM(syr2k, {
  FOR(i, 0, n) FOR(j, 0, i + 1) {
    C(i, j) *= 0.25;
    FOR(k, 0, n) C(i, j) += A(j, k) * B(i, k) + B(j, k) * A(i, k);
  }
})
PROGRAM(trmm, {
  FOR(i, 0, n) FOR(j, 0, n) FOR(k, i + 1, n) B(i, j) += A(k, i) * B(k, j);
})
PROGRAM(upper, {
  FOR(i, 0, n) FOR(j, 0, n) {
    double sum = 1;
    FOR(k, i, n) sum += A(i, k) * B(k, j);
    C(i, j) = sum;
  }
})
PROGRAM(lower, {
  FOR(i, 0, n) FOR(j, 0, n) FOR(k, 0, i + 1) C(i, j) += A(i, k) * B(k, j);
})
PROGRAM(between, {
  FOR(i, 0, n) FOR(j, 0, n) FOR(k, i < j ? i : j, i > j ? i : j) C(i, j) += A(i, k) * B(k, j);
})
PROGRAM(second_half, {
  FOR(i, 0, n) FOR(j, 0, n) {
    double sum = 0;
    FOR(k, n - i, n) sum += A(i, k) * B(k, j) + A(n - 1 - i, k);
    C(i, j) = sum;
  }
})
PROGRAM(by_threes, {
  FOR(i, 0, n) FOR(j, 0, n) for (int k = 1; k < n; k += 3) C(i, j) += A(i, k) * B(k, j);
})
PROGRAM(chain, {
  FOR(i, 0, n) FOR(j, 0, n) {
    C(i, j) = 0;
    FOR(k, 0, n) C(i, j) += A(i, k) * B(k, j);
  }
  FOR(i, 0, n) FOR(j, 0, n) {
    D(i, j) *= 0.125;
    FOR(k, 0, n) D(i, j) += C(i, k) * A(k, j);
  }
})
PROGRAM(two_loops, {
  FOR(i, 0, n) FOR(j, 0, n) {
    double sum = A(i, j);
    FOR(k, 0, n) sum += A(i, k) * B(k, j);
    double product = 1;
    FOR(k, 0, n) product = product * 0.5 + A(i, k) * B(k, j);
    C(i, j) = sum - product + B(i, j);
  }
})
PROGRAM(two_sums, {
  FOR(i, 0, n) FOR(j, 0, n) {
    double one = 0, other = A(i, j);
    FOR(k, 0, n) {
      one += A(i, k) * B(k, j);
      other = other * 0.5 - A(k, j) + (k > i ? B(i, k) : 1.0);
    }
    C(i, j) = one * other;
  }
})
PROGRAM(neighbours, {
  FOR(i, 0, n - 2) FOR(j, 0, n - 2) FOR(k, 1, n - 1)
    C(i, j) += A(i, k - 1) * B(k + 1, j) + A(i + 1, k) * B(k, j + 2) + A(i + 2, k + 1);
})
PROGRAM(in_place, { // What is read is written, too: nothing is shared.
  FOR(i, 0, n) FOR(j, 0, n) {
    double sum = 0;
    FOR(k, 0, n) sum += A(i, k) * C(i, j);
    C(i, j) = sum;
  }
})
PROGRAM(doitgen, { // Planes of 4 rows.
  FOR(r, 0, n / 4) FOR(q, 0, 4) {
    FOR(p, 0, n) {
      C(r * 4 + q, p) = 0;
      FOR(s, 0, n) C(r * 4 + q, p) += A(r * 4 + q, s) * B(s, p);
    }
  }
})
PROGRAM(three_deep, {
  FOR(i, 0, n) FOR(j, 0, n) FOR(k, 0, n / 8) FOR(l, 0, 3) C(i, j) += A(i, k + l) * B(k, j + l);
})

static const struct row rows[] = {
    ROW(gemm, 101),
    ROW(transposed, 101),
    ROW(both_transposed, 101),
    ROW(syrk, 101),
    ROW(syr2k, 101),
    ROW(trmm, 101),
    ROW(upper, 101),
    ROW(lower, 101),
    ROW(between, 101),
    ROW(second_half, 101),
    ROW(by_threes, 101),
    ROW(chain, 101),
    ROW(two_loops, 101),
    ROW(two_sums, 101),
    ROW(neighbours, 101),
    ROW(in_place, 101),
    ROW(doitgen, 101),
    ROW(three_deep, 101),
};

int main(int argc, char **argv) { return each(rows, sizeof rows / sizeof *rows, argc > 1 ? atoi(argv[1]) : 1000); }
