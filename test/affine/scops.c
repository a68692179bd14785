// What stands between `#pragma scop` and `#pragma endscop` is a region, and nothing else is.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -Rpass=regrain-parallelize \
// RUN:     -Rpass-missed=regrain-parallelize %s -o %t 2> %t.said && %t
// RUN: FileCheck %s < %t.said
// RUN: FileCheck %s --check-prefix=OTHER < %t.said
#include "Inputs/twins.h"

// CHECK-DAG: scops.c:[[#@LINE+4]]:{{.*}}loop runs in parallel: launches of {{[0-9]+}} {{kernels?}} stand for it and 1 behind it
// OTHER-NOT: scops.c:[[#@LINE+8]]:
static __attribute__((noinline)) void bounded(int n, double *restrict a, double *restrict b) {
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = a[i] * 0.5;
  for (int i = 1; i < n; i++)
    b[i] = a[i - 1] + 1.0;
#pragma endscop
  for (int i = 0; i < n; i++)
    b[i] = b[i] * 3.0;
}
static __attribute__((noinline, optnone)) void bounded_twin(int n, double *restrict a, double *restrict b) {
  for (int i = 0; i < n; i++)
    a[i] = a[i] * 0.5;
  for (int i = 1; i < n; i++)
    b[i] = a[i - 1] + 1.0;
  for (int i = 0; i < n; i++)
    b[i] = b[i] * 3.0;
}
// CHECK-DAG: scops.c:[[#@LINE+2]]:{{.*}}scop is no one region: more than loops in a row stands in it
static __attribute__((noinline)) void interrupted(int n, int *a) {
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = i;
  if (n > 3)
    for (int i = 0; i < n; i++)
      a[i] += 2;
#pragma endscop
}
// CHECK-DAG: scops.c:[[#@LINE+3]]:{{.*}}loop stays sequential: a subscript in it is not affine
static __attribute__((noinline)) void indirect(int n, int *restrict a, const int *restrict at) {
#pragma scop
  for (int i = 0; i < n; i++)
    a[at[i]] = i;
#pragma endscop
}
// CHECK-DAG: scops.c:[[#@LINE+2]]:{{.*}}scop is no one region: no loop stands in it
static __attribute__((noinline)) void empty(int *a) {
#pragma scop
  a[0]++;
#pragma endscop
}
// CHECK-DAG: scops.c:[[#@LINE+1]]:{{.*}}scop is no one region: the other pragma of its pair is missing
#pragma scop

int main(void) {
  EACH(n) {
    const size_t row = (n + 1) * sizeof(double);
    fresh(2, row, row);
    bounded(n, mine(0), mine(1)), bounded_twin(n, twin(0), twin(1));
    same("bounded", n);
  }
  int at[3] = {2, 0, 1}, a[5] = {0};
  interrupted(5, a), empty(a);
  failures += a[0] != 3 || a[4] != 6;
  indirect(3, a, at);
  failures += a[0] != 1 || a[1] != 2 || a[2] != 0;
  return failures != 0;
}
