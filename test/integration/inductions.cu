// Numbers and addresses that threads count up across barriers, the same way for all or each its own.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

#include <vector>

constexpr int kThreads = 48, kPlanes = 9, kPlane = 64;

// Walks along z with the plane before in shared memory; indices wrap where `first` is large.
__global__ void walk(const int *from, int *to, unsigned first, int stride, int planes) {
  __shared__ int plane[kThreads];
  unsigned at = first + threadIdx.x;
  for (int skipped = 0; skipped < 2; ++skipped)
    at += stride;
  const int *next = from + threadIdx.x;
  int sum = 0;
  for (int z = 2; z < planes; ++z) {
    plane[threadIdx.x] = from[(at - first) % (kPlanes * kPlane)];
    next += stride;
    __syncthreads();
    sum = sum * 3 + plane[(threadIdx.x + z) % kThreads] + *next + static_cast<int>(at % 7);
    at += stride;
    __syncthreads();
  }
  to[threadIdx.x] = sum;
  to[kThreads + threadIdx.x] = static_cast<int>(at) + static_cast<int>(next - from);
}

// Each thread goes its own way, some leave early, and rounds run down.
__global__ void own_ways(const int *from, int *to, int rounds) {
  __shared__ int seen[kThreads];
  int at = threadIdx.x, downwards = 100;
  unsigned char small = static_cast<unsigned char>(threadIdx.x * 5);
  for (int round = rounds; round > 0; round -= 2) {
    seen[threadIdx.x] = at + small;
    __syncthreads();
    at += from[threadIdx.x % 3] + seen[(threadIdx.x + 1) % kThreads] % 2;
    small += 77;
    downwards -= round;
    __syncthreads();
  }
  to[threadIdx.x] = at * 1000 + downwards + small;
}

// What is added in each round is known before the loop, if it has a round; some threads have none.
__global__ void __launch_bounds__(128) same_each_round(const unsigned *from, unsigned *to, int n) {
  const unsigned t = threadIdx.x;
  unsigned sum = from[t], flips = 7;
  for (int left = static_cast<int>((t < 24 ? t : static_cast<unsigned>(n)) % 5); left >= 0; left -= 2) {
    flips += 0x80000000u;
    const unsigned rounds = sum % 5;
    for (unsigned round = 0; round != rounds; ++round)
      sum += from[19] * from[t & 255];
  }
  to[2 * t] = sum, to[2 * t + 1] = flips;
}

static void check_same_each_round(unsigned threads) {
  unsigned *from = managed<unsigned>(256), *to = managed<unsigned>(256);
  for (unsigned i = 0; i < 256; ++i)
    from[i] = i * 2654435761u >> (i % 3 * 10);
  same_each_round<<<1, threads>>>(from, to, 5);
  finish_kernel();
  for (unsigned t = 0; t < threads; ++t) {
    unsigned sum = from[t], flips = 7;
    for (int left = static_cast<int>((t < 24 ? t : 5u) % 5); left >= 0; left -= 2) {
      flips += 0x80000000u;
      for (unsigned round = sum % 5; round; --round)
        sum += from[19] * from[t];
    }
    EXPECT_AT(t, to[2 * t], sum);
    EXPECT_AT(t, to[2 * t + 1], flips);
  }
}

int main() {
  std::vector<int> from(kPlanes * kPlane);
  for (size_t i = 0; i < from.size(); ++i)
    from[i] = static_cast<int>(i * 29 % 83);
  int *device, *out;
  cudaMalloc(&device, from.size() * sizeof(int));
  cudaMalloc(&out, 2 * kThreads * sizeof(int));
  cudaMemcpy(device, from.data(), from.size() * sizeof(int), cudaMemcpyHostToDevice);
  int got[2 * kThreads];

  for (unsigned first : {0u, 0x7ffffff0u, 0xfffffff0u})
    for (int planes : {0, 2, 3, kPlanes}) {
      walk<<<1, kThreads>>>(device, out, first, kPlane, planes);
      cudaMemcpy(got, out, sizeof(got), cudaMemcpyDeviceToHost);
      for (int t = 0; t < kThreads; ++t) {
        int sum = 0, rounds = planes > 2 ? planes - 2 : 0;
        for (int z = 2; z < planes; ++z) {
          const int other = (t + z) % kThreads;
          const unsigned at = first + t + z * kPlane;
          sum = sum * 3 + from[other + z * kPlane] + from[t + (z - 1) * kPlane] + static_cast<int>(at % 7);
        }
        EXPECT_AT(t, got[t], sum);
        const unsigned end = first + t + (2 + rounds) * kPlane;
        EXPECT_AT(t, got[kThreads + t], static_cast<int>(end) + t + rounds * kPlane);
      }
    }

  for (int rounds : {0, 1, 8}) {
    own_ways<<<1, kThreads>>>(device, out, rounds);
    cudaMemcpy(got, out, kThreads * sizeof(int), cudaMemcpyDeviceToHost);
    int at[kThreads], seen[kThreads], downwards = 100;
    unsigned char small[kThreads];
    for (int t = 0; t < kThreads; ++t)
      at[t] = t, small[t] = static_cast<unsigned char>(t * 5);
    for (int round = rounds; round > 0; round -= 2) {
      for (int t = 0; t < kThreads; ++t)
        seen[t] = at[t] + small[t];
      for (int t = 0; t < kThreads; ++t)
        at[t] += from[t % 3] + seen[(t + 1) % kThreads] % 2, small[t] += 77;
      downwards -= round;
    }
    for (int t = 0; t < kThreads; ++t)
      EXPECT_AT(t, got[t], at[t] * 1000 + downwards + small[t]);
  }
  for (unsigned threads : {1, 3, 48, 128})
    check_same_each_round(threads);
  return failures != 0;
}
