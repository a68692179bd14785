// __syncthreads_count, _and, _or.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

__global__ void reduce(int *out, int limit) {
  int t = threadIdx.x + threadIdx.y * blockDim.x, n = blockDim.x * blockDim.y;
  int *o = out + blockIdx.x * n * 3;
  o[t] = __syncthreads_count(t < limit + int(blockIdx.x));
  o[n + t] = __syncthreads_and(t < limit + int(blockIdx.x));
  o[2 * n + t] = __syncthreads_or(t >= limit + int(blockIdx.x));
}

// Relaxation until no thread changes anything.
__global__ void settle(int *data, int *rounds) {
  int t = threadIdx.x, n = 0, changed;
  do {
    int left = t > 0 ? data[t - 1] : data[t];
    __syncthreads();
    changed = left > data[t];
    if (changed)
      data[t] = left;
    ++n;
  } while (__syncthreads_or(changed));
  rounds[t] = n;
}

int main() {
  int *out = managed<int>(2 * 3 * 120);
  for (int limit : {0, 1, 77, 119, 120}) {
    reduce<<<2, dim3(40, 3)>>>(out, limit);
    finish_kernel();
    for (int b = 0; b < 2; ++b)
      for (int t = 0; t < 120; ++t) {
        int *o = out + b * 360;
        EXPECT_AT(t, o[t], std::min(120, limit + b));
        EXPECT_AT(t, o[120 + t] != 0, limit + b >= 120);
        EXPECT_AT(t, o[240 + t] != 0, limit + b < 120);
      }
  }
  int *data = managed<int>(70), *rounds = managed<int>(70);
  for (int t = 0; t < 70; ++t)
    data[t] = t == 4 ? 9 : 0;
  settle<<<1, 70>>>(data, rounds);
  finish_kernel();
  for (int t = 0; t < 70; ++t) {
    EXPECT_AT(t, data[t], t >= 4 ? 9 : 0);
    EXPECT_AT(t, rounds[t], 66);
  }
  return result();
}
