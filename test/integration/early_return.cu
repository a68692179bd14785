// Threads that return before a later barrier.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

// Threads beyond n return at once; the rest meet at barriers.
__global__ void tail(int *data, int n) {
  __shared__ int s[64];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  if (i >= n)
    return;
  s[t] = data[i];
  __syncthreads();
  int last = min(63, n - 1 - int(blockIdx.x) * 64);
  data[i] = s[last - t];
  __syncthreads();
  if (t > 10)
    return;
  s[t] = data[i] * 2;
  __syncthreads();
  if (t < last && t < 10)
    data[i] += s[t + 1];
}

// One warp leaves in each round of a loop that holds a barrier.
__global__ void leave_in_loop(int *out) {
  __shared__ int alive;
  if (threadIdx.x == 0)
    alive = 0;
  __syncthreads();
  int warp = threadIdx.x / 32;
  for (int round = 0; round < 4; ++round) {
    if (warp == 3 - round && warp != 0)
      return;
    atomicAdd(&alive, 1);
    __syncthreads();
    out[round * 128 + threadIdx.x] = alive;
    __syncthreads();
  }
}

__global__ void all_return(int *out, int n) {
  if (n > 0)
    return;
  __syncthreads();
  out[threadIdx.x] = 99;
}

int main() {
  constexpr int n = 64 * 2 + 37;
  int *data = managed<int>(192), *out = managed<int>(512);
  for (int i = 0; i < 192; ++i)
    data[i] = i * 5 + 1;
  tail<<<3, 64>>>(data, n);
  finish_kernel();
  for (int i = 0; i < 192; ++i) {
    int b = i / 64, t = i % 64, last = b == 2 ? 36 : 63;
    auto reversed = [&](int k) { return (b * 64 + last - k) * 5 + 1; };
    int want = i >= n ? i * 5 + 1 : reversed(t);
    if (i < n && t < 10)
      want += reversed(t + 1) * 2;
    EXPECT_AT(i, data[i], want);
  }
  leave_in_loop<<<1, 128>>>(out);
  finish_kernel();
  int alive[] = {96, 96 + 64, 96 + 64 + 32, 96 + 64 + 32 + 32};
  for (int round = 0; round < 4; ++round)
    for (int t = 0; t < 128; ++t) {
      bool there = t / 32 == 0 || t / 32 < 3 - round;
      EXPECT_AT(t, out[round * 128 + t], there ? alive[round] : 0);
    }
  memset(out, 0, 512 * sizeof(int));
  all_return<<<1, 512>>>(out, 1);
  finish_kernel();
  EXPECT(out[0] == 0 && out[511] == 0);
  return result();
}
