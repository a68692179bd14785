// Copies of a coarse thread that stay away from a barrier, and loops that differ in where they begin, not in how often they run.
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-coarsen-blocks=3 %s -o %t
// RUN: %t
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-coarsen-threads=4 %s -o %t
// RUN: %t
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-coarsen-blocks=1,2,1 -fregrain-coarsen-threads=2 -fregrain-round-trip %s -o %t
// RUN: %t
#include "check.h"

__global__ void leave_early(int *to, const int *from, int n) {
  __shared__ int s[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  s[threadIdx.x] = from[i];
  __syncthreads();
  int other = threadIdx.x ^ 1;
  to[i] = i - (int)threadIdx.x + other < n ? s[other] : -1;
}

// Who takes part runs a loop of barriers, whose end is in memory; the others do something else.
__global__ void take_part(int *to, const int *from, int n, const int *rounds) {
  __shared__ int s[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
  if (blockIdx.x % 3 == 1) {
    for (int k = 0; k < 5; ++k) {
      s[threadIdx.x] = from[(i + k) % n];
      __syncthreads();
      sum += s[threadIdx.x & ~3] * (k + 1);
      __syncthreads();
    }
    sum += 1000 * __syncthreads_count(from[i % n] % 2);
  } else {
    sum = from[i % n] / (1 + *rounds);
  }
  to[i] = sum + 1;
}

// The tiles of a block's row begin at its own offset.
__global__ void multiply(float *c, const float *a, const float *b, int size) {
  __shared__ float as[8][8], bs[8][8];
  int x = threadIdx.x, y = threadIdx.y, begin = size * 8 * blockIdx.y;
  float sum = 0;
  for (int at = begin, bt = 8 * blockIdx.x; at <= begin + size - 1; at += 8, bt += 8 * size) {
    as[y][x] = a[at + size * y + x];
    bs[y][x] = b[bt + size * y + x];
    __syncthreads();
    for (int k = 0; k < 8; ++k)
      sum += as[y][k] * bs[k][x];
    __syncthreads();
  }
  c[begin + size * y + 8 * blockIdx.x + x] = sum;
}

int main() {
  const int blocks = 7, count = blocks * 64, n = 400, size = 40;
  int *to = managed<int>(count), *from = managed<int>(count), *rounds = managed<int>(1);
  for (int i = 0; i < count; ++i)
    from[i] = i * 37 % 101;
  leave_early<<<blocks, 64>>>(to, from, n);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < count; ++i)
    EXPECT_AT(i, to[i], i >= n ? 0 : (i ^ 1) < n ? from[i ^ 1] : -1);

  *rounds = 2;
  take_part<<<blocks, 64>>>(to, from, n, rounds);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < count; ++i) {
    int sum = from[i % n] / 3, first = i / 64 * 64;
    if (i / 64 % 3 == 1) {
      sum = 0;
      for (int k = 0; k < 5; ++k)
        sum += from[((i & ~3) + k) % n] * (k + 1);
      for (int j = first; j < first + 64; ++j)
        sum += 1000 * (from[j % n] % 2);
    }
    EXPECT_AT(i, to[i], sum + 1);
  }

  float *a = managed<float>(size * size), *b = managed<float>(size * size), *c = managed<float>(size * size);
  for (int i = 0; i < size * size; ++i)
    a[i] = i % 7, b[i] = i % 5;
  multiply<<<dim3(size / 8, size / 8), dim3(8, 8)>>>(c, a, b, size);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < size * size; ++i) {
    float sum = 0;
    for (int k = 0; k < size; ++k)
      sum += a[i / size * size + k] * b[k * size + i % size];
    EXPECT_AT(i, c[i], sum);
  }
  return result();
}
