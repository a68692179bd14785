// Loops that follow one another are one region, whose arrays stay on the device; with them what stands between.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -Rpass=regrain-parallelize \
// RUN:     -Rpass-missed=regrain-parallelize -fregrain-emit-cuda=%t.cu %s -o %t 2> %t.said && %t
// RUN: FileCheck %s < %t.said
// RUN: FileCheck %s --check-prefix=CODE < %t.cu
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=sm_80 -fregrain-parallelize -fregrain-parallelize-from=0 %s -o %t.sm && %t.sm
#include "Inputs/twins.h"

// CHECK-DAG: groups.c:[[#@LINE+3]]:{{.*}}loop runs in parallel: launches of {{[0-9]+}} {{kernels?}} stand for it and 1 behind it
// CODE: extern "C" int regrain_sweeps_group0_
TWINS(sweeps, (int n, float *a, float *b), {
  for (int i = 1; i < n - 1; i++)
    b[i] = a[i - 1] + a[i + 1];
  for (int i = 1; i < n - 1; i++)
    a[i] = b[i] * 0.5f;
})
// What the first computes is used by what is between, and by the second.
// CHECK-DAG: groups.c:[[#@LINE+3]]:{{.*}}loop runs in parallel: launches of 4 kernels stand for it and 1 behind it
TWINS(centre, (int n, int *restrict a, int *restrict least), {
  int s = 1 << 30;
  for (int i = 0; i < n; i++)
    s = a[i] < s ? a[i] : s;
  *least = s;
  for (int i = 0; i < n; i++)
    a[i] = a[i] - s;
})
// A call that others see is a border.
// CHECK-DAG: groups.c:[[#@LINE+5]]:{{.*}}loop runs in parallel: launches of 1 kernel stand for it [
// CHECK-DAG: groups.c:[[#@LINE+7]]:{{.*}}loop runs in parallel: launches of 1 kernel stand for it [
static int calls;
static __attribute__((noinline)) void called(void) { calls++; }
TWINS(apart, (int n, int *a, int *b), {
  for (int i = 0; i < n; i++)
    a[i] = i;
  called();
  for (int i = 0; i < n; i++)
    b[i] = i * 3;
})
// One that is not affine keeps the others apart from it.
// CHECK-DAG: groups.c:[[#@LINE+4]]:{{.*}}loop is apart from 1 behind it: a subscript in it is not affine
// CHECK-DAG: groups.c:[[#@LINE+3]]:{{.*}}loop runs in parallel: launches of 1 kernel stand for it [
// CHECK-DAG: groups.c:[[#@LINE+4]]:{{.*}}loop stays sequential: a subscript in it is not affine
TWINS(mixed, (int n, int *restrict a, int *restrict b), {
  for (int i = 0; i < n; i++)
    a[i] = i * 5 & 7;
  for (int i = 0; i < n; i++)
    b[a[i]] = i;
})
// A loop whose rounds wait for one another does not go to the device along with one whose do not.
// CHECK-DAG: groups.c:[[#@LINE+3]]:{{.*}}loop is apart from 1 behind it: its iterations depend on one another
// CHECK-DAG: groups.c:[[#@LINE+2]]:{{.*}}loop stays sequential: its iterations depend on one another
TWINS(slow, (int n, float *restrict a, float *restrict b), {
  for (int i = 1; i < n; i++)
    a[i] = a[i] * 0.5f + a[i - 1];
  for (int i = 0; i < n; i++)
    b[i] = b[i] * 2.0f;
})
// Within a loop that is no region itself.
// CHECK-DAG: groups.c:[[#@LINE+4]]:{{.*}}loop runs in parallel: launches of {{[0-9]+}} {{kernels?}} stand for it and 2 behind it
TWINS(until, (int n, int *restrict a, int *restrict b), {
  int moved = 1;
  while (moved) {
    for (int i = 0; i < n; i++)
      b[i] = a[i] / 2;
    moved = 0;
    for (int i = 0; i < n; i++)
      moved |= a[i] != b[i];
    for (int i = 0; i < n; i++)
      a[i] = b[i];
  }
})

int main(void) {
  EACH(n) {
    const size_t row = (n + 8) * sizeof(double);
    fresh(2, row, row);
    sweeps(n, mine(0), mine(1)), sweeps_twin(n, twin(0), twin(1));
    same("sweeps", n);
    fresh(2, row, row);
    centre(n, mine(0), mine(1)), centre_twin(n, twin(0), twin(1));
    same("centre", n);
    fresh(2, row, row);
    apart(n, mine(0), mine(1)), apart_twin(n, twin(0), twin(1));
    same("apart", n);
    for (int distance = -2; distance <= 2; distance++) {
      fresh(1, row);
      sweeps(n, mine(0), (float *)mine(0) + distance), sweeps_twin(n, twin(0), (float *)twin(0) + distance);
      same("sweeps that overlap", n);
    }
    fresh(2, row, row);
    mixed(n, mine(0), mine(1)), mixed_twin(n, twin(0), twin(1));
    same("mixed", n);
    fresh(2, row, row);
    slow(n, mine(0), mine(1)), slow_twin(n, twin(0), twin(1));
    same("slow", n);
    fresh(2, row, row);
    until(n, mine(0), mine(1)), until_twin(n, twin(0), twin(1));
    same("until", n);
  }
  return failures != 0 || calls == 0;
}
