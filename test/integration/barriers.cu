// Barriers in loops, conditionals, switches and called functions.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

constexpr int N = 96;

__global__ void reduce(const int *in, int *out) {
  __shared__ int s[N];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * N + t];
  __syncthreads();
  for (int width = 64; width > 0; width /= 2) {
    if (t < width && t + width < N)
      s[t] += s[t + width];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}

// Barriers at two depths of a loop nest whose bounds are known at run time only.
__global__ void nested(int *out, int outer, int inner) {
  __shared__ int s[N];
  int t = threadIdx.x, sum = 0;
  for (int i = 0; i < outer; ++i) {
    s[t] = t + i;
    __syncthreads();
    for (int j = 0; j <= i % inner; ++j) {
      int v = s[(t + j + 1) % N];
      __syncthreads();
      s[t] = v + j;
      __syncthreads();
      sum += s[(t + 7) % N];
    }
    __syncthreads();
  }
  out[t] = sum;
}

__device__ int rotate(int *s, int v, int by) {
  int t = threadIdx.x;
  s[t] = v;
  __syncthreads();
  int r = s[(t + by) % N];
  __syncthreads();
  return r;
}

__global__ void conditional(int *out, const int *mode) {
  __shared__ int s[N];
  int v = threadIdx.x;
  switch (mode[blockIdx.x]) {
  case 0:
    v = rotate(s, v, 1);
  case 1:
    v = rotate(s, v * 3, 2);
    break;
  case 2:
    if (blockIdx.x & 1) {
      v = rotate(s, v, 5);
    } else {
      v = rotate(s, v + 1, 6);
      v = rotate(s, v, 7);
    }
    break;
  default:
    do
      v = rotate(s, v + 2, 9);
    while (v < 0);
  }
  out[blockIdx.x * N + threadIdx.x] = v;
}

// The number of rounds follows from shared data, the same for all threads.
__global__ void until_done(int *out) {
  __shared__ int left;
  int rounds = 0;
  if (threadIdx.x == 0)
    left = 5 + blockIdx.x;
  __syncthreads();
  while (true) {
    int now = left;
    __syncthreads();
    if (now == 0)
      break;
    if (threadIdx.x == unsigned(now))
      --left;
    __syncthreads();
    ++rounds;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = rounds;
}

int main() {
  int *in = managed<int>(4 * N), *out = managed<int>(6 * N), *mode = managed<int>(6);
  for (int i = 0; i < 4 * N; ++i)
    in[i] = i * i % 37;
  reduce<<<4, N>>>(in, out);
  finish_kernel();
  for (int b = 0; b < 4; ++b) {
    int sum = 0;
    for (int t = 0; t < N; ++t)
      sum += in[b * N + t];
    EXPECT_AT(b, out[b], sum);
  }
  nested<<<1, N>>>(out, 7, 3);
  finish_kernel();
  int s[N], old[N], sum[N] = {};
  for (int i = 0; i < 7; ++i) {
    for (int t = 0; t < N; ++t)
      s[t] = t + i;
    for (int j = 0; j <= i % 3; ++j) {
      memcpy(old, s, sizeof s);
      for (int t = 0; t < N; ++t)
        s[t] = old[(t + j + 1) % N] + j;
      for (int t = 0; t < N; ++t)
        sum[t] += s[(t + 7) % N];
    }
  }
  for (int t = 0; t < N; ++t)
    EXPECT_AT(t, out[t], sum[t]);
  for (int b = 0; b < 6; ++b)
    mode[b] = b % 4;
  conditional<<<6, N>>>(out, mode);
  finish_kernel();
  for (int b = 0; b < 6; ++b)
    for (int t = 0; t < N; ++t) {
      int want[] = {(t + 3) % N * 3, (t + 2) % N * 3, (t + 13) % N + 1, (t + 9) % N + 2};
      EXPECT_AT(b * N + t, out[b * N + t], want[b % 4]);
    }
  until_done<<<5, 64>>>(out);
  finish_kernel();
  for (int i = 0; i < 5 * 64; ++i)
    EXPECT_AT(i, out[i], 5 + i / 64);
  return result();
}
