// Sums of the bits of numbers, and the least and the greatest of them: reductions of integers.
#ifndef TOLERANCE
#define TOLERANCE 0
#endif
#include "affine.h"

KERNEL((int n, const int *restrict a, double *restrict out), {
  int sum = 0;
  int least = 2147483647;
  int most = -2147483647;
  unsigned odd = 0;
  _Pragma("omp parallel for reduction(+ : sum, odd) reduction(min : least) reduction(max : most)")
  for (int i = 0; i < n; i++) {
    sum = (int)((unsigned)sum + (unsigned)a[i] % 1021u);
    least = a[i] < least ? a[i] : least;
    most = a[i] > most ? a[i] : most;
    odd += a[i] & 1;
  }
  out[0] = sum;
  out[1] = least;
  out[2] = most;
  out[3] = odd;
})

int main(int argc, char **argv) {
  int n = argument(argc, argv, 20000000);
  int *a = (int *)malloc((n + 5003) * sizeof *a);
  unsigned state = 7;
  for (int i = 0; i < n + 5003; i++)
    a[i] = (int)(state = state * 1664525u + 1013904223u) >> 4;
  double out[4];
  double wanted[4];
  run(5003, a, out);
  reference(5003, a, wanted);
  int failed = check(out, wanted, 4);
  double start = now();
  run(n, a, out);
  printf("time %.6f s\n", now() - start);
  return failed;
}
