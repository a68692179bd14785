// Arrays of single threads that loops of known rounds go over, which become registers, and such that stay: the host computes the same.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"
#include <vector>

constexpr int kThreads = 96, kBlocks = 5, kItems = 7, kTile = kThreads * kItems, kTotal = kTile * kBlocks, kBins = 16;

// What a thread makes of its items, which lie `stride` apart: an exclusive or and a sum as indices, two loops inside of one another, the
// elements of another array in reverse order.
__host__ __device__ void change(const int *in, int stride, int (&sums)[kItems + 1]) {
  int items[8], table[3][4];
  for (int i = 0; i < kItems; ++i)
    items[i] = in[i * stride];
  items[7] = in[0] ^ in[stride];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j)
      table[i][j] = items[i + j] * items[(i * 2 + j) ^ 1];
  for (int i = 0; i <= kItems; ++i)
    sums[i] = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 3; j >= 0; --j)
      sums[i + j] = sums[i + j] * 5 + table[i][j];
  for (int i = 1; i < kItems; ++i)
    items[i] = items[i] * 3 + items[i - 1];
  for (int i = 0; i < kItems; ++i)
    sums[kItems - i] += items[i];
}

// Neighbouring threads read neighbouring items; the results are kept across a barrier.
__global__ void striped(const int *in, int *out) {
  __shared__ int last[kThreads];
  int sums[kItems + 1];
  change(in + blockIdx.x * kTile + threadIdx.x, kThreads, sums);
  last[threadIdx.x] = sums[kItems];
  __syncthreads();
  for (int i = 0; i < kItems; ++i)
    out[blockIdx.x * kTile + i * kThreads + threadIdx.x] = sums[i] + last[(threadIdx.x + i) % kThreads];
}

// Each thread reads its own consecutive items and writes them to shared memory, from where they go out by rows.
__global__ void blocked(const int *in, int *out) {
  __shared__ int tile[kTile];
  int items[kItems];
  for (int i = 0; i < kItems; ++i)
    items[i] = in[blockIdx.x * kTile + threadIdx.x * kItems + i];
  for (int i = 1; i < kItems; ++i)
    items[i] += items[i - 1];
  for (int i = 0; i < kItems; ++i)
    tile[threadIdx.x * kItems + i] = items[i];
  __syncthreads();
  for (int i = 0; i < kItems; ++i)
    items[i] = tile[i * kThreads + threadIdx.x];
  for (int i = 0; i < kItems; ++i)
    out[blockIdx.x * kTile + i * kThreads + threadIdx.x] = items[i];
}

// Pointers in an array: to shared memory here and to global memory there; only threads with an odd item take part.
__global__ void counted(const int *in, int *out, int *odd) {
  __shared__ int counts[kBins];
  int *tables[2] = {counts, odd};
  int bins[kItems];
  bool valid[kItems];
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x)
    counts[bin] = 0;
  __syncthreads();
  for (int i = 0; i < kItems; ++i) {
    int item = in[blockIdx.x * kTile + i * kThreads + threadIdx.x];
    bins[i] = item & (kBins - 1);
    valid[i] = item & 1;
  }
  for (int i = 0; i < kItems; ++i)
    for (int to = 0; to < 2; ++to)
      if (to == 0 || valid[i])
        atomicAdd(tables[to] + bins[i], 1 + to);
  __syncthreads();
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x)
    atomicAdd(&out[bin], counts[bin]);
}

// One place is only known as the program runs, and a loop ends early: the array stays in memory.
__global__ void chosen(const int *in, int *out) {
  const int *mine = in + blockIdx.x * kTile + threadIdx.x;
  int items[kItems], found = 0;
  for (int i = 0; i < kItems; ++i)
    items[i] = mine[i * kThreads];
  for (; found < kItems - 1; ++found)
    if (items[found] % 5 == 0)
      break;
  items[found] += 1000;
  for (int i = 0; i < kItems; ++i)
    out[blockIdx.x * kTile + i * kThreads + threadIdx.x] = items[i] * (i + 1);
}

// Rounds with a barrier: what is kept from one to the next belongs to the thread.
__global__ void waiting(const int *in, int *out) {
  __shared__ int shown[kThreads];
  int items[4] = {};
  for (int i = 0; i < 4; ++i) {
    shown[threadIdx.x] = in[blockIdx.x * kTile + i * kThreads + threadIdx.x];
    __syncthreads();
    items[i] = shown[kThreads - 1 - threadIdx.x] + (i > 0 ? items[i - 1] : 0);
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    out[blockIdx.x * kTile + i * kThreads + threadIdx.x] = items[i];
}

// A warp reads by rows, hands on through shared memory what each lane is to have, and back; behind the end is what the host gives. More than
// one turn: what was stored in the one before must not be seen.
__global__ void exchanged(const int *in, int *out, int count, int turns) {
  constexpr int kItems = 15, kPart = 32 * kItems;
  __shared__ int tile[3 * kPart];
  int lane = threadIdx.x % 32, part = threadIdx.x / 32 * kPart, items[kItems], kept = 0;
  for (int turn = 0; turn < turns; ++turn) {
#pragma unroll 1
    for (int i = 0; i < kItems; ++i)
      items[i] = -1 - turn;
#pragma unroll 1
    for (int i = 0; i < kItems; ++i)
      if (part + i * 32 + lane < count)
        items[i] = in[part + i * 32 + lane] + kept;
#pragma unroll 1
    for (int i = 0; i < kItems; ++i)
      tile[part + i * 32 + lane] = items[i];
    __syncwarp();
#pragma unroll 1
    for (int i = 0; i < kItems; ++i)
      items[i] = tile[part + lane * kItems + i];
    __syncthreads();
    kept += items[turn];
#pragma unroll 1
    for (int i = 1; i < kItems; ++i)
      items[i] += items[i - 1];
#pragma unroll 1
    for (int i = 0; i < kItems; ++i)
      tile[part + lane * kItems + i] = items[i];
    __syncwarp();
#pragma unroll 1
    for (int i = 0; i < kItems; ++i)
      items[i] = tile[part + i * 32 + lane];
#pragma unroll 1
    for (int i = 0; i < kItems; ++i)
      out[part + i * 32 + lane] = items[i];
    __syncthreads();
  }
}

// The same once, of whole parts: no lane needs another one's memory. What warps tell each other lies where the items were.
template <int kItems> __global__ void exchanged_once(const int *in, int *out) {
  constexpr int kPart = 32 * kItems;
  __shared__ int tile[3 * kPart];
  int lane = threadIdx.x % 32, part = threadIdx.x / 32 * kPart, first = blockIdx.x * 3 * kPart, items[kItems];
#pragma unroll 1
  for (int i = 0; i < kItems; ++i)
    items[i] = in[first + part + i * 32 + lane];
#pragma unroll 1
  for (int i = 0; i < kItems; ++i)
    tile[part + i * 32 + lane] = items[i];
  __syncwarp();
#pragma unroll 1
  for (int i = 0; i < kItems; ++i)
    items[i] = tile[part + lane * kItems + i];
  __syncthreads();
#pragma unroll 1
  for (int i = 1; i < kItems; ++i)
    items[i] += items[i - 1];
  if (lane == 31)
    tile[4 + threadIdx.x / 32] = items[kItems - 1];
  __syncthreads();
  int others = tile[4] + tile[5] + tile[6];
  __syncthreads();
#pragma unroll 1
  for (int i = 0; i < kItems; ++i)
    tile[part + lane * kItems + i] = items[i] + others;
  __syncwarp();
#pragma unroll 1
  for (int i = 0; i < kItems; ++i)
    items[i] = tile[part + i * 32 + lane];
#pragma unroll 1
  for (int i = 0; i < kItems; ++i)
    out[first + part + i * 32 + lane] = items[i];
}

template <int kItems> void expect_exchanged(int *in, int *out, const int *values) {
  constexpr int kPart = 32 * kItems, kBlocks = 4;
  for (int i = 0; i < 3 * kPart * kBlocks; ++i)
    in[i] = values[i % kTotal];
  exchanged_once<kItems><<<kBlocks, 96>>>(in, out);
  OK(cudaDeviceSynchronize());
  for (int block = 0, at = 0; block < kBlocks; ++block) {
    std::vector<int> sums(3 * kPart);
    for (int i = 0; i < 3 * kPart; ++i)
      sums[i] = values[(block * 3 * kPart + i) % kTotal] + (i % kItems == 0 ? 0 : sums[i - 1]);
    int others = sums[kPart - 1] + sums[2 * kPart - 1] + sums[3 * kPart - 1];
    for (int i = 0; i < 3 * kPart; ++i, ++at)
      EXPECT_AT(at, out[at], sums[i] + others);
  }
}

int main() {
  int *in = managed<int>(kTotal), *out = managed<int>(kTotal), *counts = managed<int>(kBins), *odd = managed<int>(kBins);
  for (int i = 0; i < kTotal; ++i)
    in[i] = (i * 7919 + i / 13) % 1009;
  auto at = [](int block, int i, int thread) { return block * kTile + i * kThreads + thread; };

  striped<<<kBlocks, kThreads>>>(in, out);
  OK(cudaDeviceSynchronize());
  for (int block = 0; block < kBlocks; ++block)
    for (int thread = 0; thread < kThreads; ++thread) {
      int sums[kItems + 1], others[kItems + 1];
      change(in + at(block, 0, thread), kThreads, sums);
      for (int i = 0; i < kItems; ++i) {
        change(in + at(block, 0, (thread + i) % kThreads), kThreads, others);
        EXPECT_AT(at(block, i, thread), out[at(block, i, thread)], sums[i] + others[kItems]);
      }
    }

  blocked<<<kBlocks, kThreads>>>(in, out);
  OK(cudaDeviceSynchronize());
  for (int i = 0, sum = 0; i < kTotal; ++i) {
    sum = i % kItems == 0 ? in[i] : sum + in[i];
    EXPECT_AT(i, out[i], sum);
  }

  constexpr int kPart = 32 * 15, kParts = 3, kCount = kParts * kPart - 100;
  exchanged<<<1, 32 * kParts>>>(in, out, kCount, 3);
  OK(cudaDeviceSynchronize());
  std::vector<int> kept(32 * kParts), part(kPart);
  for (int turn = 0; turn < 3; ++turn)
    for (int first = 0; first < kParts * kPart; first += kPart) {
      for (int i = 0; i < kPart; ++i)
        part[i] = first + i < kCount ? in[first + i] + kept[first / kPart * 32 + i % 32] : -1 - turn;
      for (int lane = 0; lane < 32; ++lane) {
        kept[first / kPart * 32 + lane] += part[lane * 15 + turn];
        for (int i = 1; i < 15; ++i)
          part[lane * 15 + i] += part[lane * 15 + i - 1];
      }
      for (int i = 0; turn == 2 && i < kPart; ++i)
        EXPECT_AT(first + i, out[first + i], part[i]);
    }

  int *source = managed<int>(3 * 32 * 15 * 4), *target = managed<int>(3 * 32 * 15 * 4);
  expect_exchanged<15>(source, target, in);
  expect_exchanged<15>(source, source, in);
  expect_exchanged<8>(source, target, in);
  expect_exchanged<3>(target, source, in);

  counted<<<kBlocks, kThreads>>>(in, counts, odd);
  OK(cudaDeviceSynchronize());
  int expected[kBins] = {}, expected_odd[kBins] = {};
  for (int i = 0; i < kTotal; ++i) {
    expected[in[i] % kBins] += 1;
    expected_odd[in[i] % kBins] += in[i] % 2 * 2;
  }
  for (int bin = 0; bin < kBins; ++bin) {
    EXPECT_AT(bin, counts[bin], expected[bin]);
    EXPECT_AT(bin, odd[bin], expected_odd[bin]);
  }

  chosen<<<kBlocks, kThreads>>>(in, out);
  OK(cudaDeviceSynchronize());
  for (int block = 0; block < kBlocks; ++block)
    for (int thread = 0; thread < kThreads; ++thread) {
      int found = 0;
      while (found < kItems - 1 && in[at(block, found, thread)] % 5 != 0)
        ++found;
      for (int i = 0; i < kItems; ++i)
        EXPECT_AT(at(block, i, thread), out[at(block, i, thread)], (in[at(block, i, thread)] + (i == found ? 1000 : 0)) * (i + 1));
    }

  waiting<<<kBlocks, kThreads>>>(in, out);
  OK(cudaDeviceSynchronize());
  for (int block = 0; block < kBlocks; ++block)
    for (int thread = 0; thread < kThreads; ++thread)
      for (int i = 0, sum = 0; i < 4; ++i) {
        sum += in[at(block, i, kThreads - 1 - thread)];
        EXPECT_AT(at(block, i, thread), out[at(block, i, thread)], sum);
      }
  return result();
}
