// Blocks of threads without loops are pieces of rows on processors, where rows are long enough and there are not too many of them.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -fregrain-emit-cuda=%t.cu %s -o %t && %t
// RUN: FileCheck %s < %t.cu
// RUN: %regrain -O2 --offload-arch=sm_80 -fregrain-parallelize -fregrain-emit-cuda=%t.sm.cu -c %s -o %t.sm.o
// RUN: FileCheck %s --check-prefix=GPU < %t.sm.cu
#include <string.h>

// CHECK-LABEL: regrain_sum
// CHECK: if (last_t1 - first_t1 >= 255L && last_t0 - first_t0 < 65535L)
// CHECK-NEXT: kernel0<<<dim3((unsigned)((last_t1 - first_t1) / 256 + 1), (unsigned)((last_t0 - first_t0) / 1 + 1)), dim3(256, 1)>>>
// CHECK-NEXT: else
// CHECK-NEXT: kernel0<<<{{.*}} dim3(32, 8)>>>
// GPU-LABEL: regrain_sum
// GPU-NOT: dim3(256, 1)
static void sum(int rows, int n, double *restrict a, const double *restrict b) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < n; j++)
      a[i * n + j] += b[i * n + j];
}

// CHECK-LABEL: regrain_cube
// CHECK: if (last_t2 - first_t2 >= 255L && last_t0 - first_t0 < 65535L && last_t1 - first_t1 < 65535L)
// CHECK-NEXT: dim3(256, 1, 1)>>>
static void cube(int rows, int n, double *restrict a, const double *restrict b) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < rows; j++)
      for (int k = 0; k < n; k++)
        a[(i * rows + j) * n + k] = 2 * b[(i * rows + j) * n + k];
}

// A thread with a loop of its own.
// CHECK-LABEL: regrain_product
// CHECK-NOT: dim3(256, 1)
// CHECK: dim3(32, 8)>>>
static void product(int rows, int n, double *restrict a, const double *restrict b) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        a[i * n + j] += b[i * n + k] * b[k * n + j];
}

static double a[1 << 19], b[1 << 19], wanted[1 << 19];

__attribute__((optnone, noinline)) static int wrong(int what, int rows, int n) {
  int count = what == 1 ? rows * rows * n : rows * n;
  for (int i = 0; i < count; i++)
    wanted[i] = what == 1 ? 2 * b[i] : what == 0 ? i + b[i] : i;
  for (int i = 0; what == 2 && i < rows; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        wanted[i * n + j] += b[i * n + k] * b[k * n + j];
  return memcmp(a, wanted, count * sizeof *a) != 0;
}

int main(void) {
  const int sizes[][2] = {{1, 1}, {3, 255}, {3, 256}, {17, 300}, {2, 70000}, {70000, 3}, {9, 1000}};
  for (int at = 0; at < 7; at++)
    for (int what = 0; what < 3; what++) {
      int rows = sizes[at][0], n = sizes[at][1];
      if ((what == 1 && rows > 17) || (what == 2 && (n > 300 || rows > 17)))
        continue;
      for (int i = 0; i < 1 << 19; i++) {
        a[i] = i;
        b[i] = i % 17;
      }
      if (what == 0)
        sum(rows, n, a, b);
      else if (what == 1)
        cube(rows, n, a, b);
      else
        product(rows, n, a, b);
      if (wrong(what, rows, n))
        return 1;
    }
  return 0;
}
