// Warp operations at the end of a loop's round, whose threads then leave the loop one by one.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

__global__ void up(unsigned *out, const unsigned *in, unsigned by) {
  const unsigned tid = threadIdx.x + 32 * threadIdx.y;
  unsigned sum = 7, round = 0;
  do {
    __syncthreads();
    sum += __shfl_up_sync(~0u, in[tid] + round, by);
  } while (++round < in[1] % 5u);
  out[tid] = sum;
}

int main() {
  unsigned *in = nullptr, *out = nullptr, host[96], result[96];
  for (unsigned i = 0; i < 96; ++i) host[i] = i * 10 + 3;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  up<<<1, dim3(32, 3)>>>(out, in, 28);
  cudaMemcpy(result, out, sizeof host, cudaMemcpyDeviceToHost);
  unsigned wrong = 0;
  for (unsigned i = 0; i < 96; ++i) {
    // 13 % 5 rounds.
    const unsigned from = i % 32 < 28 ? i : i - 28;
    wrong += result[i] != 7 + 3 * host[from] + 0 + 1 + 2;
  }
  printf("%u wrong\n", wrong);
  return wrong != 0;
}
