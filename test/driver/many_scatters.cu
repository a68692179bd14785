// Scatters that the processor lacks, more than a function may have before they are taken apart in one go: what the threads write is the
// same, and threads that take no part write nothing.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O3 --offload-arch=cpu -fregrain-cpu=x86-64-v3 -fregrain-alternatives=none %s -o %t && %t
// RUN: %regrain -O0 --offload-arch=cpu %s -o %t.plain && %t.plain

#include <cstdio>

constexpr int ROUNDS = 48, THREADS = 64, STRIDE = 101;

__global__ void scatter(const int *where, short *to) {
  const int x = threadIdx.x;
#pragma unroll
  for (int round = 0; round < ROUNDS; ++round)
    if ((where[x] >> (round % 16) & 1) != 0)
      to[(where[x] & 0xff) * STRIDE + round] = x * ROUNDS + round;
}

int main() {
  int *where;
  short *to;
  const int count = 256 * STRIDE;
  cudaMallocManaged(&where, THREADS * sizeof(int));
  cudaMallocManaged(&to, count * sizeof(short));
  static short expected[count];
  for (int i = 0; i < count; ++i)
    to[i] = expected[i] = -1;
  for (int x = 0; x < THREADS; ++x) {
    where[x] = (x * 37 % 256) | (x * 2654435761u & 0xff00);
    for (int round = 0; round < ROUNDS; ++round)
      if (where[x] >> (round % 16) & 1)
        expected[(where[x] & 0xff) * STRIDE + round] = x * ROUNDS + round;
  }
  scatter<<<1, THREADS>>>(where, to);
  cudaDeviceSynchronize();
  for (int i = 0; i < count; ++i)
    if (to[i] != expected[i])
      return printf("%d: %d, expected %d\n", i, to[i], expected[i]), 1;
}
