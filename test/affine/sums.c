// On processors a nest that reads rows of an array for a sum along each and for sums across all of them reads it once: tiles of rounds have arrays of
// their own for the latter, which are combined in the end. Not where the program sees the sums meanwhile, combines them in two ways, wants an order, or
// leaves elements out.
// REQUIRES: cuda-toolkit
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -fregrain-emit-cuda=cpu.cu %s -o sums && ./sums && env REGRAIN_CPU_THREADS=1 ./sums && env REGRAIN_CPU_THREADS=5 ./sums && env REGRAIN_CPU_MODE=coroutine ./sums
// RUN: FileCheck %s --input-file=cpu.cu
// RUN: FileCheck %s --check-prefix=BOTH --input-file=cpu.cu
// RUN: FileCheck %s --check-prefix=NONE --input-file=cpu.cu --implicit-check-not=reassociate
// RUN: %regrain -O2 --offload-arch=cpu -w cpu.cu -c -o emitted.o
// RUN: %regrain -O2 -ffast-math --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -fregrain-emit-cuda=fast.cu %s -o fast && env REGRAIN_CPU_THREADS=5 ./fast
// RUN: FileCheck %s --check-prefix=FAST --input-file=fast.cu
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=sm_80 -fregrain-parallelize -fregrain-parallelize-from=0 -fregrain-emit-cuda=gpu.cu %s -o emulated && ./emulated
// RUN: FileCheck %s --check-prefix=GPU --input-file=gpu.cu "--implicit-check-not=__restrict__ S"
// GPU: __global__
#include <stdio.h>
#include <string.h>

enum { MOST = 700 };
static int a[MOST * MOST], x[MOST], t[MOST], y[MOST], z[MOST];
static double fa[MOST * MOST], fx[MOST], ft[MOST], fy[MOST];

// CHECK: __global__ void rows_region{{.*}}(long first_t0, long width, long last_t0, int *__restrict__ S[[Y:[0-9]+]], long last_e[[Y]], long first_e[[Y]]
// CHECK: int *A[[Y]] = S[[Y]] + (long)blockIdx.x * (last_e[[Y]] - first_e[[Y]] + 1L) - first_e[[Y]];
// CHECK-NEXT: #pragma clang loop unroll(disable) interleave_count(4)
// CHECK-NEXT: for (long e[[Y]] = first_e[[Y]]; e[[Y]] <= last_e[[Y]]; e[[Y]]++)
// CHECK-NEXT: A[[Y]][e[[Y]]] = (int)0;
// CHECK-NEXT: #pragma clang loop unroll(disable) interleave_count(4)
// CHECK-NEXT: for (long t0 = low_t0; t0 <= high_t0; t0++)
// CHECK-NEXT: int r
// CHECK: (int)((unsigned)v{{[0-9]+}} + (unsigned)
// CHECK: __global__ void rows_region{{.*}}_sum[[Y]](
// CHECK: for (long tile = 0; tile < tiles; tile++)
// CHECK-NEXT: all = (int)((unsigned)all + (unsigned)S[[Y]][tile * (last_e[[Y]] - first_e[[Y]] + 1L) + (e[[Y]] - first_e[[Y]])]);
// CHECK: const long tiles = apart / width + 1L;
// CHECK: fine = fine && cudaMalloc(&memory_S[[Y]], tiles * (last_e[[Y]] - first_e[[Y]] + 1L) * sizeof(int)) == cudaSuccess;
// CHECK: __regrain_launch_is_long();
// CHECK: _sum[[Y]]<<<
// CHECK: cudaFree(memory_S[[Y]]);
__attribute__((noinline)) static void rows(int n, int m, const int *restrict a, const int *restrict x, int *restrict t, int *restrict y) {
  for (int i = 0; i < n; i++) {
    t[i] = 0;
    for (int j = 0; j < m; j++)
      t[i] += a[i * m + j] * x[j];
    for (int j = 3; j < m; j++)
      y[j] += a[i * m + j] * t[i];
  }
}

// Sums of two arrays, and the start of one, in one loop.
// BOTH: __global__ void both_group{{.*}} int *__restrict__ S[[Z:[0-9]+]],{{.*}} int *__restrict__ S[[Y:[0-9]+]],
// BOTH: A[[Z]][e[[Z]]] = (int)1;
// BOTH: A[[Y]][e[[Y]]] = (int)0;
// BOTH: __global__ void both_group{{.*}}_sum[[Z]](
// BOTH: all = (int)((unsigned)all * (unsigned)S[[Z]][tile
// BOTH: __global__ void both_group{{.*}}_sum[[Y]](
__attribute__((noinline)) static void both(int n, int m, const int *restrict a, const int *restrict x, int *restrict t, int *restrict y, int *restrict z) {
  for (int j = 0; j < m; j++)
    z[j] = 1;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      y[j] -= a[i * m + j];
      z[j] *= 1 | a[i * m + j];
      t[i] += a[i * m + j] * x[j];
    }
}

// NONE: __global__ void sequel_region
// NONE-NOT: __restrict__ S
// NONE: __global__ void ways_region
// NONE-NOT: __restrict__ S
// NONE: __global__ void odd_region
// NONE-NOT: __restrict__ S
// NONE: __global__ void numbers_region
// NONE-NOT: __restrict__ S
__attribute__((noinline)) static void sequel(int n, int m, const int *restrict a, int *restrict t, int *restrict y) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      y[j] += a[i * m + j];
      t[i] += a[i * m + j] * y[j];
    }
}

__attribute__((noinline)) static void ways(int n, int m, const int *restrict a, int *restrict t, int *restrict y) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      y[j] += a[i * m + j];
      y[j] *= 3;
      t[i] += a[i * m + j];
    }
}

__attribute__((noinline)) static void odd(int n, int m, const int *restrict a, int *restrict t, int *restrict y) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m / 2; j++) {
      y[2 * j + 1] += a[i * m + j];
      t[i] += a[i * m + j];
    }
}

// FAST: __global__ void numbers_region
// FAST-NEXT: #pragma clang fp reassociate(on)
// FAST: double *A[[Y:[0-9]+]] = S[[Y]] +
// FAST: A[[Y]][e[[Y]]] = -0.0;
__attribute__((noinline)) static void numbers(int n, int m, const double *restrict a, const double *restrict x, double *restrict t, double *restrict y) {
  for (int i = 0; i < n; i++) {
    t[i] = 0;
    for (int j = 0; j < m; j++) {
      y[j] += a[i * m + j] * x[j];
      t[i] += a[i * m + j];
    }
  }
}

static int differ(const char *name, int n, int m, const void *one, const void *other, size_t size) {
  const int is_wrong = memcmp(one, other, size) != 0;
  if (is_wrong)
    printf("%s of %d x %d is wrong\n", name, n, m);
  return is_wrong;
}

static int check(int n, int m) {
  static int wt[MOST], wy[MOST], wz[MOST];
  static double wft[MOST], wfy[MOST];
  int wrong = 0;
  for (int j = 0; j < MOST; j++)
    t[j] = wt[j] = j % 11, y[j] = wy[j] = j % 13, z[j] = wz[j] = j % 17, ft[j] = wft[j] = j, fy[j] = wfy[j] = j % 19;
  rows(n, m, a, x, t, y);
  for (int i = 0; i < n; i++) {
    wt[i] = 0;
    for (volatile int j = 0; j < m; j++)
      wt[i] += a[i * m + j] * x[j];
    for (volatile int j = 3; j < m; j++)
      wy[j] += a[i * m + j] * wt[i];
  }
  wrong += differ("t of rows", n, m, t, wt, sizeof t) + differ("y of rows", n, m, y, wy, sizeof y);
  both(n, m, a, x, t, y, z);
  for (volatile int j = 0; j < m; j++)
    wz[j] = 1;
  for (int i = 0; i < n; i++)
    for (volatile int j = 0; j < m; j++) {
      wy[j] -= a[i * m + j];
      wz[j] = (int)((unsigned)wz[j] * (unsigned)(1 | a[i * m + j]));
      wt[i] += a[i * m + j] * x[j];
    }
  wrong += differ("t of both", n, m, t, wt, sizeof t) + differ("y of both", n, m, y, wy, sizeof y) + differ("z of both", n, m, z, wz, sizeof z);
  for (int j = 0; j < MOST; j++)
    t[j] = wt[j] = j % 11, y[j] = wy[j] = j % 13;
  sequel(n, m, a, t, y);
  for (int i = 0; i < n; i++)
    for (volatile int j = 0; j < m; j++) {
      wy[j] += a[i * m + j];
      wt[i] += a[i * m + j] * wy[j];
    }
  wrong += differ("t of sequel", n, m, t, wt, sizeof t) + differ("y of sequel", n, m, y, wy, sizeof y);
  for (int j = 0; j < MOST; j++)
    y[j] = wy[j] = 0;
  const int few = n < 15 ? n : 15;
  ways(few, m, a, t, y);
  for (int i = 0; i < few; i++)
    for (volatile int j = 0; j < m; j++) {
      wy[j] += a[i * m + j];
      wy[j] *= 3;
      wt[i] += a[i * m + j];
    }
  wrong += differ("t of ways", few, m, t, wt, sizeof t) + differ("y of ways", few, m, y, wy, sizeof y);
  odd(few, m, a, t, y);
  for (int i = 0; i < few; i++)
    for (volatile int j = 0; j < m / 2; j++) {
      wy[2 * j + 1] += a[i * m + j];
      wt[i] += a[i * m + j];
    }
  wrong += differ("t of odd", few, m, t, wt, sizeof t) + differ("y of odd", few, m, y, wy, sizeof y);
  numbers(n, m, fa, fx, ft, fy);
  for (int i = 0; i < n; i++) {
    wft[i] = 0;
    for (volatile int j = 0; j < m; j++) {
      wfy[j] += fa[i * m + j] * fx[j];
      wft[i] += fa[i * m + j];
    }
  }
  return wrong + differ("t of numbers", n, m, ft, wft, sizeof ft) + differ("y of numbers", n, m, fy, wfy, sizeof fy);
}

int main(void) {
  for (int i = 0; i < MOST * MOST; i++)
    a[i] = i * 31L % 101, fa[i] = i * 37L % 103;
  for (int j = 0; j < MOST; j++)
    x[j] = j % 5, fx[j] = j % 7;
  const int sizes[] = {0, 1, 2, 17, 64, 83, 200, MOST};
  int wrong = 0;
  for (int one = 0; one < 8; one++)
    for (int other = 0; other < 8; other++)
      wrong += check(sizes[one], sizes[other]);
  return wrong;
}
