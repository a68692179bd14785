// Sums, extremes and bits of integers are combined by many threads; what a loop computes is used behind it.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -Rpass=regrain-parallelize \
// RUN:     -Rpass-missed=regrain-parallelize %s -o %t 2> %t.said && %t
// RUN: FileCheck %s < %t.said
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=sm_80 -fregrain-parallelize -fregrain-parallelize-from=0 %s -o %t.sm && %t.sm
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TWINS(type, name, parameters, ...)                                                                             \
  static __attribute__((noinline)) type name parameters __VA_ARGS__                                                   \
  static __attribute__((noinline, optnone)) type name##_twin parameters __VA_ARGS__

// CHECK-DAG: reductions.c:[[#@LINE+3]]:{{.*}}loop runs in parallel: launches of 2 kernels stand for it [
TWINS(int, sum, (int n, const int *a), {
  int s = 7;
  for (int i = 0; i < n; i++)
    s = (int)((unsigned)s + (unsigned)a[i]);
  return s;
})
// CHECK-DAG: reductions.c:[[#@LINE+5]]:{{.*}}loop runs in parallel: launches of 2 kernels stand for it [
TWINS(int, several, (int n, const int *a, long *out), {
  int least = INT_MAX;
  int most = INT_MIN;
  unsigned bits = 0; long all = -1;
  for (int i = 0; i < n; i++) {
    least = a[i] < least ? a[i] : least;
    if (a[i] > most)
      most = a[i];
    bits ^= (unsigned)a[i];
    all &= a[i] | 0x10001L;
  }
  out[0] = all;
  out[1] = bits;
  return least / 2 - most / 2;
})
// CHECK-DAG: reductions.c:[[#@LINE+3]]:{{.*}}loop runs in parallel: launches of 2 kernels stand for it [
TWINS(int, nested, (int n, int m, int A[n][m]), {
  int odd = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      if (A[i][j] & 1)
        odd++;
  return odd;
})
// CHECK-DAG: reductions.c:[[#@LINE+3]]:{{.*}}loop runs in parallel: launches of 2 kernels stand for it [
TWINS(unsigned, triangle, (int n, const unsigned *a, const unsigned short *b), {
  unsigned product = 1;
  for (int i = 1; i < n; i += 3)
    for (int j = i; j < n; j++)
      product *= a[j] | 1u | b[i];
  return product;
})
// The reduction is of a round of a loop that stays in order.
// CHECK-DAG: reductions.c:[[#@LINE+2]]:{{.*}}loop runs in parallel: launches of {{[0-9]+}} kernel
TWINS(int, steps, (int n, int t, int *restrict x, int *restrict out), {
  for (int s = 1; s < t; s++) {
    int d = out[s - 1];
    for (int i = 0; i < n; i++)
      d ^= x[i] * s;
    out[s] = d + out[s - 1];
  }
  return out[t - 1];
})
// Two of them, of which one takes what the other has found.
// CHECK-DAG: reductions.c:[[#@LINE+4]]:{{.*}}loop runs in parallel: launches of {{[0-9]+}} kernel
TWINS(int, chained, (int n, const int *a), {
  int most = -1;
  int count = 0;
  for (int i = 0; i < n; i++)
    most = most > a[i] ? most : a[i];
  for (int i = 0; i < n; i++)
    count += a[i] == most;
  return count * 3 + most;
})
// Floating-point numbers stay in order.
// CHECK-DAG: reductions.c:[[#@LINE+3]]:{{.*}}loop stays sequential: its iterations depend on one another
TWINS(double, in_order, (int n, const double *a), {
  double s = 0;
  for (int i = 0; i < n; i++)
    s += a[i];
  return s;
})
// Another use than the next sum's.
// CHECK-DAG: reductions.c:[[#@LINE+3]]:{{.*}}loop stays sequential: its iterations depend on one another
TWINS(int, seen, (int n, const int *a), {
  int s = 0;
  for (int i = 0; i < n; i++)
    s += s > 100 ? a[i] / 2 : a[i];
  return s;
})
// Several operations.
// CHECK-DAG: reductions.c:[[#@LINE+3]]:{{.*}}loop stays sequential: its iterations depend on one another
TWINS(unsigned, hash, (int n, const unsigned *a), {
  unsigned s = 0;
  for (int i = 0; i < n; i++)
    s = s * 31 + a[i];
  return s;
})
// A last value, and one that is there already.
// CHECK-DAG: reductions.c:[[#@LINE+3]]:{{.*}}loop runs in parallel: launches of {{[12]}} {{kernels?}} stand for it [
TWINS(int, last, (int n, int *a), {
  int i;
  for (i = 0; i < n; i++)
    a[i] = 2 * i;
  a[i] = -1;
  return i;
})
// CHECK-DAG: reductions.c:[[#@LINE+3]]:{{.*}}loop stays sequential: a value that it computes is used behind it
TWINS(int, where, (int n, int *a), {
  int *found = a;
  for (int i = 0; i < n; i++)
    if (a[i] > *a)
      found = &a[i];
  return (int)(found - a);
})

static const int sizes[] = {0, 1, 2, 17, 255, 256, 1000, 70001};

int main(void) {
  int failures = 0;
  for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    const int n = sizes[k];
    unsigned state = 99;
    int *a = malloc((n + 9) * sizeof *a * 2), *x = malloc(99 * sizeof *x), *y = malloc(99 * sizeof *y);
    unsigned short *b = malloc((n + 9) * sizeof *b);
    double *d = malloc((n + 9) * sizeof *d);
    for (int i = 0; i < n + 9; i++) {
      state = state * 1664525u + 1013904223u;
      a[i] = (int)(state >> 3), a[n + 9 + i] = 0, b[i] = (unsigned short)i, d[i] = a[i] * 0.001;
    }
    for (int i = 0; i < 99; i++)
      x[i] = y[i] = i;
    long out[2] = {0, 0}, twin[2] = {0, 0};
#define SAME(call, other)                                                                                              \
  if ((call) != (other))                                                                                               \
  printf(#call " differs for %d\n", n), failures++
    SAME(sum(n, a), sum_twin(n, a));
    SAME(several(n, a, out), several_twin(n, a, twin));
    SAME(memcmp(out, twin, sizeof out), 0);
    const int rows = n < 37 ? n : n / 37;
    SAME(nested(n < 37 ? 1 : rows, n < 37 ? n : 37, (void *)a), nested_twin(n < 37 ? 1 : rows, n < 37 ? n : 37, (void *)a));
    SAME(triangle(n < 2000 ? n : 2000, (unsigned *)a, b), triangle_twin(n < 2000 ? n : 2000, (unsigned *)a, b));
    SAME(steps(n, 20, a, x), steps_twin(n, 20, a, y));
    SAME(memcmp(x, y, 99 * sizeof *x), 0);
    SAME(chained(n, a), chained_twin(n, a));
    SAME(in_order(n, d), in_order_twin(n, d));
    SAME(seen(n < 99 ? n : 99, x), seen_twin(n < 99 ? n : 99, y));
    SAME(hash(n, (unsigned *)a), hash_twin(n, (unsigned *)a));
    SAME(where(n, a), where_twin(n, a));
    SAME(last(n, a), last_twin(n, a + n + 9));
    SAME(memcmp(a, a + n + 9, (n + 1) * sizeof *a), 0);
    free(a), free(b), free(d), free(x), free(y);
  }
  return failures != 0;
}
