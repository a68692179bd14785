// What each thread reads once is not kept on the chip, though a loop of the same threads goes by pieces: it is read as often as there are threads, not
// as there are rounds.
// REQUIRES: cuda-toolkit
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-emit-cuda=cpu.cu %s -o once && ./once && FileCheck %s --input-file=cpu.cu
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=sm_80 -fregrain-parallelize %s -o emulated && ./emulated
// RUN: %regrain -O2 --offload-arch=sm_80 -fregrain-parallelize -fregrain-emit-cuda=gpu.cu -c %s -o gpu.o && FileCheck %s --input-file=gpu.cu
// CHECK: __global__ void
// CHECK-NOT: __shared__
// CHECK: extern "C"
#include <string.h>

enum { N = 700 };
static double a[N][N], x[N], y[N], z[N], wanted[N];

__attribute__((noinline)) static void sums(int n, double (*restrict a)[N], double *restrict x, const double *restrict y, const double *restrict z) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++)
      x[i] = x[i] + a[j][i] * y[j];
    x[i] = x[i] + z[i];
  }
}

int main(void) {
  for (int i = 0; i < N; i++) {
    x[i] = wanted[i] = i % 7, y[i] = i % 11, z[i] = i % 13;
    for (int j = 0; j < N; j++)
      a[i][j] = (i * 31 + j) % 17;
  }
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++)
      wanted[i] = wanted[i] + a[j][i] * y[j];
    wanted[i] = wanted[i] + z[i];
  }
  sums(N, a, x, y, z);
  return memcmp(x, wanted, sizeof x) != 0;
}
