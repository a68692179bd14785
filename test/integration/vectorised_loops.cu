// What LLVM's vectoriser gets wrong unless it is spared: a division of uniform values in a loop that only some threads
// enter, and (in larger kernels) indices that wrap at different powers of two.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

__global__ void guarded(unsigned *out, unsigned m) {
  __shared__ unsigned tile[64];
  const unsigned nt = blockDim.x * blockDim.y * blockDim.z;
  const unsigned tid = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  tile[tid] = nt - tid;
  unsigned sum = 7;
  __syncthreads();
  for (unsigned i = 0; i < (0u - tid) % 5u; i += 2) sum += tile[m % nt];
  __syncthreads();
  out[tid * 8 + 2] += sum;
}

int main() {
  unsigned *out = nullptr, host[512];
  volatile unsigned eight = 8;
  cudaMalloc(&out, sizeof host);
  cudaMemset(out, 0, sizeof host);
  guarded<<<1, dim3(eight, 8)>>>(out, 77);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  unsigned wrong = 0;
  for (unsigned tid = 0; tid < 64; ++tid) wrong += host[tid * 8 + 2] != 7 + ((0u - tid) % 5u + 1) / 2 * 51;
  printf("%u wrong\n", wrong);
  return wrong != 0;
}
