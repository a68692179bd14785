// Loops that have nothing to do with one another but that they read the same elements are one launch; not where they read others, have loops of their own
// within, or are not of as many dimensions.
// REQUIRES: cuda-toolkit
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -fregrain-emit-cuda=cpu.cu %s -o fusion && ./fusion && env REGRAIN_CPU_MODE=coroutine ./fusion
// RUN: FileCheck %s --input-file=cpu.cu
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=sm_80 -fregrain-parallelize -fregrain-parallelize-from=0 -fregrain-emit-cuda=gpu.cu %s -o emulated && ./emulated
// RUN: FileCheck %s --input-file=gpu.cu
#include <stdio.h>
#include <string.h>

enum { MOST = 90 };
static double a[MOST * MOST], b[MOST * MOST], x[MOST * MOST], y[MOST * MOST], s[MOST], r[MOST];

// CHECK: __global__ void sums_group0{{.*}}_kernel0(
// CHECK: __global__ void sums_group0{{.*}}_kernel1(
// CHECK: int regrain_sums_group0
__attribute__((noinline)) static void sums(int n, const double *restrict a, double *restrict s, double *restrict x) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      s[i] = 0.5 * s[i] + a[i * n + j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      x[i * n + j] = 2 * a[i * n + j];
}

// CHECK: __global__ void two_group0{{.*}}_kernel0(
// CHECK-NOT: __global__ void two_group0{{.*}}_kernel1(
// CHECK: int regrain_two_group0
__attribute__((noinline)) static void two(int n, double scale, const double *restrict a, double *restrict s, double *restrict r) {
  for (int i = 0; i < n; i++)
    s[i] += scale * a[i];
  for (int i = 0; i < n; i++)
    r[i] -= scale * a[i];
}

// A launch for the fields at the sides, and one for that in the middle.
// CHECK: __global__ void field_region0{{.*}}_kernel0(
// CHECK: __global__ void field_region0{{.*}}_kernel1(
// CHECK-NOT: __global__ void field_region0{{.*}}_kernel2(
// CHECK: int regrain_field_region0
__attribute__((noinline)) static void field(int n, int steps, double *restrict a, double *restrict x, double *restrict y) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n; i++)
      for (int j = 0; j < n; j++)
        y[i * n + j] -= 0.5 * (a[i * n + j] - a[(i - 1) * n + j]);
    for (int i = 0; i < n; i++)
      for (int j = 1; j < n; j++)
        x[i * n + j] -= 0.5 * (a[i * n + j] - a[i * n + j - 1]);
    for (int i = 0; i < n - 1; i++)
      for (int j = 0; j < n - 1; j++)
        a[i * n + j] -= 0.7 * (x[i * n + j + 1] - x[i * n + j] + y[(i + 1) * n + j] - y[i * n + j]);
  }
}

// CHECK: __global__ void others_region0{{.*}}_kernel0(
// CHECK: __global__ void others_region0{{.*}}_kernel1(
// CHECK: int regrain_others_region0
__attribute__((noinline)) static void others(int n, double scale, const double *restrict a, const double *restrict b, double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++)
      x[i * n + j] = scale * a[i * n + j];
    for (int j = 0; j < n; j++)
      y[i * n + j] = scale - b[i * n + j];
  }
}

static double wanted_x[MOST * MOST], wanted_y[MOST * MOST], wanted_a[MOST * MOST], wanted_s[MOST], wanted_r[MOST];

static int differ(const char *name, int n, const void *one, const void *other, size_t size) {
  const int is_wrong = memcmp(one, other, size) != 0;
  if (is_wrong)
    printf("%s of %d is wrong\n", name, n);
  return is_wrong;
}

int main(void) {
  int wrong = 0;
  const int sizes[] = {0, 1, 2, 17, 64, MOST};
  for (int at = 0; at < 6; at++) {
    const int n = sizes[at];
    for (int i = 0; i < MOST * MOST; i++)
      a[i] = wanted_a[i] = i * 31 % 101, b[i] = i * 37 % 103, x[i] = wanted_x[i] = i % 7, y[i] = wanted_y[i] = i % 5;
    for (int i = 0; i < MOST; i++)
      s[i] = wanted_s[i] = i % 3, r[i] = wanted_r[i] = i % 4;
    field(n, 3, a, x, y);
    for (int t = 0; t < 3; t++) {
      for (int i = 1; i < n; i++)
        for (volatile int j = 0; j < n; j++)
          wanted_y[i * n + j] -= 0.5 * (wanted_a[i * n + j] - wanted_a[(i - 1) * n + j]);
      for (int i = 0; i < n; i++)
        for (volatile int j = 1; j < n; j++)
          wanted_x[i * n + j] -= 0.5 * (wanted_a[i * n + j] - wanted_a[i * n + j - 1]);
      for (int i = 0; i < n - 1; i++)
        for (volatile int j = 0; j < n - 1; j++)
          wanted_a[i * n + j] -= 0.7 * (wanted_x[i * n + j + 1] - wanted_x[i * n + j] + wanted_y[(i + 1) * n + j] - wanted_y[i * n + j]);
    }
    wrong += differ("field", n, a, wanted_a, sizeof a) + differ("field", n, x, wanted_x, sizeof x) + differ("field", n, y, wanted_y, sizeof y);
    sums(n, a, s, x);
    for (int i = 0; i < n; i++)
      for (volatile int j = 0; j < n; j++)
        wanted_s[i] = 0.5 * wanted_s[i] + a[i * n + j], wanted_x[i * n + j] = 2 * a[i * n + j];
    wrong += differ("sums", n, s, wanted_s, sizeof s) + differ("sums", n, x, wanted_x, sizeof x);
    others(n, 3, a, b, x, y);
    for (volatile int i = 0; i < n * n; i++)
      wanted_x[i] = 3 * a[i], wanted_y[i] = 3 - b[i];
    wrong += differ("others", n, x, wanted_x, sizeof x) + differ("others", n, y, wanted_y, sizeof y);
    two(n, 5, a, s, r);
    for (volatile int i = 0; i < n; i++)
      wanted_s[i] += 5 * a[i], wanted_r[i] -= 5 * a[i];
    wrong += differ("two", n, s, wanted_s, sizeof s) + differ("two", n, r, wanted_r, sizeof r);
  }
  return wrong;
}
