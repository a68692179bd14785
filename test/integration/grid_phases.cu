// What a thread and a block keep while the grid meets: values, shared memory, local arrays; loops and branches around the meeting.
// CPU-ONLY: what is said about the CPU's form.
// RUN: %regrain -O2 --offload-arch=cpu -Rpass-missed=regrain %s -o %t 2>&1 | FileCheck %s
// RUN: %t
// RUN: env REGRAIN_CPU_THREADS=1 %t
// RUN: env REGRAIN_CPU_THREADS=3 %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
// RUN: %t trap
// RUN: env REGRAIN_CPU_MODE=coroutine %t trap
// RUN: %t plain
// CHECK-NOT: not {{split|raised}}
// CHECK: not split at its barriers: it may wait for another thread of its block
// CHECK-NOT: not {{split|raised}}
#include "check.h"
#include <cooperative_groups.h>
#include <string.h>
#include <vector>

namespace cg = cooperative_groups;

// A sum over the grid in each round, by shuffles, shared memory and one word for each block; an accumulator lives across.
__global__ void sums(const int *in, long long *partial, long long *out, int rounds) {
  __shared__ int warps[32];
  cg::grid_group grid = cg::this_grid();
  unsigned i = grid.thread_rank();
  long long mine = 0;
  int value = in[i];
  for (int round = 0; round < rounds; ++round) {
    int sum = value;
    for (int k = 16; k; k /= 2)
      sum += __shfl_down_sync(~0u, sum, k);
    if (threadIdx.x % 32 == 0)
      warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
      int all = 0;
      for (unsigned w = 0; w < blockDim.x / 32; ++w)
        all += warps[w];
      partial[blockIdx.x] = all;
    }
    grid.sync();
    long long total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b)
      total += partial[b];
    mine = mine * 3 + total + value;
    value = (value * 5 + (int)(total % 7)) % 1000;
    grid.sync();
  }
  out[i] = mine;
}

// Labels spread along a chain until nothing changes: the condition is read from memory.
__global__ void spread(int *label, int n, int *changed, int *rounds) {
  cg::grid_group grid = cg::this_grid();
  unsigned i = grid.thread_rank();
  do {
    grid.sync();
    if (i == 0) {
      *changed = 0;
      ++*rounds;
    }
    grid.sync();
    int least = i < n ? label[i] : 0;
    if (i < n && i > 0)
      least = min(least, label[i - 1]);
    grid.sync();
    if (i < n && least < label[i]) {
      label[i] = least;
      *changed = 1;
    }
    grid.sync();
  } while (*changed);
}

// The same with a volatile flag, which is polled once in a round.
__global__ void halve(float *a, volatile int *more) {
  cg::grid_group grid = cg::this_grid();
  unsigned i = grid.thread_rank();
  while (true) {
    a[i] = a[i] * 0.5f + 1.0f;
    grid.sync();
    if (i == 0)
      *more = *more - 1;
    grid.sync();
    if (*more <= 0)
      break;
  }
}

// Meets in a function that is called.
__device__ __noinline__ int exchange(cg::grid_group &grid, int *words, int value) {
  words[grid.thread_rank()] = value;
  grid.sync();
  int other = words[(grid.thread_rank() + 37) % grid.size()];
  grid.sync();
  return other;
}

__global__ void called(int *words, int *out) {
  cg::grid_group grid = cg::this_grid();
  int v = grid.thread_rank() * 3 + 1;
  for (int k = 0; k < 4; ++k)
    v = exchange(grid, words, v + k);
  out[grid.thread_rank()] = v;
}

// Static and dynamic shared memory and a local array live across, in three dimensions.
__global__ void memories(int *out, const int *order, int *words) {
  extern __shared__ int dynamic[];
  __shared__ int fixed[4][8];
  cg::grid_group grid = cg::this_grid();
  int local[8];
  int t = cg::this_thread_block().thread_rank(), b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  for (int k = 0; k < 8; ++k)
    local[order[k]] = t * 8 + k + b;
  dynamic[t] = b * 1000 + t;
  fixed[threadIdx.y][threadIdx.x] = b * 77 + t;
  words[grid.thread_rank()] = b;
  grid.sync();
  int n = blockDim.x * blockDim.y * blockDim.z;
  int other = words[(grid.thread_rank() + n) % grid.size()];
  if (other % 2)
    local[order[t % 8]] += other;
  grid.sync();
  out[grid.thread_rank()] = dynamic[n - 1 - t] + fixed[threadIdx.y][7 - threadIdx.x] + local[order[7 - t % 8]] * 100000 + other;
}

// Who has left counts as being there: threads, and whole blocks.
__global__ void leavers(int *a, int *out) {
  cg::grid_group grid = cg::this_grid();
  unsigned i = grid.thread_rank();
  a[i] = i;
  if (blockIdx.x + 1 == gridDim.x && gridDim.x > 1)
    return;
  if (threadIdx.x >= 48)
    return;
  grid.sync();
  out[i] = a[(i + 64) % grid.size()];
}

// The branch is one for the whole grid, which is known when the program runs.
__global__ void branch(int *a, int *out, const int *which) {
  cg::grid_group grid = cg::this_grid();
  unsigned i = grid.thread_rank();
  a[i] = i * 2;
  int v;
  if (*which) {
    grid.sync();
    v = a[(i + 1) % grid.size()];
  } else {
    a[i] += 1;
    grid.sync();
    v = a[(i + 2) % grid.size()];
  }
  grid.sync();
  a[i] = v + 5;
  grid.sync();
  out[i] = a[(i + 3) % grid.size()];
}

// Each block waits for the one before, which no barrier of the grid lets go on.
__global__ void chain(volatile int *ready, int *out) {
  cg::grid_group grid = cg::this_grid();
  grid.sync();
  if (threadIdx.x == 0) {
    if (blockIdx.x > 0)
      while (ready[blockIdx.x - 1] == 0)
        ;
    out[blockIdx.x] = blockIdx.x ? out[blockIdx.x - 1] + blockIdx.x : 0;
    __threadfence();
    ready[blockIdx.x] = 1;
  }
  grid.sync();
}

__global__ void trapping(int *a) {
  cg::grid_group grid = cg::this_grid();
  a[grid.thread_rank()] = 1;
  grid.sync();
  if (blockIdx.x == 1 && threadIdx.x == 5)
    __trap();
  grid.sync();
}

template <class T> struct Same {
  using type = T;
};

template <class... T>
void cooperative(void (*kernel)(T...), dim3 grid, dim3 block, size_t shared, typename Same<T>::type... values) {
  void *args[] = {(void *)&values...};
  OK(cudaLaunchCooperativeKernel((void *)kernel, grid, block, args, shared, nullptr));
}

void check_sums(int blocks) {
  const int block = 96, n = blocks * block, rounds = 7;
  int *in = managed<int>(n);
  long long *partial = managed<long long>(blocks), *out = managed<long long>(n);
  for (int i = 0; i < n; ++i)
    in[i] = i * 31 % 97;
  cooperative(sums, blocks, block, 0, in, partial, out, rounds);
  finish_kernel();
  std::vector<long long> mine(n, 0), value(in, in + n);
  for (int round = 0; round < rounds; ++round) {
    long long total = 0;
    for (long long v : value)
      total += v;
    for (int i = 0; i < n; ++i) {
      mine[i] = mine[i] * 3 + total + value[i];
      value[i] = (value[i] * 5 + total % 7) % 1000;
    }
  }
  for (int i = 0; i < n; ++i)
    EXPECT_AT(i, out[i], mine[i]);
}

void check_conditions(int blocks) {
  const int block = 64, n = blocks * block - 10;
  int *label = managed<int>(n), *word = managed<int>(3);
  for (int i = 0; i < n; ++i)
    label[i] = n - i % 50;
  std::vector<int> want(label, label + n);
  int wanted_rounds = 0;
  for (bool changed = true; changed; ++wanted_rounds) {
    changed = false;
    std::vector<int> before = want;
    for (int i = 1; i < n; ++i)
      if (before[i - 1] < want[i])
        want[i] = before[i - 1], changed = true;
  }
  cooperative(spread, blocks, block, 0, label, n, word, word + 1);
  finish_kernel();
  EXPECT(word[1] == wanted_rounds);
  for (int i = 0; i < n; ++i)
    EXPECT_AT(i, label[i], want[i]);
  float *a = managed<float>(blocks * block);
  word[2] = 5;
  cooperative(halve, blocks, block, 0, a, word + 2);
  finish_kernel();
  for (int i = 0; i < blocks * block; ++i)
    EXPECT_AT(i, a[i], 1.9375f);
}

void check_called(int blocks) {
  const int block = 32, n = blocks * block;
  int *words = managed<int>(n), *out = managed<int>(n);
  cooperative(called, blocks, block, 0, words, out);
  finish_kernel();
  std::vector<int> v(n), before(n);
  for (int i = 0; i < n; ++i)
    v[i] = i * 3 + 1;
  for (int k = 0; k < 4; ++k) {
    before = v;
    for (int i = 0; i < n; ++i)
      v[i] = before[(i + 37) % n] + k;
  }
  for (int i = 0; i < n; ++i)
    EXPECT_AT(i, out[i], v[i]);
}

void check_memories() {
  dim3 grid(2, 1, 2), block(8, 4, 2);
  const int threads = 64, n = 4 * threads;
  int *out = managed<int>(n), *order = managed<int>(8), *words = managed<int>(n);
  for (int k = 0; k < 8; ++k)
    order[k] = k * 3 % 8;
  cooperative(memories, grid, block, threads * sizeof(int), out, order, words);
  finish_kernel();
  for (int b = 0; b < 4; ++b)
    for (int t = 0; t < threads; ++t) {
      int other = (b + 1) % 4, fixed = 0, local = t * 8 + 7 - t % 8 + b;
      if (other % 2 && 7 - t % 8 == t % 8)
        local += other;
      int x = 7 - t % 8, y = t / 8 % 4;
      // Two planes of threads store to one place: the last one's value stays in the order of threads.
      fixed = b * 77 + 32 + y * 8 + x;
      int low = b * 77 + y * 8 + x, got = out[b * threads + t] - (b * 1000 + threads - 1 - t) - local * 100000 - other;
      EXPECT(got == fixed || got == low);
    }
}

void check_others(int blocks) {
  const int block = 64, n = blocks * block;
  int *a = managed<int>(n), *out = managed<int>(n), *which = managed<int>(1);
  for (int i = 0; i < n; ++i)
    out[i] = -1;
  cooperative(leavers, blocks, block, 0, a, out);
  finish_kernel();
  for (int i = 0; i < n; ++i)
    EXPECT_AT(i, out[i], (blocks > 1 && i / block + 1 == blocks) || i % block >= 48 ? -1 : (i + 64) % n);
  for (*which = 0; *which < 2; ++*which) {
    cooperative(branch, blocks, block, 0, a, out, which);
    finish_kernel();
    for (int i = 0; i < n; ++i)
      EXPECT_AT(i, out[i], *which ? (i + 4) % n * 2 + 5 : (i + 5) % n * 2 + 6);
  }
  int *ready = managed<int>(blocks), *chained = managed<int>(blocks);
  cooperative(chain, blocks, block, 0, ready, chained);
  finish_kernel();
  for (int b = 0; b < blocks; ++b)
    EXPECT_AT(b, chained[b], b * (b + 1) / 2);
}

int main(int argc, char **argv) {
  int *word = managed<int>(1024);
  if (argc > 1 && !strcmp(argv[1], "trap")) {
    cooperative(trapping, 4, 64, 0, word);
    EXPECT(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    return result();
  }
  if (argc > 1) {
    trapping<<<4, 64>>>(word);
    EXPECT(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    return result();
  }
  int processors = 0, resident = 0;
  OK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, sums, 96, 0));
  for (int blocks : {1, 2, 5, 16}) {
    if (blocks > processors * resident)
      break;
    check_sums(blocks);
    check_conditions(blocks);
    check_called(blocks);
    check_others(blocks);
  }
  check_memories();
  return result();
}
