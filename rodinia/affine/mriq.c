// MRI-Q: sums of waves over the samples of a scan at each voxel.
#ifndef TOLERANCE
#define TOLERANCE 1e-7
#endif
#include "affine.h"

KERNEL((int n, int samples, const double *restrict kx, const double *restrict ky, const double *restrict kz, const double *restrict x,
        const double *restrict y, const double *restrict z, const double *restrict pr, const double *restrict pi, double *restrict re,
        double *restrict im), {
  PARALLEL
  for (int i = 0; i < n; i++) {
    double r = 0;
    double q = 0;
    for (int s = 0; s < samples; s++) {
      double angle = 6.2831853071795864769 * (kx[s] * x[i] + ky[s] * y[i] + kz[s] * z[i]);
      r += (pr[s] * pr[s] + pi[s] * pi[s]) * cos(angle);
      q += (pr[s] * pr[s] + pi[s] * pi[s]) * sin(angle);
    }
    re[i] = r;
    im[i] = q;
  }
})

int main(int argc, char **argv) {
  int n = argument(argc, argv, 20000);
  enum { SAMPLES = 256, FEW = 71 };
  double *k[3] = {numbers(SAMPLES, 1), numbers(SAMPLES, 2), numbers(SAMPLES, 3)};
  double *x[3] = {numbers(n + FEW, 4), numbers(n + FEW, 5), numbers(n + FEW, 6)};
  double *phi[2] = {numbers(SAMPLES, 7), numbers(SAMPLES, 8)};
  double *re = numbers(n + FEW, 9);
  double *im = numbers(n + FEW, 10);
  double wanted[2][FEW];
  run(FEW, SAMPLES, k[0], k[1], k[2], x[0], x[1], x[2], phi[0], phi[1], re, im);
  reference(FEW, SAMPLES, k[0], k[1], k[2], x[0], x[1], x[2], phi[0], phi[1], wanted[0], wanted[1]);
  int failed = check(re, wanted[0], FEW) | check(im, wanted[1], FEW);
  double start = now();
  run(n, SAMPLES, k[0], k[1], k[2], x[0], x[1], x[2], phi[0], phi[1], re, im);
  printf("time %.6f s\n", now() - start);
  return failed;
}
