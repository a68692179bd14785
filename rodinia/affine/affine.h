// What the programs of this folder share: arguments, numbers of chance, time, and a check against the same loops without optimisation.
#ifndef AFFINE_H
#define AFFINE_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define restrict __restrict
// In front of a loop: shared by processors with -fopenmp, as it is else.
#define PARALLEL _Pragma("omp parallel for")

// The loops as `reference`, and as `run` where no CUDA version has that name (`NAME.cu` is included before).
#ifdef HAS_RUN
#define KERNEL(parameters, ...) static __attribute__((noinline, optnone)) void reference parameters __VA_ARGS__
#else
#define KERNEL(parameters, ...)                                                                                        \
  static __attribute__((noinline)) void run parameters __VA_ARGS__                                                    \
  static __attribute__((noinline, optnone)) void reference parameters __VA_ARGS__
#endif

static int argument(int argc, char **argv, int usual) { return argc > 1 ? atoi(argv[1]) : usual; }

static double *numbers(size_t count, unsigned state) {
  double *made = (double *)malloc((count + 1) * sizeof *made);
  for (size_t i = 0; i < count; i++) {
    state = state * 1664525u + 1013904223u;
    made[i] = 0.5 + (state >> 8) / 16777216.0;
  }
  return made;
}

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec + 1e-9 * at.tv_nsec;
}

// Whether results are those of the reference: to the bit, or, where an order or a function differs, nearly. What is measured and tested has no part in it.
static __attribute__((noinline, optnone)) int check(const double *result, const double *wanted, size_t count) {
  size_t wrong = 0;
  for (size_t i = 0; i < count; i++)
    wrong += !(fabs(result[i] - wanted[i]) <= TOLERANCE * fabs(wanted[i]));
  printf("%s: %zu of %zu are wrong\n", wrong ? "FAILED" : "passed", wrong, count);
  return wrong != 0;
}

#ifdef HAS_RUN
static double *on_device(const double *from, size_t count) {
  double *made;
  cudaMalloc(&made, count * sizeof *made);
  cudaMemcpy(made, from, count * sizeof *made, cudaMemcpyHostToDevice);
  return made;
}

static void to_host(double *to, double *from, size_t count) {
  cudaMemcpy(to, from, count * sizeof *to, cudaMemcpyDeviceToHost);
  cudaFree(from);
}
#endif
#endif
