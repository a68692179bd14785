// Warp-synchronous reductions of the time before Volta: volatile shared memory, no __syncwarp.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

// The last rounds of a reduction, as programs before Volta wrote them: each step of the warp is taken for one.
// Since Volta a race, which hardware mostly still decides in the program's favour; so do both
// forms here: the lanes of a warp go in step from one access of volatile shared memory to the next.
__device__ void warp_reduce(volatile int *s, int t) {
  s[t] += s[t + 32];
  s[t] += s[t + 16];
  s[t] += s[t + 8];
  s[t] += s[t + 4];
  s[t] += s[t + 2];
  s[t] += s[t + 1];
}

__global__ void reduce(const int *in, int *out) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 128 + t];
  __syncthreads();
  if (t < 64)
    s[t] += s[t + 64];
  __syncthreads();
  if (t < 32)
    warp_reduce(s, t);
  if (t == 0)
    out[blockIdx.x] = s[0];
}

int main() {
  int *in = managed<int>(512), *out = managed<int>(4);
  int want[4] = {};
  for (int i = 0; i < 512; ++i)
    want[i / 128] += in[i] = i * 7 % 31;
  reduce<<<4, 128>>>(in, out);
  finish_kernel();
  for (int b = 0; b < 4; ++b)
    EXPECT_AT(b, out[b], want[b]);
  return result();
}
