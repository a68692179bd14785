// Sums in memory, loops that count down, and values that loops behind them use.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -Rpass=regrain-parallelize \
// RUN:     -Rpass-missed=regrain-parallelize %s -o %t 2> %t.said && %t
// RUN: FileCheck %s < %t.said
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=sm_80 -fregrain-parallelize -fregrain-parallelize-from=0 %s -o %t.sm && %t.sm
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=gfx90a -fregrain-parallelize -fregrain-parallelize-from=0 %s -o %t.gfx && %t.gfx
#include "Inputs/twins.h"

// CHECK-DAG: memory-sums.c:[[#@LINE+2]]:{{.*}}loop runs in parallel: launches of 2 kernels
TWINS(sum_at, (int n, unsigned *a, unsigned *b), {
  for (int i = 0; i < n; i++)
    *b += a[i];
})
// Two places of one array are not told apart.
// CHECK-DAG: memory-sums.c:[[#@LINE+2]]:{{.*}}loop stays sequential: its iterations depend on one another
TWINS(two_sums, (int n, unsigned *restrict a, unsigned *restrict b), {
  for (int i = 0; i < n; i++) {
    b[0] += a[i];
    b[3] ^= a[i] * 3;
  }
})
// What is summed up is in the array that is read: in order.
// CHECK-DAG: memory-sums.c:[[#@LINE+2]]:{{.*}}loop stays sequential: its iterations depend on one another
TWINS(sum_within, (int n, unsigned *a), {
  for (int i = 1; i < n; i++)
    a[0] += a[i];
})
// In floating point the order matters.
// CHECK-DAG: memory-sums.c:[[#@LINE+2]]:{{.*}}loop stays sequential: its iterations depend on one another
TWINS(in_order, (int n, double *restrict a, double *restrict b), {
  for (int i = 0; i < n; i++)
    *b += a[i];
})
// CHECK-DAG: memory-sums.c:[[#@LINE+2]]:{{.*}}loop runs in parallel: launches of 1 kernel
TWINS(down, (int n, double *restrict a, double *restrict b), {
  for (int i = n - 1; i >= 0; i--)
    a[i] = a[i] * 0.5 + b[i];
})
// CHECK-DAG: memory-sums.c:[[#@LINE+2]]:{{.*}}loop runs in parallel: launches of 1 kernel
TWINS(down_by_twos, (int n, int m, double a[n][m], double b[n][m]), {
  for (int i = n - 1; i > 0; i -= 2)
    for (int j = m; j > 0; j--)
      a[i][j - 1] += b[i - 1][j - 1];
})
// Each round needs the one before, which has the larger number.
// CHECK-DAG: memory-sums.c:[[#@LINE+2]]:{{.*}}loop stays sequential: its iterations depend on one another
TWINS(down_in_order, (int n, double *a), {
  for (int i = n - 2; i >= 0; i--)
    a[i] = a[i] * 0.5 + a[i + 1];
})
// What is loaded before the loop belongs to its rounds.
// CHECK-DAG: memory-sums.c:[[#@LINE+2]]:{{.*}}loop runs in parallel: launches of 1 kernel
TWINS(scaled, (int n, double *restrict a, double *restrict b), {
  for (int i = 0; i < n; i++) {
    double by = b[i] * 2;
    for (int j = 0; j < n; j++)
      a[j] = a[j] * 0.5 + by;
  }
})
// It is changed behind: it stays what it was.
TWINS(changed, (int n, double *restrict a, double *restrict b), {
  for (int i = 0; i < n; i++) {
    double by = b[i];
    for (int j = 0; j < n; j++) {
      a[j] += by;
      b[j] = by * 0.25;
    }
  }
})

int main(void) {
  EACH(n) {
    const size_t row = (n + 8) * sizeof(double);
    fresh(2, row, row);
    sum_at(n, mine(0), mine(1)), sum_at_twin(n, twin(0), twin(1));
    same("sum_at", n);
    for (int place = 0; place < 3; place++) {
      fresh(1, row);
      sum_at(n, mine(0), (unsigned *)mine(0) + place), sum_at_twin(n, twin(0), (unsigned *)twin(0) + place);
      same("sum_at of what it reads", n);
    }
    fresh(2, row, row);
    two_sums(n, mine(0), mine(1)), two_sums_twin(n, twin(0), twin(1));
    same("two_sums", n);
    fresh(1, row);
    sum_within(n, mine(0)), sum_within_twin(n, twin(0));
    same("sum_within", n);
    fresh(2, row, row);
    in_order(n, mine(0), mine(1)), in_order_twin(n, twin(0), twin(1));
    same("in_order", n);
    fresh(2, row, row);
    down(n, mine(0), mine(1)), down_twin(n, twin(0), twin(1));
    same("down", n);
    fresh(2, row * (n + 8), row * (n + 8));
    down_by_twos(n, n + 3, mine(0), mine(1)), down_by_twos_twin(n, n + 3, twin(0), twin(1));
    same("down_by_twos", n);
    fresh(1, row);
    down_in_order(n, mine(0)), down_in_order_twin(n, twin(0));
    same("down_in_order", n);
    fresh(2, row, row);
    scaled(n, mine(0), mine(1)), scaled_twin(n, twin(0), twin(1));
    same("scaled", n);
    fresh(2, row, row);
    changed(n, mine(0), mine(1)), changed_twin(n, twin(0), twin(1));
    same("changed", n);
  }
  // No round, no access.
  sum_at(0, NULL, NULL);
  return failures != 0;
}
