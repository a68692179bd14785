// Kernels that differ in the names of what they work on are one, with the parameters that it uses; what a thread writes first is not loaded.
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -fregrain-emit-cuda=%t.cu %s -o %t && %t
// RUN: FileCheck %s < %t.cu
#include "Inputs/twins.h"

// CHECK-LABEL: __global__ void products_group0_{{[0-9a-f]+}}_kernel0(long first_t0, long first_t1, long n0, const float *__restrict__ A{{[0-9]}}, const float *__restrict__ A{{[0-9]}}, float * A
// CHECK: float r[[#ARRAY:]] = 0;
// CHECK-NEXT: if (((n0 > b_t1) && (n0 > b_t0))) {
// CHECK-NOT: __global__
// CHECK: extern "C" int regrain_products_group0
// CHECK: _kernel0<<<{{.*}}>>>(first_t0, first_t1, n0, A[[#A:]], A[[#B:]], A[[#C:]]);
// CHECK: _kernel0<<<{{.*}}>>>(first_t0, first_t1, n0, A[[#C]], A[[#A]], A{{[0-9]}});
// CHECK-NOT: <<<
TWINS(products, (int n, const float *restrict a, const float *restrict b, float *restrict c, float *restrict d), {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      c[i * n + j] = 0;
      for (int k = 0; k < n; k++)
        c[i * n + j] += a[i * n + k] * b[k * n + j];
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      d[i * n + j] = 0;
      for (int k = 0; k < n; k++)
        d[i * n + j] += c[i * n + k] * a[k * n + j];
    }
})

// CHECK-LABEL: __global__ void sums_region0_{{[0-9a-f]+}}_kernel0(
// CHECK: float r[[#ARRAY:]] = 0;
// CHECK-NEXT: if ({{.*}})
// CHECK-NEXT: r[[#ARRAY]] = A[[#ARRAY]][
TWINS(sums, (int n, const float *restrict a, float *restrict c), {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        c[i * n + j] += a[k * n + i] * a[k * n + j];
})

// The first rounds of a thread read what was there.
// CHECK-LABEL: __global__ void restarts_region0_{{[0-9a-f]+}}_kernel0(
// CHECK: float r[[#ARRAY:]] = 0;
// CHECK-NEXT: if ({{.*}})
// CHECK-NEXT: r[[#ARRAY]] = A[[#ARRAY]][
TWINS(restarts, (int n, const float *restrict a, float *restrict c), {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) {
      if (k == 5)
        c[i] = 1;
      c[i] = c[i] * 0.5f + a[i * n + k];
    }
})

int main(void) {
  EACH(n) {
    size_t row = n * sizeof(float), square = n * row;
    fresh(4, square, square, square, square);
    products(n, mine(0), mine(1), mine(2), mine(3)), products_twin(n, twin(0), twin(1), twin(2), twin(3));
    same("products", n);
    fresh(2, square, square);
    sums(n, mine(0), mine(1)), sums_twin(n, twin(0), twin(1));
    same("sums", n);
    fresh(2, square, row);
    restarts(n, mine(0), mine(1)), restarts_twin(n, twin(0), twin(1));
    same("restarts", n);
  }
  return failures != 0;
}
