// Threads beside the points go through pieces of a loop, too, where nobody sees what they compute, and nothing is accessed that may not be there.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -fregrain-emit-cuda=%t.cu %s -o %t && %t
// RUN: FileCheck %s < %t.cu
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=sm_80 -fregrain-parallelize -fregrain-parallelize-from=0 %s -o %t.sm && %t.sm
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=gfx90a -fregrain-parallelize -fregrain-parallelize-from=0 %s -o %t.gfx && %t.gfx
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -fregrain-check=memory,init,race %s -o %t.checked && %t.checked
#include "Inputs/twins.h"

// What is not read is zero in shared memory, no condition is asked around the rounds, and the first thread is not asked whether it is the first.
// CHECK-LABEL: void product_region0_
// CHECK: if (((n0 > t1) && (n0 > t0)))
// CHECK-NEXT: r2 = A2[
// CHECK: T0_0[threadIdx.y][threadIdx.x] = {{.*}} ? A0[{{.*}}] : 0;
// CHECK: __syncthreads();
// CHECK-NEXT: for (long c0 = k0;
TWINS(product, (int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n]), {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];
})

// The rounds of a statement's own loop alone: what is before and behind is in memory.
// CHECK-LABEL: void sums_region0_
// CHECK: if (((n0 > t0) && (n0 > t1))) {
// CHECK: s{{.*}} = (0.0);
// CHECK: __syncthreads();
// CHECK-NEXT: {
// CHECK-NEXT: const long
// CHECK: __syncthreads();
// CHECK: if (((n0 > t0) && (n0 > t1))) {
// CHECK: A2[
TWINS(sums, (int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n]), {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double s = 0;
      for (int k = 0; k < n; k++)
        s += a[i][k] * b[k][j];
      c[i][j] = s;
    }
})

// Threads above the diagonal have no point.
// CHECK-LABEL: void lower_region0_
// CHECK: ? A0[
TWINS(lower, (int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n]), {
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      for (int k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];
})

// Threads with a point of the first statement alone do nothing of the second.
TWINS(both, (int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n], double d[restrict n][n]), {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) {
        c[i][j] += a[i][k] * b[k][j];
        if (j < i)
          d[i][j] += a[i][k] + b[k][j];
      }
})

// What is read once is in memory, of which there is no more than threads with a point read.
// CHECK-LABEL: void weighted_region0_
// CHECK-NOT: ? A
// CHECK: __syncthreads();
// CHECK-NEXT: if (
TWINS(weighted, (int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n], double d[restrict n][n][n]), {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j] * d[i][j][k];
})

int main(void) {
  EACH(n) {
    size_t bytes = sizeof(double) * n * n;
    fresh(3, bytes, bytes, bytes);
    product(n, mine(0), mine(1), mine(2)), product_twin(n, twin(0), twin(1), twin(2));
    same("product", n);
    fresh(3, bytes, bytes, bytes);
    sums(n, mine(0), mine(1), mine(2)), sums_twin(n, twin(0), twin(1), twin(2));
    same("sums", n);
    fresh(3, bytes, bytes, bytes);
    lower(n, mine(0), mine(1), mine(2)), lower_twin(n, twin(0), twin(1), twin(2));
    same("lower", n);
    fresh(4, bytes, bytes, bytes, bytes);
    both(n, mine(0), mine(1), mine(2), mine(3)), both_twin(n, twin(0), twin(1), twin(2), twin(3));
    same("both", n);
    fresh(4, bytes, bytes, bytes, bytes * n);
    weighted(n, mine(0), mine(1), mine(2), mine(3)), weighted_twin(n, twin(0), twin(1), twin(2), twin(3));
    same("weighted", n);
  }
  return failures != 0;
}
