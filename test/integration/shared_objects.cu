// Objects with constructors in shared memory, which begin uninitialised as nvcc leaves them: barriers and pipelines of libcu++ with
// asynchronous copies, and a class of our own.
// RUN: %regrain -O2 -std=c++17 --offload-arch=cpu,sm_80 %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
// RUN: %regrain -O2 -std=c++17 --offload-arch=cpu -fregrain-coarsen-blocks=2 -fregrain-coarsen-threads=2 %s -o %t
// RUN: %t
#include "check.h"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;
constexpr int T = 64, BLOCKS = 4;

// All copy, all arrive; each phase reads what another thread wrote in the phase before.
__global__ void phases(int *out, const int *in) {
  __shared__ cuda::barrier<cuda::thread_scope_block> arrived;
  __shared__ int tile[T], turned[T];
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0)
    init(&arrived, block.size());
  block.sync();
  cuda::memcpy_async(block, tile, in + blockIdx.x * T, sizeof(tile), arrived);
  arrived.arrive_and_wait();
  turned[threadIdx.x] = tile[T - 1 - threadIdx.x];
  auto token = arrived.arrive();
  arrived.wait(std::move(token));
  out[blockIdx.x * T + threadIdx.x] = turned[threadIdx.x ^ 1];
}

// Half of the threads produce, the other half consumes, over a barrier for each direction.
__global__ void handed_over(int *out, const int *in) {
  static __shared__ cuda::barrier<cuda::thread_scope_block>
      full[2];
  __shared__ int value[T / 2];
  if (threadIdx.x < 2)
    init(full + threadIdx.x, T);
  __syncthreads();
  int t = threadIdx.x % (T / 2), sum = 0;
  for (int i = 0; i < 3; ++i) {
    if (threadIdx.x < T / 2)
      value[t] = in[i * T + t];
    full[0].arrive_and_wait();
    if (threadIdx.x >= T / 2)
      sum += value[T / 2 - 1 - t];
    full[1].arrive_and_wait();
  }
  if (threadIdx.x >= T / 2)
    out[t] = sum;
}

__global__ void two_stages(int *out, const int *in) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ int tile[2][T];
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int sum = 0;
  for (int loaded = 0, taken = 0; taken < 3; ++taken) {
    for (; loaded < min(taken + 2, 3); ++loaded) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, tile[loaded % 2], in + loaded * T, sizeof(tile[0]), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += tile[taken % 2][T - 1 - threadIdx.x];
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}

__global__ void by_group(int *out, const int *in) {
  __shared__ int tile[T];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, in + blockIdx.x * T, sizeof(tile));
  cg::wait(block);
  out[blockIdx.x * T + threadIdx.x] = tile[threadIdx.x ^ 3];
}

struct Pair {
  int a, b;
  __host__ __device__ Pair() : a(1), b(2) {}
  __host__ __device__ Pair(int a, int b) : a(a), b(b) {}
};

template <typename P> __global__ void rows_of_pairs(int *out) {
  __shared__ P of[2][T];
  of[threadIdx.x % 2][threadIdx.x] = P(threadIdx.x, 3);
  __syncthreads();
  out[threadIdx.x] = of[1 - threadIdx.x % 2][threadIdx.x ^ 1].a + sizeof(of) / sizeof(P);
}

int main() {
  int *in = managed<int>(T * BLOCKS), *out = managed<int>(T * BLOCKS);
  for (int i = 0; i < T * BLOCKS; ++i)
    in[i] = i * 3;
  phases<<<BLOCKS, T>>>(out, in);
  finish_kernel();
  for (int i = 0; i < T * BLOCKS; ++i)
    EXPECT_AT(i, out[i], 3 * (i / T * T + T - 1 - (i % T ^ 1)));
  handed_over<<<1, T>>>(out, in);
  finish_kernel();
  for (int i = 0; i < T / 2; ++i)
    EXPECT_AT(i, out[i], 3 * (3 * (T / 2 - 1 - i) + 3 * T));
  two_stages<<<1, T>>>(out, in);
  finish_kernel();
  for (int i = 0; i < T; ++i)
    EXPECT_AT(i, out[i], 3 * (3 * (T - 1 - i) + 3 * T));
  by_group<<<BLOCKS, T>>>(out, in);
  finish_kernel();
  for (int i = 0; i < T * BLOCKS; ++i)
    EXPECT_AT(i, out[i], 3 * (i ^ 3));
  rows_of_pairs<Pair><<<1, T>>>(out);
  finish_kernel();
  for (int i = 0; i < T; ++i)
    EXPECT_AT(i, out[i], (i ^ 1) + 2 * T);
  return result();
}
