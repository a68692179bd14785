// What all threads of a block load from one place they load once: the same results, wherever the place is written later.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

constexpr int threads = 96, blocks = 7, longest = 40;

// Rounds that meet, as many as the block finds; the number of rounds lies where the block stores at the end.
__global__ void rounds(int *counts, int *out) {
  __shared__ int cells[2][threads];
  const int t = threadIdx.x, n = counts[blockIdx.x];
  cells[0][t] = t;
  __syncthreads();
  for (int r = 0; r < n; ++r) {
    cells[(r + 1) % 2][t] = cells[r % 2][(t + 1) % threads] + r * t;
    __syncthreads();
  }
  out[blockIdx.x * threads + t] = cells[n % 2][t];
  if (t == 0)
    counts[blockIdx.x] = n + 1;
}

// The place is written behind the first barrier, and loaded again.
__global__ void again(int *data) {
  int *own = data + blockIdx.x * threads;
  const int first = own[0];
  __syncthreads();
  own[threadIdx.x] = first + threadIdx.x + 1;
  __syncthreads();
  const int second = own[0];
  __syncthreads();
  own[threadIdx.x] += 1000 * first + second;
}

// The first thread writes the place before all load it.
__global__ void own_write(int *data, int *out) {
  if (threadIdx.x == 0)
    data[blockIdx.x] = 5;
  __syncthreads();
  const int n = data[blockIdx.x];
  __syncthreads();
  int sum = 0;
  for (int r = 0; r < n; ++r)
    sum += r * threadIdx.x;
  out[blockIdx.x * threads + threadIdx.x] = sum;
}

// Blocks that are beyond the end load nothing.
__global__ void guarded(const int *counts, int *out, int n) {
  if (static_cast<int>(blockIdx.x) >= n)
    return;
  __shared__ int last;
  const int count = counts[blockIdx.x];
  for (int r = threadIdx.x; r < count; r += threads)
    if (r == count - 1)
      last = r;
  __syncthreads();
  out[blockIdx.x * threads + threadIdx.x] = count > 0 ? last : -1;
}

int main() {
  int *counts = managed<int>(blocks), *out = managed<int>(blocks * threads);
  for (int b = 0; b < blocks; ++b)
    counts[b] = b * 5 % longest;
  rounds<<<blocks, threads>>>(counts, out);
  finish_kernel();
  for (int b = 0; b < blocks; ++b) {
    int cells[2][threads];
    const int n = b * 5 % longest;
    for (int t = 0; t < threads; ++t)
      cells[0][t] = t;
    for (int r = 0; r < n; ++r)
      for (int t = 0; t < threads; ++t)
        cells[(r + 1) % 2][t] = cells[r % 2][(t + 1) % threads] + r * t;
    for (int t = 0; t < threads; ++t)
      EXPECT_AT(b * threads + t, out[b * threads + t], cells[n % 2][t]);
    EXPECT_AT(b, counts[b], n + 1);
  }

  for (int i = 0; i < blocks * threads; ++i)
    out[i] = i % 11;
  again<<<blocks, threads>>>(out);
  finish_kernel();
  for (int b = 0; b < blocks; ++b)
    for (int t = 0; t < threads; ++t) {
      const int first = b * threads % 11;
      EXPECT_AT(b * threads + t, out[b * threads + t], first + t + 1 + 1000 * first + first + 1);
    }

  own_write<<<blocks, threads>>>(counts, out);
  finish_kernel();
  for (int i = 0; i < blocks * threads; ++i)
    EXPECT_AT(i, out[i], 10 * (i % threads));

  for (int b = 0; b < blocks; ++b)
    counts[b] = b * 37;
  guarded<<<blocks + 1000, threads>>>(counts, out, blocks);
  finish_kernel();
  for (int i = 0; i < blocks * threads; ++i)
    EXPECT_AT(i, out[i], i / threads * 37 - 1);
  return result();
}
