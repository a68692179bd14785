// Asynchronous copies to shared memory: inline PTX with constant operands, the pipeline primitives, and libcu++'s pipeline.
// RUN: %regrain -O2 -std=c++17 --offload-arch=cpu,sm_80 %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
// RUN: %regrain -O2 -std=c++17 --offload-arch=cpu,sm_80 -fregrain-coarsen-blocks=2 -fregrain-coarsen-threads=2 %s -o %t
// RUN: %t
#include "check.h"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

constexpr int T = 64, BLOCKS = 3;

template <int Size, int Taken> __device__ void copy(void *to, const void *from) {
  unsigned address = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(from), "n"(Size), "r"(Taken)
               : "memory");
}

template <int Groups> __device__ void wait_for_all_but() { asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory"); }

// All sizes, some with zeros behind what was taken; the neighbour's data is read after a barrier.
template <int Size, int Taken> __global__ void by_hand(unsigned char *to, const unsigned char *from) {
  __shared__ __align__(16) unsigned char s[T * 16];
  int t = threadIdx.x, first = blockIdx.x * T * Size;
  copy<Size, Taken>(s + t * Size, from + first + t * Size);
  asm volatile("cp.async.commit_group;" ::: "memory");
  wait_for_all_but<0>();
  __syncthreads();
  for (int i = 0; i < Size; ++i)
    to[first + t * Size + i] = s[(t ^ 1) * Size + i];
}

template <int Size, int Taken> void check_by_hand(unsigned char *to, const unsigned char *from) {
  by_hand<Size, Taken><<<BLOCKS, T>>>(to, from);
  finish_kernel();
  for (int i = 0; i < BLOCKS * T * Size; ++i)
    EXPECT_AT(i, to[i], (unsigned char)(i % Size < Taken ? from[i ^ Size] : 0));
}

// The size is chosen by a value: the constants of the branches must not become one operand.
__global__ void chosen(unsigned *to, const unsigned *from, int kind) {
  __shared__ __align__(16) unsigned s[T * 4];
  int t = threadIdx.x;
  for (int i = 0; i < 4; ++i)
    s[t * 4 + i] = 99;
  if (kind == 0)
    copy<4, 4>(s + t * 4, from + t * 4);
  else if (kind == 1)
    copy<8, 8>(s + t * 4, from + t * 4);
  else
    copy<16, 16>(s + t * 4, from + t * 4);
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  for (int i = 0; i < 4; ++i)
    to[t * 4 + i] = s[(T - 1 - t) * 4 + i];
}

// Two stages in flight, as in CUDA's own samples.
__global__ void primitives(int4 *to, const int4 *from, int rounds) {
  __shared__ int4 s[2][T];
  int t = threadIdx.x, first = blockIdx.x * T * rounds;
  __pipeline_memcpy_async(&s[0][t], &from[first + t], sizeof(int4));
  __pipeline_commit();
  int4 sum = {0, 0, 0, 0};
  for (int r = 0; r < rounds; ++r) {
    if (r + 1 < rounds)
      __pipeline_memcpy_async(&s[(r + 1) & 1][t], &from[first + (r + 1) * T + t], sizeof(int4));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    int4 v = s[r & 1][T - 1 - t];
    sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
    __syncthreads();
  }
  to[blockIdx.x * T + t] = sum;
}

__global__ void thread_pipeline(int *to, const int *from, int rounds) {
  __shared__ int s[2][T];
  int t = threadIdx.x, first = blockIdx.x * T * rounds, sum = 0;
  cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
  for (int r = 0; r < rounds; ++r) {
    pipe.producer_acquire();
    cuda::memcpy_async(&s[r & 1][t], &from[first + r * T + t], sizeof(int), pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    __syncthreads();
    sum += s[r & 1][T - 1 - t];
    __syncthreads();
    pipe.consumer_release();
  }
  to[blockIdx.x * T + t] = sum;
}

__global__ void group_copy(int *to, const int *from) {
  __shared__ __align__(16) int s[T * 4];
  auto block = cooperative_groups::this_thread_block();
  cooperative_groups::memcpy_async(block, s, from + blockIdx.x * T * 4, sizeof(s));
  cooperative_groups::wait(block);
  for (int i = 0; i < 4; ++i)
    to[(blockIdx.x * T + threadIdx.x) * 4 + i] = s[(T - 1 - threadIdx.x) * 4 + i];
}

// Copies behind a predicate, and of as many bytes as there are, as libraries of matrix products have them; the tile's addresses are sums of numbers.
__global__ void at_the_edge(int *to, const int *from, int count, int stages) {
  __shared__ __align__(16) int s[2][T][4];
  const int t = threadIdx.x;
  for (int i = 0; i < 4; ++i)
    s[0][t][i] = s[1][t][i] = 77;
  const unsigned tile = (unsigned)__cvta_generic_to_shared(s);
  int sum = 0;
  for (int stage = 0; stage < stages; ++stage) {
    const int first = (stage * T + t) * 4, left = (count - first) * 4;
    const int bytes = left < 0 ? 0 : left < 16 ? left : 16;
    const unsigned place = tile + (stage & 1) * T * 16 + t * 16;
    if (stage % 3 == 2)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(place), "l"(from + first), "r"(bytes) : "memory");
    else
      asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, %0, 0;\n @p cp.async.cg.shared.global.L2::128B [%1], [%2], %3;\n}\n" ::"r"(int(bytes == 16)),
                   "r"(place), "l"(from + first), "n"(16)
                   : "memory");
    asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;\n" ::: "memory");
    __syncthreads();
    sum += s[stage & 1][T - 1 - t][stage & 3] * (stage + 1);
    __syncthreads();
  }
  to[t] = sum;
}

void check_the_edge(int *to, const int *from) {
  constexpr int STAGES = 8;
  for (int count : {0, 1, 6, T * 4 * 2 + 3, T * 4 * 3 - 1, T * 4 * STAGES}) {
    at_the_edge<<<1, T>>>(to, from, count, STAGES);
    finish_kernel();
    int s[2][T][4], want[T] = {};
    for (auto &stage : s)
      for (auto &row : stage)
        for (int &element : row)
          element = 77;
    for (int stage = 0; stage < STAGES; ++stage) {
      for (int t = 0; t < T; ++t)
        for (int i = 0; i < 4; ++i) {
          const int first = (stage * T + t) * 4;
          if (stage % 3 == 2)
            s[stage & 1][t][i] = first + i < count ? from[first + i] : 0;
          else if (first + 4 <= count)
            s[stage & 1][t][i] = from[first + i];
        }
      for (int t = 0; t < T; ++t)
        want[t] += int(unsigned(s[stage & 1][T - 1 - t][stage & 3]) * (stage + 1));
    }
    for (int t = 0; t < T; ++t)
      EXPECT_AT(t, to[t], want[t]);
  }
}

int main() {
  constexpr int ROUNDS = 5, N = BLOCKS * T * ROUNDS * 4;
  int *from = managed<int>(N), *to = managed<int>(N);
  for (int i = 0; i < N; ++i)
    from[i] = i * 2654435761u;
  auto *bytes = (unsigned char *)to;
  check_by_hand<4, 4>(bytes, (unsigned char *)from);
  check_by_hand<8, 8>(bytes, (unsigned char *)from);
  check_by_hand<16, 16>(bytes, (unsigned char *)from);
  check_by_hand<4, 0>(bytes, (unsigned char *)from);
  check_by_hand<16, 7>(bytes, (unsigned char *)from);
  for (int kind = 0; kind < 3; ++kind) {
    chosen<<<1, T>>>((unsigned *)to, (unsigned *)from, kind);
    finish_kernel();
    for (int i = 0; i < T * 4; ++i)
      EXPECT_AT(i, to[i], i % 4 < 1 << kind ? from[(T - 1 - i / 4) * 4 + i % 4] : 99);
  }
  primitives<<<BLOCKS, T>>>((int4 *)to, (int4 *)from, ROUNDS);
  finish_kernel();
  for (int i = 0; i < BLOCKS * T * 4; ++i) {
    int b = i / (T * 4), t = i / 4 % T, want = 0;
    for (int r = 0; r < ROUNDS; ++r)
      want += from[((b * ROUNDS + r) * T + T - 1 - t) * 4 + i % 4];
    EXPECT_AT(i, to[i], want);
  }
  thread_pipeline<<<BLOCKS, T>>>(to, from, ROUNDS);
  finish_kernel();
  for (int i = 0; i < BLOCKS * T; ++i) {
    int want = 0;
    for (int r = 0; r < ROUNDS; ++r)
      want += from[(i / T * ROUNDS + r) * T + T - 1 - i % T];
    EXPECT_AT(i, to[i], want);
  }
  check_the_edge(to, from);
  group_copy<<<BLOCKS, T>>>(to, from);
  finish_kernel();
  for (int i = 0; i < BLOCKS * T * 4; ++i)
    EXPECT_AT(i, to[i], from[(i / 4 / T * T + T - 1 - i / 4 % T) * 4 + i % 4]);
  return result();
}
