// Loops by a stride that a source wants unrolled inside, over arrays of a thread: in the last rounds, which not all threads make, they are loops
// on a copy of the arrays. All counts of last rounds, against the host's.
// RUN: %regrain -O3 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

constexpr int kColumns = 24, kThreads = 64;

__host__ __device__ int work(int a, int b, int j) {
  int sum = a * b + j;
  for (int k = 0; k < 8; ++k)
    sum += (a >> k) * (b & (k + j)) ^ (a & b) + k;
  return sum;
}

// The sums of a thread stay where they are; what is gathered goes lane by lane.
template <bool kGathers>
__global__ void columns(const int *__restrict__ rows, const int *__restrict__ table, const int *__restrict__ at, int *__restrict__ out, int count) {
  int sums[kColumns] = {};
  for (int i = threadIdx.x; i < count; i += kThreads) {
    const int a = kGathers ? table[at[i]] : table[i];
#pragma unroll
    for (int j = 0; j < kColumns; ++j)
      sums[j] += work(a, rows[j * count + i], j);
  }
#pragma unroll
  for (int j = 0; j < kColumns; ++j)
    out[(blockIdx.x * kThreads + threadIdx.x) * kColumns + j] = sums[j];
}

// An array for a round alone, and one that a thread chooses from at the end.
__global__ void chosen(const int *__restrict__ rows, const int *__restrict__ table, int *__restrict__ out, int count, int choice) {
  int sums[kColumns] = {};
  for (int i = threadIdx.x; i < count; i += kThreads) {
    int products[kColumns];
#pragma unroll
    for (int j = 0; j < kColumns; ++j)
      products[j] = work(table[i], rows[j * count + i], j);
#pragma unroll
    for (int j = 0; j < kColumns; ++j)
      sums[j] += products[j] - products[kColumns - 1 - j] / 2;
  }
  out[blockIdx.x * kThreads + threadIdx.x] = sums[(threadIdx.x + choice) % kColumns];
}

int main() {
  constexpr int kBlocks = 2, kMost = 3 * kThreads;
  int *rows = managed<int>(kColumns * kMost), *table = managed<int>(kMost), *at = managed<int>(kMost);
  int *out = managed<int>(kBlocks * kThreads * kColumns);
  for (int i = 0; i < kColumns * kMost; ++i)
    rows[i] = i * 7919 % 1013;
  for (int i = 0; i < kMost; ++i)
    table[i] = i * 31 % 257;
  for (int count = 0; count <= kMost; count += count < 2 * kThreads ? 1 : 13) {
    for (int i = 0; i < count; ++i)
      at[i] = i * 5 % count;
    const auto expected = [&](int thread, int j, bool gathers, bool chosen) {
      int sum = 0;
      for (int i = thread; i < count; i += kThreads) {
        const auto product = [&](int j) { return work(table[gathers ? at[i] : i], rows[j * count + i], j); };
        sum += chosen ? product(j) - product(kColumns - 1 - j) / 2 : product(j);
      }
      return sum;
    };
    const auto check = [&](bool gathers) {
      finish_kernel();
      for (int i = 0; i < kBlocks * kThreads * kColumns; ++i)
        EXPECT_AT(i, out[i], expected(i / kColumns % kThreads, i % kColumns, gathers, false));
    };
    columns<false><<<kBlocks, kThreads>>>(rows, table, at, out, count), check(false);
    columns<true><<<kBlocks, kThreads>>>(rows, table, at, out, count), check(true);
    chosen<<<kBlocks, kThreads>>>(rows, table, out, count, count % kColumns);
    finish_kernel();
    for (int i = 0; i < kBlocks * kThreads; ++i)
      EXPECT_AT(i, out[i], expected(i % kThreads, (i % kThreads + count) % kColumns, false, true));
  }
  return result();
}
