// Statements of one loop whose strides begin at other places, or at the same, as parameters have it, stay in their order.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -Rpass=regrain-parallelize %s -o %t 2> %t.said && %t
// RUN: FileCheck %s < %t.said
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=sm_80 -fregrain-parallelize -fregrain-parallelize-from=0 %s -o %t.sm && %t.sm
#include "Inputs/twins.h"

// CHECK: strides.c:[[#@LINE+2]]:{{.*}}loop runs in parallel
TWINS(halves, (int n, int a[68][68], int *restrict c, int *restrict d), {
  for (int i = 0; i < n - 1; i++) {
    a[i + 6][i + 6] = i;
    for (int j = 0; j < i + 1; j += 2) {
      for (int k = 0; k < i + 1; k += 2)
        a[k + i + 3][i + 5] = j;
      for (int k = 3; k < n - 1; k++) {
        int s = 5;
        for (int l = 0; l < n; l++)
          s = (int)((unsigned)c[2 * l + 4] * (unsigned)i) - s;
        a[j + 2][n - k + 5] = s;
        a[n - k + 2][2 * j + 5] = d[n - i + 6];
      }
    }
  }
})

// Threads go by what a division leaves of the size and of their number: a remainder that the number was left out of had none of them do the last statement.
// CHECK: strides.c:[[#@LINE+2]]:{{.*}}loop runs in parallel
TWINS(remainders, (int n, int a[68][68]), {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n - 1; j += 2)
      for (int k = 0; k < n; k++)
        a[1][n - k + 4] = 2;
    for (int j = i; j < n; j += 2)
      for (int k = 0; k < n - i; k++) {
        a[k + i + 4][n - i + 6] = 7;
        a[j + 1][2 * j + 4] = a[j + 5][2 * j + 7] + k + a[2][2 * i + 7];
      }
  }
})

int main(void) {
  for (int n = 0; n < 24; n++) {
    fresh(3, sizeof(int[68][68]), sizeof(int[80]), sizeof(int[80]));
    // Sums stay in range.
    for (int i = 0; i < 80; i++)
      ((int *)mine(1))[i] = ((int *)twin(1))[i] = i * 7919 % 101;
    halves(n, mine(0), mine(1), mine(2)), halves_twin(n, twin(0), twin(1), twin(2));
    same("halves", n);
    fresh(1, sizeof(int[68][68]));
    for (int i = 0; i < 68 * 68; i++)
      ((int *)mine(0))[i] = ((int *)twin(0))[i] = i * 7919 % 101;
    remainders(n, mine(0)), remainders_twin(n, twin(0));
    same("remainders", n);
  }
  return failures != 0;
}
