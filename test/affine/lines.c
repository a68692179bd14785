// Nests of many statements whose outer loops go through lines with elements of their own: a thread goes down each, as the program does.
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -Rpass=regrain-parallelize -Rpass-missed=regrain-parallelize %s -o %t 2> %t.err && %t
// RUN: FileCheck %s < %t.err
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=sm_80 -fregrain-parallelize -fregrain-parallelize-from=0 -Rpass=regrain-parallelize -Rpass-missed=regrain-parallelize %s -o %t.emulated 2> %t.emulated.err && %t.emulated
// RUN: FileCheck %s --check-prefix=EMULATED < %t.emulated.err
#include "Inputs/twins.h"

#define AT(array, i) array[((i) * n + k) * n + j]
#define TWICE(...) __VA_ARGS__ __VA_ARGS__
#define DOWN(...)                                                                                                      \
  for (int i = 1; i < m; i++) {                                                                                        \
    __VA_ARGS__                                                                                                        \
  }

// CHECK-DAG: lines.c:[[#@LINE+3]]:1: remark: loop runs in parallel: launches of 1 kernel stand for it
// EMULATED-DAG: lines.c:[[#@LINE+2]]:1: remark: loop runs in parallel: launches of {{[0-9]+}} kernel
TWINS(columns, (int n, int m, const double *restrict u, double *restrict a, double *restrict b), {
  for (int k = 0; k < n; k++)
    for (int j = 0; j < n; j++) {
      if (m > 0) {
        AT(a, 0) = 1;
        AT(b, 0) += AT(u, 0);
      }
      DOWN(AT(a, i) = 0.5 * AT(u, i - 1); AT(b, i) += AT(u, i);)
      DOWN(double factor = 1 / (1 + AT(a, i - 1)); AT(a, i) *= factor; AT(b, i) -= AT(a, i) * AT(b, i - 1);
           AT(a, i) = AT(a, i) < 0.25 ? AT(a, i) : 0.25;)
      for (int i = m - 2; i >= 0; i--)
        AT(b, i) -= AT(a, i) * AT(b, i + 1);
      DOWN(AT(a, i - 1) += AT(b, i); AT(b, i) *= 0.5;)
      DOWN(AT(a, i) -= AT(a, i - 1); AT(b, i) += AT(a, i - 1);)
    }
})

// All lines go on by a step together.
// CHECK-DAG: lines.c:[[#@LINE+3]]:1: remark: loop runs in parallel: launches of 1 kernel stand for it
// EMULATED-DAG: lines.c:[[#@LINE+2]]:1: remark: loop runs in parallel: launches of {{[0-9]+}} kernel
TWINS(steps, (int n, int m, const double *restrict u, double *restrict a, double *restrict b), {
  DOWN(for (int k = 0; k < n; k++) for (int j = 0; j < n; j++) {
    TWICE(TWICE(for (int c = 0; c < 3; c++) AT(b, i) += AT(a, i - 1) * c; for (int c = 0; c < 3; c++) AT(a, i) -= AT(b, i - 1) * c;
                for (int c = 0; c < 2; c++) AT(b, i - 1) = AT(b, i - 1) * AT(u, i) + AT(a, i);))
  })
})

// So few lines are no work for a processor.
// CHECK-DAG: lines.c:[[#@LINE+3]]:1: remark: loop runs in parallel: launches of {{[2-9]|[0-9][0-9]}} kernels stand for it
TWINS(few, (int m, const double *restrict u, double *restrict a, double *restrict b), {
  enum { n = 3 };
  for (int k = 0; k < n; k++)
    for (int j = 0; j < n; j++) {
      DOWN(AT(a, i) = 0.5 * AT(u, i - 1); AT(b, i) += AT(u, i);)
      DOWN(AT(a, i) += 0.5 * AT(u, i); AT(b, i) += AT(u, i - 1);)
      DOWN(AT(a, i) *= AT(u, i); AT(b, i) *= AT(u, i - 1);)
      DOWN(AT(a, i) -= AT(u, i); AT(b, i) -= AT(u, i - 1);)
      DOWN(AT(b, i) -= AT(a, i) * AT(b, i - 1);)
    }
})

// A line has elements of the next one.
// CHECK-DAG: lines.c:[[#@LINE+2]]:1: remark: loop runs in parallel: launches of {{[2-9]|[0-9][0-9]}} kernels stand for it
TWINS(crossing, (int n, int m, const double *restrict u, double *restrict a, double *restrict b), {
  for (int k = 0; k < n; k++)
    for (int j = 0; j < n - 1; j++) {
      DOWN(AT(a, i) = 0.5 * AT(u, i - 1); AT(b, i) += AT(u, i);)
      DOWN(AT(a, i) += 0.5 * AT(u, i); AT(b, i) += AT(u, i - 1);)
      DOWN(AT(a, i) *= AT(u, i); AT(b, i) *= AT(u, i - 1);)
      DOWN(AT(a, i) -= AT(u, i); AT(b, i) += a[(i * n + k) * n + j + 1];)
      DOWN(AT(b, i) -= AT(a, i) * AT(b, i - 1);)
    }
})

// More statements than isl is asked about.
// CHECK-DAG: lines.c:[[#@LINE+3]]:1: remark: loop runs in parallel: launches of 1 kernel stand for it
// EMULATED-DAG: lines.c:[[#@LINE+2]]:1: remark: loop runs in parallel: launches of 1 kernel stand for it
TWINS(many, (int n, int m, const double *restrict u, double *restrict a, double *restrict b), {
  for (int k = 0; k < n; k++)
    for (int j = 0; j < n; j++) {
      TWICE(TWICE(TWICE(DOWN(AT(a, i) = 0.5 * AT(u, i - 1) + AT(a, i - 1); AT(b, i) += AT(a, i);)
                        DOWN(AT(a, i) += 0.25 * AT(b, i); AT(b, i) *= 0.5; AT(a, i - 1) *= 0.75; AT(a, i) -= AT(b, i - 1);))))
    }
})

int main(void) {
  EACH(n) {
    for (int m = 0; m < 40; m += 13) {
      size_t bytes = (size_t)n * n * m * sizeof(double);
      fresh(3, bytes, bytes, bytes);
      columns(n, m, mine(0), mine(1), mine(2)), columns_twin(n, m, twin(0), twin(1), twin(2));
      same("columns", n);
      fresh(3, bytes, bytes, bytes);
      crossing(n, m, mine(0), mine(1), mine(2)), crossing_twin(n, m, twin(0), twin(1), twin(2));
      same("crossing", n);
      fresh(3, bytes, bytes, bytes);
      many(n, m, mine(0), mine(1), mine(2)), many_twin(n, m, twin(0), twin(1), twin(2));
      same("many", n);
      fresh(3, bytes, bytes, bytes);
      steps(n, m, mine(0), mine(1), mine(2)), steps_twin(n, m, twin(0), twin(1), twin(2));
      same("steps", n);
    }
    size_t bytes = 9 * (size_t)n * sizeof(double);
    fresh(3, bytes, bytes, bytes);
    few(n, mine(0), mine(1), mine(2)), few_twin(n, twin(0), twin(1), twin(2));
    same("few", n);
  }
  return failures != 0;
}
