// MRI-Q: sums of waves over the samples of a scan at each voxel, a thread for each.
#define TOLERANCE 1e-7
#define HAS_RUN
#include "affine.h"

static __global__ void voxels(int n, int samples, const double *kx, const double *ky, const double *kz, const double *x, const double *y,
                              const double *z, const double *pr, const double *pi, double *re, double *im) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  double r = 0, q = 0;
  for (int s = 0; s < samples; s++) {
    double angle = 6.2831853071795864769 * (kx[s] * x[i] + ky[s] * y[i] + kz[s] * z[i]);
    double c = cos(angle), d = sin(angle);
    double size = pr[s] * pr[s] + pi[s] * pi[s];
    r += size * c, q += size * d;
  }
  re[i] = r, im[i] = q;
}

static void run(int n, int samples, const double *kx, const double *ky, const double *kz, const double *x, const double *y, const double *z,
                const double *pr, const double *pi, double *re, double *im) {
  double *a[8] = {on_device(kx, samples), on_device(ky, samples), on_device(kz, samples), on_device(x, n),
                  on_device(y, n), on_device(z, n), on_device(pr, samples), on_device(pi, samples)};
  double *dr = on_device(re, n), *di = on_device(im, n);
  voxels<<<(n + 255) / 256, 256>>>(n, samples, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], dr, di);
  to_host(re, dr, n), to_host(im, di, n);
  for (double *each : a)
    cudaFree(each);
}
#include "mriq.c"
