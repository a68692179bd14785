// Nests of many statements that are no lines run as they are written: loops that carry nothing are threads, the others are the host's or a thread's.
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -Rpass=regrain-parallelize -Rpass-missed=regrain-parallelize %s -o %t -fregrain-emit-cuda=%t.cu 2> %t.err && %t
// RUN: FileCheck %s < %t.err
// RUN: FileCheck %s --check-prefix=CUDA < %t.cu
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=sm_80 -fregrain-parallelize -fregrain-parallelize-from=0 %s -o %t.emulated && %t.emulated
#include "Inputs/twins.h"

#define TWICE(...) __VA_ARGS__ __VA_ARGS__
#define AT(c, i) a[(((c) * n + (i)) * n + j) * n + k]
#define DOWN(c) AT(m + (c), i + 1) -= AT(m + (c), i) * AT(m + (c) + 2, i);

// The first loop has few rounds, the second one carries sums: each plane of a round is a launch of threads for its points, and so is what comes behind.
// CHECK-DAG: written.c:[[#@LINE+11]]:1: remark: loop runs in parallel: launches of 2 kernels stand for it
// CUDA: __global__ void planes_{{.*}}(long first_t0, long first_t1, long n0, long h0, long h1,
// CUDA: const long i0 = (long)h0;
// CUDA-NEXT: const long i1 = (long)h1;
// CUDA-NEXT: const long i2 = (long)t0;
// CUDA-NEXT: const long i3 = (long)t1;
// CUDA: __global__ void planes_
// CUDA: const long i0 = (long)h0;
// CUDA-NEXT: const long i4 = (long)t0;
// CUDA-NEXT: const long i5 = (long)t1;
TWINS(planes, (int n, const double *restrict u, double *restrict a), {
  for (int m = 0; m < 2; m++) {
    for (int i = 0; i < n - 1; i++)
      for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++) {
          DOWN(0) DOWN(2) DOWN(4) DOWN(6) DOWN(8) DOWN(10) DOWN(12) DOWN(14) DOWN(16)
        }
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        AT(m, n - 1) *= u[j * n + k];
  }
})

// More statements than isl is asked about.
// CHECK-DAG: written.c:[[#@LINE+2]]:1: remark: loop runs in parallel: launches of 1 kernel stand for it
TWINS(many, (int n, int m, const double *restrict u, double *restrict a), {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      TWICE(TWICE(TWICE(a[i * n + j] += u[i * n + j]; a[i * n] *= 0.5; a[i * n + j] *= 0.25; a[i * n + n - 1] += a[i * n + j];
                        a[i * n + j] -= u[j]; a[i * n + (n - 1 - j)] += 0.125;)))
    }
})

int main(void) {
  for (int n = 2; n < 40; n += 9) {
    size_t cube = (size_t)n * n * n * sizeof(double);
    fresh(2, cube, 20 * cube);
    planes(n, mine(0), mine(1)), planes_twin(n, twin(0), twin(1));
    same("planes", n);
    fresh(2, cube, cube);
    many(n, n, mine(0), mine(1)), many_twin(n, n, twin(0), twin(1));
    same("many", n);
  }
  return failures != 0;
}
