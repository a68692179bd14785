// Rows of memory come to the chip along themselves, though a thread goes down a row of its own: each in its order, to the bit.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -fregrain-parallelize-schedule=superposed \
// RUN:     -Rpass=regrain-parallelize -fregrain-emit-cuda=%t.cu %s -o %t 2> %t.said && %t
// RUN: FileCheck %s < %t.said
// RUN: FileCheck %s --check-prefix=CUDA < %t.cu
// RUN: env REGRAIN_CPU_MODE=coroutine %t 70
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=sm_80 -fregrain-parallelize -fregrain-parallelize-from=0 \
// RUN:     -fregrain-parallelize-schedule=superposed %s -o %t.sm && %t.sm 300
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=gfx90a -fregrain-parallelize -fregrain-parallelize-from=0 \
// RUN:     -fregrain-parallelize-schedule=superposed %s -o %t.gfx && %t.gfx 300
#include "Inputs/twins.h"
#define FOR(i, from, to) for (int i = (from); i < (to); i++)
#define LINE(name, ...)                                                                                                \
  TWINS(name, (int n, int m, double *restrict a, double *restrict b, double *restrict c, double *restrict d), __VA_ARGS__)

// CUDA: const double *__restrict__ A0
// CUDA: __shared__ double T0_0[128][16 + 1];
// CHECK: transposed.c:[[#@LINE+3]]:{{.*}}launches of 1 kernel
// CHECK-NEXT: superposed schedule: arrays come to the chip along their rows, which takes 8.0 transactions of 32 bytes for 32 rounds, where a single schedule takes 32.0 [
LINE(row_sums, {
  FOR(i, 0, n) {
    double s = 5;
    FOR(j, 0, m) s += a[i * m + j] * b[j];
    c[i] = s;
  }
})
LINE(in_memory, {
  FOR(i, 0, n) {
    c[i] = 0;
    FOR(j, 0, m) c[i] += a[i * m + j] * b[j];
  }
})
LINE(two_matrices, {
  FOR(i, 0, n) {
    double s = 0;
    double t = 0;
    FOR(j, 0, m) {
      s += a[i * m + j] * b[j];
      t = t * 0.5 + d[i * m + j];
    }
    c[i] = s - t;
  }
})
LINE(triangle, {
  FOR(i, 0, n) {
    double s = 0;
    FOR(j, i, m) s = s * 0.75 + a[i * m + j];
    c[i] = s;
  }
})
LINE(neighbours, {
  FOR(i, 0, n) {
    double s = 0;
    FOR(j, 1, m - 1) s = s * 0.75 + a[i * m + j - 1] + a[i * m + j] * 0.5 + a[i * m + j + 1];
    c[i] = s;
  }
})
LINE(planes, {
  FOR(i, 0, n / 8) FOR(j, 0, 7) {
    double s = 0;
    FOR(k, 0, m) s = s * 0.5 + a[(i * 7 + j) * m + k] * b[k];
    c[i * 7 + j] = s;
  }
})
LINE(under_conditions, {
  FOR(i, 0, n) {
    if (i != 3) {
      double s = 1;
      FOR(j, 0, m) s = a[i * m + j] > s ? a[i * m + j] : s * 0.5;
      c[i] = s;
    }
  }
})
LINE(sweeps, {
  FOR(t, 1, 4) FOR(i, 0, n) {
    double s = 0;
    FOR(j, 0, m) s += a[i * m + j] * b[j];
    c[t * n + i] = s + c[(t - 1) * n + i];
  }
})

typedef void (*Line)(int, int, double *, double *, double *, double *);
static const struct {
  const char *name;
  Line mine, twin;
} rows[] = {
#define ROW(name) {#name, name, name##_twin}
    ROW(row_sums), ROW(in_memory), ROW(two_matrices), ROW(triangle),
    ROW(neighbours), ROW(planes), ROW(under_conditions), ROW(sweeps),
};

int main(int argc, char **argv) {
  static const int pairs[][2] = {{0, 0}, {0, 5}, {5, 0}, {1, 1}, {17, 17}, {9, 33}, {3, 600}, {70, 65}, {129, 16}, {1000, 40}, {33, 1000}};
  const int most = argc > 1 ? atoi(argv[1]) : 1000;
  for (unsigned p = 0; p < sizeof pairs / sizeof *pairs; p++)
    for (unsigned r = 0; r < sizeof rows / sizeof *rows; r++) {
      int n = pairs[p][0], m = pairs[p][1];
      if (n > most || m > most)
        continue;
      size_t large = (size_t)(n + 20) * (m + 20) * 8, small = (5 * (n + m) + 4000) * 8;
      fresh(4, large, small, small, large);
      rows[r].mine(n, m, mine(0), mine(1), mine(2), mine(3));
      rows[r].twin(n, m, twin(0), twin(1), twin(2), twin(3));
      same(rows[r].name, n * 10000 + m);
    }
  return failures != 0;
}
