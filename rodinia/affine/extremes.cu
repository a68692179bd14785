// Sums and extremes, by blocks and then by atomics.
#define TOLERANCE 0
#define HAS_RUN
#include "affine.h"

static __global__ void combine(int n, const int *a, int *made) {
  int sum = 0, least = 2147483647, most = -2147483647, odd = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    sum += (unsigned)a[i] % 1021u;
    least = a[i] < least ? a[i] : least;
    most = a[i] > most ? a[i] : most;
    odd += a[i] & 1;
  }
  atomicAdd(made, sum), atomicMin(made + 1, least), atomicMax(made + 2, most), atomicAdd(made + 3, odd);
}

static void run(int n, const int *a, double *out) {
  int host[4] = {0, 2147483647, -2147483647, 0}, *made, *d;
  cudaMalloc(&made, sizeof host), cudaMalloc(&d, n * sizeof *d);
  cudaMemcpy(made, host, sizeof host, cudaMemcpyHostToDevice), cudaMemcpy(d, a, n * sizeof *d, cudaMemcpyHostToDevice);
  combine<<<256, 256>>>(n, d, made);
  cudaMemcpy(host, made, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(made), cudaFree(d);
  out[0] = host[0], out[1] = host[1], out[2] = host[2], out[3] = (unsigned)host[3];
}
#include "extremes.c"
