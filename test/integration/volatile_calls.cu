// Volatile accesses in functions that blocks call do not give the processor away each time: on a machine that others use, each would take
// milliseconds.
// CPU-ONLY: counts what its runtime calls
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: env REGRAIN_CPU_THREADS=1 %t
#include "check.h"
#include <atomic>
#include <sched.h>

static std::atomic<int> given_away;
extern "C" int sched_yield() noexcept {
  ++given_away;
  return 0;
}

__device__ __noinline__ int deep(int n) {
  volatile char frame[64];
  frame[n % 64] = char(n);
  return n == 0 ? 0 : deep(n - 1) + frame[n % 64] - char(n) + 1;
}

__global__ void sums(int *out) { out[threadIdx.x] = deep(500); }

int main() {
  int *out = managed<int>(64);
  sums<<<1, 64>>>(out);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 64; ++i)
    EXPECT_AT(i, out[i], 500);
  // 64 * 501 * 2 accesses.
  EXPECT(given_away < 640);
  return failures != 0;
}
