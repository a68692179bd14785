// On processors threads that go down columns of memory go along its rows together, a tile of them side by side; not where their loops differ, or neighbours
// are apart, what they read is in rows of their own, they read it again, or the host launches them again. On GPUs each thread goes down its column.
// REQUIRES: cuda-toolkit
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -fregrain-emit-cuda=cpu.cu %s -o columns && ./columns && env REGRAIN_CPU_THREADS=5 ./columns && env REGRAIN_CPU_MODE=coroutine ./columns
// RUN: FileCheck %s --input-file=cpu.cu
// RUN: %regrain -O2 --offload-arch=cpu -w cpu.cu -c -o emitted.o
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=sm_80 -fregrain-parallelize -fregrain-parallelize-from=0 -fregrain-emit-cuda=gpu.cu %s -o emulated && ./emulated
// RUN: FileCheck %s --check-prefix=GPU --input-file=gpu.cu --implicit-check-not=width
// GPU: __global__
#include <stdio.h>
#include <string.h>

enum { MOST = 1000 };
static double a[200 * MOST], s[MOST], wanted[MOST];
static unsigned char bytes[200 * MOST], few[MOST], wanted_few[MOST];

// CHECK: __global__ void means_region0{{.*}}(long first_t0, long width, long last_t0
// CHECK: const long low_t0 = first_t0 + (long)blockIdx.x * width;
// CHECK: for (long t0 = low_t0; (t0 <= high_t0); t0 += 1L)
// CHECK: for (long c1
// CHECK-NEXT: #pragma clang loop unroll(disable) interleave_count(4)
// CHECK-NEXT: for (long t0 = low_t0; (t0 <= high_t0); t0 += 1L)
// CHECK: for (long t0 = low_t0; (t0 <= high_t0); t0 += 1L)
// CHECK: #ifdef TILE_LINKED
// CHECK-NEXT: if (operations > 1000000.0 * launches)
// CHECK-NEXT: __regrain_launch_is_long();
// CHECK-NEXT: #endif
// CHECK: means_region0{{.*}}<<<(unsigned)(apart / width + 1), 1>>>(first_t0, width, last_t0
__attribute__((noinline)) static void means(int n, int m, double *restrict s, const double *restrict a) {
  for (int j = 0; j < n; j++) {
    s[j] = 0;
    for (int i = 0; i < m; i++)
      s[j] += a[i * n + j];
    s[j] /= m;
  }
}

// CHECK: __global__ void sums_region0{{.*}}(long first_t0, long width, long last_t0
// CHECK: for (long c0 = 3L
// CHECK-NEXT: #pragma clang loop unroll(disable) interleave_count(4)
// CHECK-NEXT: for (long t0 = low_t0; (t0 <= high_t0); t0 += 1L)
__attribute__((noinline)) static void sums(int n, int m, unsigned char *restrict s, const unsigned char *restrict a) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      if (i > 2)
        s[j] = 3 * s[j] + a[i * n + j];
}

// CHECK: triangle_region0{{.*}}<<<dim3({{.*}}), dim3(256)>>>
__attribute__((noinline)) static void triangle(int n, double *restrict s, const double *restrict a) {
  for (int j = 0; j < n; j++)
    for (int i = j; i < 150; i++)
      s[j] = 0.5 * s[j] + a[i * n + j];
}

// CHECK: apart_region0{{.*}}<<<dim3({{.*}}), dim3(256)>>>
__attribute__((noinline)) static void apart(int n, int m, double *restrict s, const double (*restrict a)[180]) {
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++)
      s[j] = 0.5 * s[j] + a[i][3 * j];
}

// CHECK: again_region0{{.*}}<<<dim3({{.*}}), dim3(256)>>>
__attribute__((noinline)) static void again(int n, int m, double *restrict s, const double *restrict a) {
  for (int j = 0; j < n; j++)
    for (int k = 0; k < 2; k++)
      for (int i = 0; i < m; i++)
        s[j] = 0.5 * s[j] + a[i * n + j];
}

// CHECK: often_region0{{.*}}<<<dim3({{.*}}), dim3(256)>>>
__attribute__((noinline)) static void often(int n, int m, double *restrict s, double *restrict next, const double *restrict a) {
  for (int k = 0; k < 3; k++) {
    for (int j = 0; j < n; j++)
      for (int i = 0; i < m; i++)
        s[j] = 0.5 * s[j] + next[k] * a[i * n + j];
    next[k + 1] = s[0];
  }
}

// CHECK: own_region0{{.*}}<<<dim3({{.*}}), dim3(256)>>>
__attribute__((noinline)) static void own(int n, int m, double *restrict s, const double *restrict a) {
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++)
      s[j] = 0.5 * s[j] + a[j * m + i];
}

static int fill(int n) {
  for (int j = 0; j < n; j++)
    s[j] = wanted[j] = j % 5, few[j] = wanted_few[j] = j % 7;
  return 0;
}

static int differ(const char *name, int n) {
  const int is_wrong = memcmp(s, wanted, n * sizeof *s) != 0 || memcmp(few, wanted_few, n) != 0;
  if (is_wrong)
    printf("%s of %d is wrong\n", name, n);
  return is_wrong;
}

int main(void) {
  int wrong = 0;
  for (int i = 0; i < 200 * MOST; i++)
    a[i] = (i * 31L % 1009) / 8.0, bytes[i] = i * 7L % 251;
  const int sizes[] = {0, 1, 7, 8, 9, 17, 83, 200, MOST};
  for (int at = 0; at < 9; at++) {
    const int n = sizes[at], m = 61, short_n = n < 60 ? n : 60;
    fill(n);
    means(n, m, s, a);
    for (int j = 0; j < n; j++) {
      volatile double sum = 0;
      for (int i = 0; i < m; i++)
        sum += a[i * n + j];
      wanted[j] = sum / m;
    }
    wrong += differ("means", n);
    sums(n, m, few, bytes);
    for (int j = 0; j < n; j++)
      for (volatile int i = 3; i < m; i++)
        wanted_few[j] = 3 * wanted_few[j] + bytes[i * n + j];
    wrong += differ("sums", n);
    triangle(n, s, a);
    for (int j = 0; j < n; j++)
      for (volatile int i = j; i < 150; i++)
        wanted[j] = 0.5 * wanted[j] + a[i * n + j];
    wrong += differ("triangle", n);
    apart(short_n, m, s, (const double (*)[180])a);
    for (int j = 0; j < short_n; j++)
      for (volatile int i = 0; i < m; i++)
        wanted[j] = 0.5 * wanted[j] + a[i * 180 + 3 * j];
    wrong += differ("apart", n);
    again(n, m, s, a);
    for (int j = 0; j < n; j++)
      for (volatile int i = 0; i < 2 * m; i++)
        wanted[j] = 0.5 * wanted[j] + a[i % m * n + j];
    wrong += differ("again", n);
    double next[] = {1, 2, 3, 4}, wanted_next[] = {1, 2, 3, 4};
    often(n, m, s, next, a);
    for (volatile int k = 0; k < 3; k++) {
      for (int j = 0; j < n; j++)
        for (volatile int i = 0; i < m; i++)
          wanted[j] = 0.5 * wanted[j] + wanted_next[k] * a[i * n + j];
      wanted_next[k + 1] = wanted[0];
    }
    wrong += differ("often", n);
    own(n, m, s, a);
    for (int j = 0; j < n; j++)
      for (volatile int i = 0; i < m; i++)
        wanted[j] = 0.5 * wanted[j] + a[j * m + i];
    wrong += differ("own", n);
  }
  return wrong;
}
