// Loops that do not become functions of their own, and why.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -Rpass=regrain-parallelize -Rpass-missed=regrain-parallelize -c %s -o %t.o 2> %t.said
// RUN: FileCheck %s < %t.said

// CHECK-DAG: refusals.c:[[#@LINE+2]]:{{.*}}loop stays sequential: control leaves it at several places
int first(int n, const int *a) {
  for (int i = 0; i < n; i++)
    if (a[i] == 3)
      return i;
  return -1;
}
// CHECK-DAG: refusals.c:[[#@LINE+2]]:{{.*}}loop stays sequential: it accesses memory that others see
void seen(int n, volatile int *a) {
  for (int i = 0; i < n; i++)
    a[i] = i;
}
// CHECK-DAG: refusals.c:[[#@LINE+2]]:{{.*}}loop stays sequential: it has a statement that is not supported
void choose(int n, int *a, float *b) {
  for (int i = 0; i < n; i++)
    switch (a[i]) {
    case 0:
      a[i] = 4;
      break;
    case 1:
      b[i] = 2;
      break;
    case 5:
      b[i + 1] = 7;
      break;
    case 9:
      a[i + 2] = 1;
      break;
    default:
      b[2 * i] = 3;
    }
}
// CHECK-DAG: refusals.c:[[#@LINE+2]]:{{.*}}loop stays sequential: how often it goes round is not known before
void waiting(int *n, int *a) {
  for (int i = 0; i < *n; i++)
    a[i] = i;
}
