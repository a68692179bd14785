// Loops with several exits, goto, continue and early returns around barriers; arrays of a thread's own.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

__global__ void breaks(int *out, const int *in, int n) {
  __shared__ int s[128];
  __shared__ int stop;
  if (threadIdx.x == 0)
    stop = -1;
  __syncthreads();
  int sum = 0;
  for (int base = 0; base < n; base += blockDim.x) {
    int i = base + threadIdx.x;
    s[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    if (s[threadIdx.x] == 999)
      stop = base;
    __syncthreads();
    if (stop >= 0)
      break;
    for (unsigned k = 0; k < blockDim.x; ++k) {
      if (s[k] == 5)
        continue;
      sum += s[k];
    }
    __syncthreads();
  }
  if (sum == 0) {
    out[threadIdx.x] = -1;
    return;
  }
  out[threadIdx.x] = sum;
}

__global__ void jumps(int *out, int rounds) {
  __shared__ int s[64];
  int t = threadIdx.x, v = t, r = 0;
again:
  s[t] = v;
  __syncthreads();
  v = s[(t + 1) % 64];
  __syncthreads();
  if (++r < rounds)
    goto again;
  if (r & 1)
    goto odd;
  out[t] = v;
  return;
odd:
  __syncthreads();
  out[t] = -v;
}

// An array of each thread's own, alive over barriers.
__global__ void own_array(int *out) {
  int a[8];
  __shared__ int s[64];
  for (int i = 0; i < 8; ++i)
    a[i] = threadIdx.x * i;
  s[threadIdx.x] = a[threadIdx.x % 8];
  __syncthreads();
  a[s[(threadIdx.x + 1) % 64] & 7] += 100;
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < 8; ++i)
    sum = sum * 3 + a[i];
  out[threadIdx.x] = sum;
}

int main() {
  constexpr int n = 1000;
  int *out = managed<int>(128), *in = managed<int>(n);
  for (int stop : {n, 300, 5}) {
    for (int i = 0; i < n; ++i)
      in[i] = i == stop ? 999 : i % 7;
    breaks<<<1, 128>>>(out, in, n);
    finish_kernel();
    int want = 0;
    for (int i = 0; i < (stop == n ? n : stop / 128 * 128); ++i)
      want += in[i] == 5 ? 0 : in[i];
    for (int t = 0; t < 128; ++t)
      EXPECT_AT(t, out[t], want ? want : -1);
  }
  for (int rounds : {1, 2, 5}) {
    jumps<<<1, 64>>>(out, rounds);
    finish_kernel();
    for (int t = 0; t < 64; ++t)
      EXPECT_AT(t, out[t], (t + rounds) % 64 * (rounds % 2 ? -1 : 1));
  }
  own_array<<<1, 64>>>(out);
  finish_kernel();
  for (int t = 0; t < 64; ++t) {
    int other = (t + 1) % 64, sum = 0;
    for (int i = 0; i < 8; ++i)
      sum = sum * 3 + t * i + (i == (other * (other % 8) & 7) ? 100 : 0);
    EXPECT_AT(t, out[t], sum);
  }
  return result();
}
