// n-body, a thread for each body, the others by tiles in shared memory.
#define TOLERANCE 1e-12
#define HAS_RUN
#include "affine.h"

static __global__ void forces(int n, const double *x, const double *y, const double *m, double *fx, double *fy) {
  __shared__ double tx[256], ty[256], tm[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  double mx = i < n ? x[i] : 0, my = i < n ? y[i] : 0, sx = 0, sy = 0;
  for (int tile = 0; tile < n; tile += 256) {
    int k = tile + threadIdx.x;
    tx[threadIdx.x] = k < n ? x[k] : 0, ty[threadIdx.x] = k < n ? y[k] : 0, tm[threadIdx.x] = k < n ? m[k] : 0;
    __syncthreads();
    int end = n - tile < 256 ? n - tile : 256;
    for (int j = 0; j < end; j++) {
      double dx = tx[j] - mx, dy = ty[j] - my, square = dx * dx + dy * dy + 0.01, force = tm[j] / (square * sqrt(square));
      sx += force * dx, sy += force * dy;
    }
    __syncthreads();
  }
  if (i < n)
    fx[i] = sx, fy[i] = sy;
}

static void run(int n, const double *x, const double *y, const double *m, double *fx, double *fy) {
  double *dx = on_device(x, n), *dy = on_device(y, n), *dm = on_device(m, n), *dfx = on_device(fx, n), *dfy = on_device(fy, n);
  forces<<<(n + 255) / 256, 256>>>(n, dx, dy, dm, dfx, dfy);
  to_host(fx, dfx, n), to_host(fy, dfy, n);
  cudaFree(dx), cudaFree(dy), cudaFree(dm);
}
#include "nbody.c"
