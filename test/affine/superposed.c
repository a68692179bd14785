// Threads of a row share a loop that combines numbers: sums, products, extremes and bits, in a variable and in memory, whole numbers as doubles too.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 -ffast-math --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -fregrain-parallelize-schedule=superposed \
// RUN:     -Rpass=regrain-parallelize %s -o %t 2> %t.said && %t
// RUN: FileCheck %s < %t.said
// RUN: env REGRAIN_CPU_MODE=coroutine %t 33
// RUN: %regrain -O2 -ffast-math --offload-arch=cpu -fregrain-emulate=sm_80 -fregrain-parallelize -fregrain-parallelize-from=0 \
// RUN:     -fregrain-parallelize-schedule=superposed %s -o %t.sm && %t.sm 600
// RUN: %regrain -O2 -ffast-math --offload-arch=cpu -fregrain-emulate=gfx90a -fregrain-parallelize -fregrain-parallelize-from=0 \
// RUN:     -fregrain-parallelize-schedule=superposed %s -o %t.gfx && %t.gfx 600
// RUN: %regrain -O2 -ffast-math --offload-arch=cpu,sm_80 -fregrain-parallelize -fregrain-parallelize-from=0 -fregrain-emit-cuda=%t.cu \
// RUN:     -Rpass=regrain-parallelize %s -o %t.auto 2> %t.auto.said && %t.auto
// RUN: FileCheck %s --check-prefix=AUTO < %t.auto.said
// RUN: FileCheck %s --check-prefix=CUDA < %t.cu
// RUN: %regrain -O2 -ffast-math --offload-arch=cpu,sm_80 -fregrain-parallelize -fregrain-parallelize-schedule=single \
// RUN:     -fregrain-emit-cuda=%t.single.cu -c %s -o %t.o && FileCheck %s --check-prefix=SINGLE < %t.single.cu
// RUN: not %regrain -fregrain-parallelize -fregrain-parallelize-schedule=both %s 2>&1 | FileCheck %s --check-prefix=WRONG
#include "Inputs/twins.h"
#define FOR(i, from, to) for (int i = (from); i < (to); i++)
#define LINE(name, ...)                                                                                                \
  TWINS(name, (int n, int m, unsigned *restrict a, unsigned *restrict b, unsigned *restrict c, double *restrict d,     \
               double *restrict e, double *restrict f), __VA_ARGS__)

// WRONG: invalid value 'both' in '-fregrain-parallelize-schedule=both': expected single, superposed or auto
// CUDA: _kernel0_rows(
// SINGLE: _kernel0(
// SINGLE-NOT: _kernel{{[0-9]+}}_rows(
// CHECK: superposed.c:[[#@LINE+4]]:{{.*}}launches of 1 kernel
// CHECK-NEXT: superposed schedule, as it is asked for: a thread for each point takes 33.0 transactions of 32 bytes for 32 rounds, a row of threads for each point takes 8.0 [
// AUTO: superposed.c:[[#@LINE+2]]:{{.*}}superposed schedule from 64 rounds on, single below: a thread for each point takes 33.0 {{.*}} takes 8.0 [
LINE(row_sums, {
  FOR(i, 0, n) {
    unsigned s = 5;
    FOR(j, 0, m) s += a[i * m + j] * b[j];
    c[i] = s;
  }
})
// AUTO: superposed.c:[[#@LINE+2]]:{{.*}}superposed schedule from 64 rounds on, single below: a thread for each point takes 33.0 {{.*}} takes 16.0 [
LINE(row_sums_in_memory, {
  FOR(i, 0, n) {
    f[i] = 0;
    FOR(j, 0, m) f[i] += d[i * m + j] * e[j];
  }
})
// Neighbours are beside each other: not worth it.
// AUTO: superposed.c:[[#@LINE+2]]:{{.*}}single schedule: a thread for each point takes 9.0 {{.*}} takes 40.0 [
LINE(column_sums, {
  FOR(i, 0, m) {
    double s = 0;
    FOR(j, 0, n) s += d[j * m + i] * e[j];
    f[i] = s;
  }
})
LINE(several, {
  FOR(i, 0, n) {
    unsigned least = ~0u;
    unsigned most = 7;
    unsigned bits = 0;
    unsigned all = ~0u;
    FOR(j, 0, m) {
      least = a[i * m + j] < least ? a[i * m + j] : least;
      most = a[i * m + j] > most ? a[i * m + j] : most;
      bits ^= a[i * m + j];
      all &= a[i * m + j] | 0x10001u;
    }
    c[i] = least + most * 3 + (bits | all);
  }
})
LINE(two_in_memory, { // Both in one loop, and what comes of them behind it.
  FOR(i, 0, n) {
    d[i] = 1;
    f[i] = 0;
    FOR(j, 0, m) {
      d[i] += e[j] * e[i];
      f[i] += e[i + j] * 2;
    }
    f[i] = 3 * d[i] + f[i];
  }
})
LINE(product, {
  FOR(i, 0, n) FOR(j, 0, m) c[i] *= a[i * m + j] | 1u;
})
LINE(triangle, { // Rows of several lengths, and a step.
  FOR(i, 0, n) {
    unsigned s = a[i];
    for (int j = i; j < m; j += 3) s |= a[i * m + j];
    c[i] = s;
  }
})
LINE(triangle_in_memory, {
  FOR(i, 0, n) for (int j = i; j < m; j += 3) c[i] -= a[i * m + j] * b[j];
})
LINE(cubes, { // Two loops for points, and two for sums.
  FOR(i, 0, n / 8 + 1) FOR(j, 0, 3) {
    unsigned s = 0;
    FOR(k, 0, 4) FOR(l, 0, m) s += a[i * 12 + j * 4 + k] * b[l];
    c[i * 3 + j] = s;
  }
})
LINE(cubes_in_memory, {
  FOR(i, 0, n / 8 + 1) FOR(j, 0, 3) FOR(k, 0, 4) FOR(l, 0, m) c[i * 3 + j] += a[i * 12 + j * 4 + k] * b[l];
})
LINE(again, { // What the first thread stores, all read.
  FOR(i, 0, n) {
    c[2 * i] = a[i] * 3;
    unsigned s = c[2 * i];
    FOR(j, 0, m) s += b[j] ^ c[2 * i];
    c[2 * i + 1] = s;
  }
})
LINE(under_conditions, {
  FOR(i, 0, n) {
    if (i != 3) {
      unsigned s = 0;
      FOR(j, 0, m) if (a[i * m + j] & 4) s += b[j];
      c[i] = s;
    }
  }
})
LINE(rounds_in_order, { // Sweeps that wait for one another, each of rows.
  FOR(t, 1, 5) FOR(i, 0, n) {
    unsigned s = 0;
    FOR(j, 0, m) s += a[j] * b[i + j];
    c[t * n + i] = s + c[(t - 1) * n + i];
  }
})
LINE(in_order, { // Not a sum: the loop is one thread's.
  FOR(i, 0, n) {
    unsigned s = 0;
    FOR(j, 0, m) s = s * 31 + a[i * m + j];
    c[i] = s;
  }
})

typedef void (*Line)(int, int, unsigned *, unsigned *, unsigned *, double *, double *, double *);
static const struct {
  const char *name;
  Line mine, twin;
} rows[] = {
#define ROW(name) {#name, name, name##_twin}
    ROW(row_sums), ROW(row_sums_in_memory), ROW(column_sums), ROW(several), ROW(two_in_memory), ROW(product),
    ROW(triangle), ROW(triangle_in_memory), ROW(cubes), ROW(cubes_in_memory), ROW(again), ROW(under_conditions),
    ROW(rounds_in_order), ROW(in_order),
};

int main(int argc, char **argv) {
  static const int pairs[][2] = {{0, 0}, {0, 5}, {5, 0}, {1, 1}, {17, 17}, {9, 33}, {3, 600}, {70, 65}, {1000, 40}, {33, 1000}};
  const int most = argc > 1 ? atoi(argv[1]) : 1000;
  for (unsigned p = 0; p < sizeof pairs / sizeof *pairs; p++)
    for (unsigned r = 0; r < sizeof rows / sizeof *rows; r++) {
      int n = pairs[p][0], m = pairs[p][1];
      if (n > most || m > most)
        continue;
      size_t large = (size_t)(n + 20) * (m + 20) + 5 * n + 4000, small = 5 * (n + m) + 4000;
      fresh(6, large * 4, small * 4, small * 4, large * 8, small * 8, small * 8);
      for (int k = 3; k < 6; k++) // Whole numbers, whose sums are exact in any order.
        for (size_t i = 0; i < arrays.bytes[k] / sizeof(double); i++)
          arrays.mine[k][i] = arrays.twins[k][i] = (double)(i * 7919 % 101);
      rows[r].mine(n, m, mine(0), mine(1), mine(2), mine(3), mine(4), mine(5));
      rows[r].twin(n, m, twin(0), twin(1), twin(2), twin(3), twin(4), twin(5));
      same(rows[r].name, n * 10000 + m);
    }
  return failures != 0;
}
