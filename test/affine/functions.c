// Functions whose results are the same everywhere; others where the program takes what is close to them.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -Rpass=regrain-parallelize \
// RUN:     -Rpass-missed=regrain-parallelize %s -o %t -lm 2> %t.said && %t
// RUN: FileCheck %s < %t.said
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=sm_80 -fregrain-parallelize -fregrain-parallelize-from=0 %s -o %t.sm -lm && %t.sm
// RUN: %regrain -O2 -ffast-math -DFAST --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 \
// RUN:     -Rpass=regrain-parallelize -Rpass-missed=regrain-parallelize %s -o %t.fast -lm 2> %t.fast.said && %t.fast
// RUN: FileCheck %s --check-prefix=FAST < %t.fast.said
#include "Inputs/twins.h"
#include <math.h>

// CHECK-DAG: functions.c:[[#@LINE+2]]:{{.*}}loop runs in parallel
TWINS(exact, (int n, double *restrict a, const double *restrict b), {
  for (int i = 0; i < n; i++) {
    a[i] = floor(a[i] * 10.0) + ceil(b[i] * 3.0) - fabs(b[i] - a[i]) + trunc(a[i]) + rint(b[i] * 7.0);
    a[i] = fmin(a[i], b[i] * 5.0) + fmax(a[i], 3.0) + copysign(b[i], a[i] - 2.0) + fma(a[i], b[i], 0.1) + round(a[i] * 4.0);
  }
})
// CHECK-DAG: functions.c:[[#@LINE+2]]:{{.*}}loop runs in parallel
TWINS(exact_floats, (int n, float *restrict a, const float *restrict b), {
  for (int i = 0; i < n; i++) {
    a[i] = floorf(a[i] * 10.0f) + ceilf(b[i] * 3.0f) - fabsf(b[i] - a[i]) + truncf(a[i]) + rintf(b[i] * 7.0f);
    a[i] = fminf(a[i], b[i] * 5.0f) + fmaxf(a[i], 3.0f) + copysignf(b[i], a[i] - 2.0f) + fmaf(a[i], b[i], 0.1f);
    a[i] = a[i] > 1e5f ? __builtin_nanf("") : sqrtf(a[i] * a[i]);
  }
})
// CHECK-DAG: functions.c:[[#@LINE+3]]:{{.*}}loop stays sequential: it calls a function
// FAST-DAG: functions.c:[[#@LINE+2]]:{{.*}}loop runs in parallel
TWINS(close, (int n, double *restrict a, const double *restrict b), {
  for (int i = 0; i < n; i++)
    a[i] = exp(b[i] * 0.5) + sin(b[i]) * cos(a[i]) + pow(a[i], 1.5) + log(b[i] + 1.0) + tanh(a[i]) + atan2(a[i], b[i]);
})
// FAST-DAG: functions.c:[[#@LINE+4]]:{{.*}}loop runs in parallel: launches of 2 kernels
static __attribute__((noinline)) double norm(int n, const double *a, double *largest) {
  double s = 0;
  double most = 0;
  for (int i = 0; i < n; i++) {
    s += a[i] * a[i];
    most = fmax(most, fabs(a[i]));
  }
  *largest = most;
  return s;
}
// CHECK-DAG: functions.c:[[#@LINE+2]]:{{.*}}loop runs in parallel
TWINS(bits, (int n, float *restrict a, int *restrict b), {
  for (int i = 0; i < n; i++) {
    union {
      float f;
      int i;
    } u;
    u.f = a[i];
    b[i] = u.i & 0x7fffffff;
    u.i = b[i] ^ 0x00010000;
    a[i] = u.f;
  }
})

static int is_close(const void *mine, const void *twin, int n) {
  const double *a = mine, *b = twin;
  for (int i = 0; i < n; i++)
    if (!(fabs(a[i] - b[i]) <= 1e-9 * fabs(b[i])))
      return 0;
  return 1;
}

int main(void) {
  EACH(n) {
    const size_t row = n * sizeof(double);
    fresh(2, row, row);
    close(n, mine(0), mine(1)), close_twin(n, twin(0), twin(1));
    failures += !is_close(mine(0), twin(0), n);
    double largest = -1, sum = 0, most = 0;
    for (int i = 0; i < n; i++) {
      double x = ((double *)mine(1))[i];
      sum += x * x, most = fabs(x) > most ? fabs(x) : most;
    }
    failures += fabs(norm(n, mine(1), &largest) - sum) > 1e-9 * sum || largest != most;
    memcpy(mine(0), twin(0), row);
    same("close", n);
#ifndef FAST
    fresh(2, row, row);
    exact(n, mine(0), mine(1)), exact_twin(n, twin(0), twin(1));
    same("exact", n);
    fresh(2, row, row);
    exact_floats(n, mine(0), mine(1)), exact_floats_twin(n, twin(0), twin(1));
    same("exact floats", n);
#endif
    fresh(2, row, row);
    bits(n, mine(0), mine(1)), bits_twin(n, twin(0), twin(1));
    same("bits", n);
  }
  return failures != 0;
}
