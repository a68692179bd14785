// clock, clock64, globaltimer, nanosleep.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

__device__ unsigned long long global_timer() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

__global__ void measure(long long *out) {
  long long c0 = clock64();
  unsigned long long t0 = global_timer();
  clock_t s0 = clock();
  float v = threadIdx.x;
  for (int i = 0; i < 20000; ++i)
    v = v * 0.5f + 1;
  long long c1 = clock64();
  unsigned long long t1 = global_timer();
  clock_t s1 = clock();
  out[0] = c1 - c0, out[1] = (long long)(t1 - t0), out[2] = v > 100 ? -1 : 1;
  out[4] = (unsigned)s1 - (unsigned)s0;
  long long before = clock64();
  bool monotone = true;
  for (int i = 0; i < 1000; ++i) {
    long long now = clock64();
    monotone &= now >= before;
    before = now;
  }
  out[3] = monotone;
}

__global__ void sleeping(unsigned long long *out) {
  unsigned long long t = global_timer();
  __nanosleep(200000);
  out[threadIdx.x] = global_timer() - t;
}

// A thread that waits on the clock sees it go on.
__global__ void wait_cycles(int *out) {
  long long start = clock64();
  while (clock64() - start < 100000)
    ;
  *out = 1;
}

int main() {
  auto *out = managed<long long>(5);
  measure<<<1, 1>>>(out);
  finish_kernel();
  EXPECT(out[0] > 0 && out[1] >= 0 && out[2] == 1 && out[3] == 1 && out[4] > 0);
  auto *slept = managed<unsigned long long>(32);
  sleeping<<<1, 32>>>(slept);
  finish_kernel();
  for (int t = 0; t < 32; ++t)
    // CUDA: anything up to twice what was asked for.
    EXPECT(slept[t] >= (on_nvidia() ? 1 : 50000) && slept[t] < 600000000000ULL);
  int *done = managed<int>(1);
  wait_cycles<<<1, 1>>>(done);
  finish_kernel();
  EXPECT(*done == 1);
  return result();
}
