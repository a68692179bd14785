// Bounds, steps, offsets, signs, types, and what is only known when the program runs.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -Rpass=regrain-parallelize \
// RUN:     -Rpass-missed=regrain-parallelize %s -o %t 2> %t.said && %t
// RUN: FileCheck %s < %t.said
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=sm_80 -fregrain-parallelize -fregrain-parallelize-from=0 %s -o %t.sm && %t.sm
#include "Inputs/twins.h"

// CHECK-DAG: bounds.c:[[#@LINE+2]]:{{.*}}loop runs in parallel
TWINS(step, (int n, int *a), {
  for (int i = 1; i < n; i += 2)
    a[i] = a[i - 1] * 3 + i;
})
// CHECK-DAG: bounds.c:[[#@LINE+2]]:{{.*}}loop runs in parallel
TWINS(longs, (long n, long *a), {
  for (long i = 3; i <= n - 2; i += 3)
    a[i + 1] = a[i] ^ (i << 3);
})
// CHECK-DAG: bounds.c:[[#@LINE+2]]:{{.*}}loop runs in parallel
TWINS(sizes_without_sign, (size_t n, short *a, const signed char *b), {
  for (size_t i = 0; i < n; i++)
    a[i] = (short)(a[i] * 3 + b[i]);
})
// CHECK-DAG: bounds.c:[[#@LINE+2]]:{{.*}}loop stays sequential: an index in it may wrap around
TWINS(unsigned_indices, (unsigned n, unsigned *a), {
  for (unsigned i = 0; i < n; i++)
    for (unsigned j = 0; j < n; j++)
      a[i * n + j] = a[i * n + j] * 2654435761u + (i << 4) - j / 3u;
})
// CHECK-DAG: bounds.c:[[#@LINE+4]]:{{.*}}loop runs in parallel
TWINS(extremes, (int n, int m, int *a), {
  int low = n > m ? n : m;
  int high = n + m < 60 ? n + m : 60;
  for (int i = low; i < high; i++)
    a[i] = a[i] - 5;
})
// CHECK-DAG: bounds.c:[[#@LINE+2]]:{{.*}}loop runs in parallel
TWINS(rows, (int n, int m, double *a, double *b), {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i * m + j] = b[(n - 1 - i) * m + j] * 2.0;
})
// Rows that overlap: what is left of the sizes, where the subscript is within its row, is a single row.
// CHECK-DAG: bounds.c:[[#@LINE+2]]:{{.*}}loop stays sequential: its iterations depend on one another
TWINS(overlapping_rows, (int n, int m, double *a), {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 2 * m; j++)
      a[i * m + j] = a[i * m + j] * 0.5 + i;
})
// The second may be a part of the first.
// CHECK-DAG: bounds.c:[[#@LINE+2]]:{{.*}}loop runs in parallel
TWINS(perhaps_the_same, (int n, int *a, int *b), {
  for (int i = 0; i < n; i++)
    a[i] = b[i] + 1;
})
// CHECK-DAG: bounds.c:[[#@LINE+2]]:{{.*}}loop runs in parallel
TWINS(conditions, (int n, int k, float *a, float *b), {
  for (int i = 0; i < n; i++) {
    if (i > 3 && i != k)
      a[i] = b[i] * 2;
    else if (b[i] > 1.0f)
      a[i] = 7;
    if (i < k)
      b[i] = a[i];
  }
})
// CHECK-DAG: bounds.c:[[#@LINE+2]]:{{.*}}loop runs in parallel
TWINS(half, (int n, int *a), {
  for (int i = 0; i < n / 2; i++)
    a[2 * i + 1] = a[2 * i] - n / 2;
})
// CHECK-DAG: bounds.c:[[#@LINE+2]]:{{.*}}loop runs in parallel
TWINS(swap, (int n, int *restrict a, int *restrict b), {
  for (int i = 0; i < n; i++) {
    int kept = a[i];
    a[i] = b[n - 1 - i];
    b[n - 1 - i] = kept;
  }
})
static double table[40][50];
static int marks[90];
static double table_twin[40][50];
static int marks_twin[90];
// CHECK-DAG: bounds.c:[[#@LINE+2]]:{{.*}}loop runs in parallel
static __attribute__((noinline)) void variables(int n, int m) {
  for (int i = 0; i < n; i++)
    for (int j = 1; j < m; j++) {
      table[i][j - 1] = marks[j] + 0.25 * i;
      marks[i + j] = 3;
    }
  for (int i = 0; i < n; i++)
    marks[i] = (int)table[i][7];
}
static __attribute__((noinline, optnone)) void variables_twin(int n, int m) {
  for (int i = 0; i < n; i++)
    for (int j = 1; j < m; j++) {
      table_twin[i][j - 1] = marks_twin[j] + 0.25 * i;
      marks_twin[i + j] = 3;
    }
  for (int i = 0; i < n; i++)
    marks_twin[i] = (int)table_twin[i][7];
}
// CHECK-DAG: bounds.c:[[#@LINE+2]]:{{.*}}loop stays sequential: a subscript in it is not affine
TWINS(indirect, (int n, int *restrict a, const int *restrict at), {
  for (int i = 0; i < n; i++)
    a[at[i] & 15] = i;
})
// CHECK-DAG: bounds.c:[[#@LINE+2]]:{{.*}}loop stays sequential: it calls a function
TWINS(calls, (int n, int *a), {
  for (int i = 0; i < n; i++)
    a[i] = abs(rand());
})
// CHECK-DAG: bounds.c:[[#@LINE+3]]:{{.*}}loop runs in parallel
TWINS(last, (int n, int *a), {
  int i;
  for (i = 0; i < n; i++)
    a[i] = i;
  a[i] = -1;
})

int main(void) {
  EACH(n) {
    const size_t row = 4 * n * sizeof(double), square = n * row;
    fresh(2, row, row);
    step(n, mine(0)), step_twin(n, twin(0));
    longs(n, mine(1)), longs_twin(n, twin(1));
    same("steps", n);
    fresh(2, row, row);
    sizes_without_sign(n, mine(0), mine(1)), sizes_without_sign_twin(n, twin(0), twin(1));
    same("size_t", n);
    fresh(1, square);
    unsigned_indices(n, mine(0)), unsigned_indices_twin(n, twin(0));
    same("unsigned", n);
    fresh(1, row + 512);
    extremes(n, 20, mine(0)), extremes_twin(n, 20, twin(0));
    extremes(9, n, mine(0)), extremes_twin(9, n, twin(0));
    same("extremes", n);
    fresh(2, square, square);
    rows(n, 5, mine(0), mine(1)), rows_twin(n, 5, twin(0), twin(1));
    same("rows", n);
    fresh(1, square + 64);
    overlapping_rows(n, 3, mine(0)), overlapping_rows_twin(n, 3, twin(0));
    same("overlapping rows", n);
    for (int distance = -3; distance <= 3; distance++) {
      fresh(1, row);
      perhaps_the_same(n, mine(0), (int *)mine(0) + distance), perhaps_the_same_twin(n, twin(0), (int *)twin(0) + distance);
      same("arrays that overlap", n);
    }
    fresh(2, row, row);
    conditions(n, 11, mine(0), mine(1)), conditions_twin(n, 11, twin(0), twin(1));
    same("conditions", n);
    fresh(3, row, row, row);
    half(n, mine(0)), half_twin(n, twin(0));
    swap(n, mine(1), mine(2)), swap_twin(n, twin(1), twin(2));
    same("half and swap", n);
    fresh(2, row + 64, row);
    indirect(n, mine(0), mine(1)), indirect_twin(n, twin(0), twin(1));
    last(n, mine(1)), last_twin(n, twin(1));
    same("what stays", n);
    variables(n < 40 ? n : 40, n < 49 ? n : 49), variables_twin(n < 40 ? n : 40, n < 49 ? n : 49);
    if (memcmp(table, table_twin, sizeof table) != 0 || memcmp(marks, marks_twin, sizeof marks) != 0) {
      printf("variables differ for size %d\n", n);
      failures++;
    }
  }
  int same_number = 0;
  srand(1), calls(1, &same_number);
  return failures != 0;
}
