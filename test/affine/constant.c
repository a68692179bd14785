// Small arrays that the threads of a warp read one element of at a time go to constant memory where the target has some: what is read, what a launch
// before has written, and what does not go there: what differs from thread to thread, what the launch writes, what has no room.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 --offload-arch=sm_80 -fregrain-parallelize -fregrain-parallelize-from=0 -fregrain-emit-cuda=%t.cu -Rpass=regrain-parallelize \
// RUN:     -c %s -o %t.o 2> %t.said
// RUN: FileCheck %s < %t.said
// RUN: FileCheck %s --check-prefix=NONE < %t.said
// RUN: FileCheck %s --check-prefix=CODE < %t.cu
// RUN: FileCheck %s --check-prefix=WRITTEN < %t.cu
// RUN: %regrain -O2 --offload-arch=sm_80 -w -c %t.cu -o %t.again.o
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -fregrain-emit-cuda=%t.cpu.cu %s -o %t && %t
// RUN: FileCheck %s --check-prefix=CPU < %t.cpu.cu
// RUN: env REGRAIN_CPU_MODE=coroutine %t 70
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=sm_80 -fregrain-parallelize -fregrain-parallelize-from=0 %s -o %t.sm && %t.sm 70
// RUN: rm -f %t.trace && touch %t.trace && env REGRAIN_LAUNCH_TRACE=%t.trace %t.sm 33 && FileCheck %s --check-prefix=SMALL < %t.trace
// RUN: env REGRAIN_LAUNCH_TRACE=%t.large %t.sm 7000 && FileCheck %s --check-prefix=LARGE < %t.large
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=gfx90a -fregrain-parallelize -fregrain-parallelize-from=0 %s -o %t.gfx && %t.gfx 70
// RUN: %t.gfx 7000
#include "Inputs/twins.h"
#include <pthread.h>
#define FOR(i, from, to) for (int i = (from); i < (to); i++)
#define LINE(name, ...)                                                                                                \
  TWINS(name, (int n, int m, double *restrict a, double *restrict b, double *restrict c, int *restrict d), __VA_ARGS__)

// CODE: alignas(16) static __constant__ char constant_memory[32768];
// CODE-NEXT: static int constant_memory_taken;
// CPU-NOT: __constant__
// SMALL: charges_region0_{{[0-9a-f]+}}_kernel0_constant
// LARGE-NOT: charges_region0_{{[0-9a-f]+}}_kernel0_constant

// CODE-LABEL: void charges_region0_{{[0-9a-f]+}}_kernel0_constant(
// CODE-SAME: const long at_A0, const long at_A1,
// CODE: const double *const C0 = (const double *)constant_memory;
// CODE: C1[at_A1 + (long)v{{[0-9]+}}]
// CODE-LABEL: void charges_region0_{{[0-9a-f]+}}_kernel0(
// CODE-NOT: at_A
// CODE-LABEL: int charges_region0_{{[0-9a-f]+}}_launches(
// CODE: const bool constant = fine && end_A0 - first_A0 <= 32768L && end_A1 - first_A1 <= 32768L && {{.*}} <= 32768UL &&
// CODE-NEXT: !__atomic_exchange_n(&constant_memory_taken, 1, __ATOMIC_ACQUIRE);
// CODE: cudaMemcpyToSymbol(constant_memory, host_A0 + first_A0, bytes_A0, place_A0, cudaMemcpyHostToDevice)
// CODE: if (constant) {
// CODE-NEXT: if (fine)
// CODE-NEXT: _kernel0_constant<<<
// CODE-NEXT: }
// CODE-NEXT: else
// CODE-NEXT: _kernel0<<<
// CODE: __atomic_store_n(&constant_memory_taken, 0, __ATOMIC_RELEASE);
// CHECK-DAG: constant.c:[[#@LINE+1]]:{{.*}}constant memory holds A0, A1 of the kernels where they take 32768 bytes at most [
LINE(charges, { FOR(i, 0, n) FOR(j, 0, n) {
  double s = 0;
  FOR(k, 0, m) s += b[k] / (c[k] + i + 0.5 * j);
  a[i * n + j] = s;
} })

static float taps[9] = {1, 2, 3, 4, 5, 4, 3, 2, 1};
// CHECK-DAG: constant.c:[[#@LINE+1]]:{{.*}}constant memory holds A{{[0-9]}} of the kernels
TWINS(fir, (int n, float *restrict a, float *restrict b), { FOR(i, 0, n) {
  float s = 0;
  FOR(k, 0, 9) s += taps[k] * b[i + k];
  a[i] = s;
} })

// What the launch before has written.
// WRITTEN-LABEL: int weights_group0_{{[0-9a-f]+}}_launches(
// WRITTEN: _kernel0<<<
// WRITTEN: cudaMemcpyToSymbol(constant_memory, A2 + first_A2, bytes_A2, place_A2, shares ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice)
// WRITTEN: _kernel1_constant<<<
// CHECK-DAG: constant.c:[[#@LINE+2]]:{{.*}}constant memory holds A2 of the kernels
LINE(weights, {
  FOR(k, 0, m) c[k] = b[k] * b[k] + d[k];
  FOR(i, 0, n) {
    double s = 0;
    FOR(k, 0, m) s += c[k] * (i + k);
    a[i] = s;
  }
})

// Neighbours read neighbours: nothing is said. Nor where the launch writes it, or where loops of neighbours start at different numbers.
// NONE-NOT: constant.c:[[#@LINE+1]]:{{.*}}constant memory
LINE(window, { FOR(i, 0, n) {
  double s = 0;
  FOR(k, 0, m) s += b[i + k];
  a[i] = s;
} })
// NONE-NOT: constant.c:[[#@LINE+1]]:{{.*}}constant memory
LINE(written, { FOR(t, 0, 3) FOR(i, 0, n) {
  double s = 0;
  FOR(k, 0, m) s += c[n + k] * i;
  c[i] = s;
} })
// NONE-NOT: constant.c:[[#@LINE+1]]:{{.*}}constant memory
LINE(triangle, { FOR(i, 0, n) {
  double s = 0;
  FOR(k, i, m) s += b[k] * i;
  a[i] = s;
} })
static double table[10000];
// CHECK-DAG: constant.c:[[#@LINE+1]]:{{.*}}constant memory does not hold A{{[0-9]}} of the kernels: 80000 bytes, where there are 32768 [
LINE(large, { FOR(i, 0, n) {
  double s = 0;
  FOR(k, 0, 10000) s += table[k] * b[i];
  a[i] = s;
} })

typedef void (*Line)(int, int, double *, double *, double *, int *);
static const struct {
  const char *name;
  Line mine, twin;
} rows[] = {
#define ROW(name) {#name, name, name##_twin}
    ROW(charges), ROW(weights), ROW(window), ROW(written), ROW(triangle), ROW(large),
};

// Two threads of the host in the same nest, each with numbers of its own.
static void *one_of_two(void *number) {
  enum { N = 40, M = 300 };
  static double a[2][N * N], twins[2][N * N], b[2][M], c[2][M];
  const long at = (long)number;
  FOR(k, 0, M) b[at][k] = k + at, c[at][k] = 2 * k + 3 * at + 1;
  charges_twin(N, M, twins[at], b[at], c[at], 0);
  FOR(round, 0, 50) {
    charges(N, M, a[at], b[at], c[at], 0);
    if (memcmp(a[at], twins[at], sizeof a[at]) != 0)
      return "differs";
  }
  return 0;
}

int main(int argc, char **argv) {
  static const int pairs[][2] = {{0, 0}, {0, 5}, {5, 0}, {1, 1}, {17, 17}, {9, 33}, {70, 65}, {33, 1000}, {20, 7000}};
  const int most = argc > 1 ? atoi(argv[1]) : 1000;
  FOR(k, 0, 10000) table[k] = k % 7;
  for (unsigned p = 0; p < sizeof pairs / sizeof *pairs; p++) {
    int n = pairs[p][0], m = pairs[p][1];
    if (n > most || m > most || (most == 7000 && m < most))
      continue;
    for (unsigned r = 0; r < sizeof rows / sizeof *rows; r++) {
      fresh(4, (size_t)(n + 1) * (n + 1) * 8, (size_t)(n + m + 9) * 8, (size_t)(2 * n + m) * 8, (size_t)m * 4);
      rows[r].mine(n, m, mine(0), mine(1), mine(2), mine(3));
      rows[r].twin(n, m, twin(0), twin(1), twin(2), twin(3));
      same(rows[r].name, n * 10000 + m);
    }
    fresh(2, (size_t)n * 4, (size_t)(n + 9) * 4);
    fir(n, mine(0), mine(1));
    fir_twin(n, twin(0), twin(1));
    same("fir", n);
  }
  if (most == 7000)
    return failures != 0;
  pthread_t other;
  pthread_create(&other, 0, one_of_two, (void *)1);
  void *said[2] = {one_of_two((void *)0)};
  pthread_join(other, &said[1]);
  return failures != 0 || said[0] || said[1];
}
