// Threads that wait for one another: locks, the last block, a flag set by another block.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

__device__ int lock;
__device__ unsigned arrived;

// A lock taken by one thread of each warp, then by all threads, one at a time.
__global__ void critical(int *counter) {
  for (int lane = 0; lane < 32; ++lane) {
    if (lane == threadIdx.x % 32) {
      while (atomicCAS(&lock, 0, 1) != 0)
        ;
      __threadfence();
      *(volatile int *)counter = *(volatile int *)counter + 1;
      __threadfence();
      atomicExch(&lock, 0);
    }
  }
}

// Independent thread scheduling: the lock's owner gets on although its warp mates spin.
__global__ void per_thread(int *counter) {
  bool done = false;
  while (!done) {
    if (atomicCAS(&lock, 0, 1) == 0) {
      *counter += 1;
      __threadfence();
      done = true;
      atomicExch(&lock, 0);
    }
  }
}

// The last block adds up what the others left.
__global__ void last_block(const int *in, int *partial, int *out) {
  __shared__ bool last;
  __shared__ int sum;
  if (threadIdx.x == 0)
    sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(&arrived, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b)
      total += ((volatile int *)partial)[b];
    *out = total;
  }
}

// A later block waits for an earlier one: a chained scan.
__global__ void chained(volatile int *flags, int *out) {
  if (threadIdx.x == 0) {
    int before = 0;
    if (blockIdx.x > 0) {
      while (flags[blockIdx.x - 1] == 0)
        ;
      before = flags[blockIdx.x - 1];
    }
    flags[blockIdx.x] = before + 1;
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = flags[blockIdx.x] * 10;
}

// One thread of a block waits for another with a volatile flag alone.
__global__ void flag_in_block(int *out) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0)
    flag = 0;
  __syncthreads();
  if (threadIdx.x == 63) {
    out[0] = 5;
    __threadfence_block();
    flag = 1;
  } else if (threadIdx.x == 2) {
    while (!flag)
      ;
    out[1] = *(volatile int *)&out[0] + 1;
  }
}

int main() {
  int *out = managed<int>(1024), *in = managed<int>(1024), *partial = managed<int>(64);
  critical<<<6, 64>>>(out);
  finish_kernel();
  EXPECT_AT(0, out[0], 384);
  out[0] = 0;
  per_thread<<<3, 64>>>(out);
  finish_kernel();
  EXPECT_AT(0, out[0], 192);
  int sum = 0;
  for (int i = 0; i < 1024; ++i)
    sum += in[i] = i % 13;
  last_block<<<16, 64>>>(in, partial, out);
  finish_kernel();
  EXPECT_AT(0, out[0], sum);
  memset(partial, 0, 64 * sizeof(int));
  chained<<<64, 16>>>(partial, out);
  finish_kernel();
  for (int i = 0; i < 1024; ++i)
    EXPECT_AT(i, out[i], (i / 16 + 1) * 10);
  flag_in_block<<<1, 64>>>(out);
  finish_kernel();
  EXPECT(out[0] == 5 && out[1] == 6);
  return result();
}
