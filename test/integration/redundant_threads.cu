// Threads that all do the same: a dimension of the block, all of it, only some of its phases.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"
#include <vector>

// Nothing comes from y.
__global__ void rows(const float *a, const float *x, float *sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    sum[i] = 0;
    for (int j = 0; j < n; ++j)
      sum[i] += a[i * n + j] * x[j];
  }
}

// Nothing comes from the thread at all.
__global__ void all(const int *in, int *out, int n) {
  int least = in[0];
  for (int i = 1; i < n; ++i)
    least = min(least, in[i]);
  out[blockIdx.x] = least + blockIdx.x;
}

// The second phase comes from y, the first does not; the shared array is written by all.
__global__ void phases(const int *in, int *out) {
  __shared__ int tile[32];
  tile[threadIdx.x] = in[blockIdx.x * 32 + threadIdx.x] * 3;
  __syncthreads();
  out[(blockIdx.x * blockDim.y + threadIdx.y) * 32 + threadIdx.x] = tile[31 - threadIdx.x] + threadIdx.y;
}

// A local array, shared memory over two barriers, x that does nothing.
__global__ void columns(const int *in, const int *order, int *out) {
  __shared__ int tile[2][8];
  int local[4];
  for (int k = 0; k < 4; ++k)
    local[order[k]] = in[threadIdx.y * 4 + k];
  tile[0][threadIdx.y] = local[order[threadIdx.y % 4]];
  __syncthreads();
  tile[1][7 - threadIdx.y] = tile[0][threadIdx.y] + local[0];
  __syncthreads();
  out[threadIdx.y] = tile[1][threadIdx.y];
}

// Each thread counts.
__global__ void counted(int *count, int *out) {
  atomicAdd(count, 1);
  out[threadIdx.x] = __syncthreads_count(threadIdx.x < 5);
}

int main() {
  const int n = 100;
  float *a = managed<float>(n * n), *x = managed<float>(n), *sum = managed<float>(n);
  for (int i = 0; i < n * n; ++i)
    a[i] = i % 17 * 0.5f;
  for (int i = 0; i < n; ++i)
    x[i] = i % 5 + 1;
  rows<<<4, dim3(32, 8)>>>(a, x, sum, n);
  finish_kernel();
  for (int i = 0; i < n; ++i) {
    float want = 0;
    for (int j = 0; j < n; ++j)
      want += a[i * n + j] * x[j];
    EXPECT_AT(i, sum[i], want);
  }
  int *in = managed<int>(256), *out = managed<int>(1024), *order = managed<int>(4);
  for (int i = 0; i < 256; ++i)
    in[i] = i * 37 % 101 + 5;
  all<<<3, dim3(8, 4, 2)>>>(in, out, 256);
  finish_kernel();
  for (int b = 0; b < 3; ++b)
    EXPECT_AT(b, out[b], *std::min_element(in, in + 256) + b);
  phases<<<4, dim3(32, 6)>>>(in, out);
  finish_kernel();
  for (int b = 0; b < 4; ++b)
    for (int y = 0; y < 6; ++y)
      for (int t = 0; t < 32; ++t)
        EXPECT_AT(t, out[(b * 6 + y) * 32 + t], in[b * 32 + 31 - t] * 3 + y);
  for (int k = 0; k < 4; ++k)
    order[k] = 3 - k;
  columns<<<1, dim3(16, 8)>>>(in, order, out);
  finish_kernel();
  for (int y = 0; y < 8; ++y) {
    int from = 7 - y;
    EXPECT_AT(y, out[y], in[from * 4 + from % 4] + in[from * 4 + 3]);
  }
  int *count = managed<int>(1);
  counted<<<2, dim3(16, 4)>>>(count, out);
  finish_kernel();
  EXPECT(*count == 128);
  for (int t = 0; t < 16; ++t)
    EXPECT_AT(t, out[t], 20);
  return result();
}
