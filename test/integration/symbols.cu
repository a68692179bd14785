// Constant and device variables, and the host's ways to reach them.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

__constant__ float weights[4] = {1, 2, 3, 4};
__constant__ int factor;
__device__ int counter = 5;
__device__ int table[3][2] = {{1, 2}, {3, 4}, {5, 6}};
__device__ double *where;
namespace inner {
static __device__ long long big = 1LL << 40;
}
__device__ int *alias = &table[1][1];
struct Config {
  int a;
  float b[2];
};
__constant__ Config config;
template <typename T> __device__ T per_type = T(3);

__global__ void use(float *out) {
  int t = threadIdx.x;
  out[t] = weights[t % 4] * factor + table[t % 3][t % 2] + config.a + config.b[t % 2];
  atomicAdd(&counter, 1);
  if (t == 0) {
    inner::big += 1;
    *where = 2.5;
    out[32] = *alias;
    out[33] = per_type<int> + per_type<float>;
  }
}

int main() {
  float *out = managed<float>(34);
  int seven = 7, n = 0;
  Config c = {100, {0.25f, 0.5f}};
  OK(cudaMemcpyToSymbol(factor, &seven, sizeof seven));
  OK(cudaMemcpyToSymbol(config, &c, sizeof c));
  float two[2] = {30, 40};
  OK(cudaMemcpyToSymbol(weights, two, sizeof two, 2 * sizeof(float)));
  double *place;
  OK(cudaMalloc(&place, sizeof *place));
  OK(cudaMemcpyToSymbol(where, &place, sizeof place));
  void *address = nullptr;
  OK(cudaGetSymbolAddress(&address, table));
  size_t size = 0;
  OK(cudaGetSymbolSize(&size, table));
  EXPECT(size == 24);
  int changed = 60;
  OK(cudaMemcpy((int *)address + 5, &changed, sizeof changed, cudaMemcpyHostToDevice));

  use<<<1, 32>>>(out);
  finish_kernel();
  float w[] = {1, 2, 30, 40};
  int tab[3][2] = {{1, 2}, {3, 4}, {5, 60}};
  for (int t = 0; t < 32; ++t)
    EXPECT_AT(t, out[t], w[t % 4] * 7 + tab[t % 3][t % 2] + 100 + c.b[t % 2]);
  EXPECT(out[32] == 4 && out[33] == 6);
  OK(cudaMemcpyFromSymbol(&n, counter, sizeof n));
  EXPECT_AT(0, n, 37);
  int row[2];
  OK(cudaMemcpyFromSymbol(row, table, sizeof row, 4 * sizeof(int)));
  EXPECT(row[0] == 5 && row[1] == 60);
  long long b;
  OK(cudaMemcpyFromSymbol(&b, inner::big, sizeof b));
  EXPECT(b == (1LL << 40) + 1);
  double d = 0;
  OK(cudaMemcpy(&d, place, sizeof d, cudaMemcpyDeviceToHost));
  EXPECT(d == 2.5);
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  int twice = 3;
  OK(cudaMemcpyToSymbolAsync(factor, &twice, sizeof twice, 0, cudaMemcpyHostToDevice, stream));
  OK(cudaMemcpyFromSymbolAsync(&n, factor, sizeof n, 0, cudaMemcpyDeviceToHost, stream));
  OK(cudaStreamSynchronize(stream));
  EXPECT(n == 3);
  int local;
  EXPECT_ERROR(cudaMemcpyToSymbol(local, &n, sizeof n), cudaErrorInvalidSymbol);
  EXPECT_ERROR(cudaMemcpyToSymbol(factor, two, sizeof two), cudaErrorInvalidValue);
  return result();
}
