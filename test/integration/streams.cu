// Launches that store more than the caches hold, or are said to: of elements of all sizes, at addresses that no vector is a multiple of, of what is
// read too, and before a sign to another block that waits. Each element against the host's.
// RUN: %regrain -O3 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_STREAM_BYTES=1 %t
// RUN: env REGRAIN_CPU_STREAM_BYTES=1 REGRAIN_CPU_THREADS=1 %t
// RUN: env REGRAIN_CPU_STREAM_BYTES=many %t 2>&1 | FileCheck %s
// CHECK: warning: expected REGRAIN_CPU_STREAM_BYTES to be a number of bytes, got 'many'
#include "check.h"

constexpr int kThreads = 64, kBlocks = 9, kCount = kThreads * kBlocks;

extern "C" __global__ void whole(const float *from, float *to) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  to[i] = from[i] + 1.0f;
}

extern "C" __global__ void in_place(const float *from, float *to) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  to[i] += from[i];
}

extern "C" __global__ void again(const float *from, float *to, int rounds) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  for (int k = 0; k < rounds; ++k)
    to[i] = from[i + k];
}

struct Buffer {
  float *elements;
};

// Two structures by value are not one.
extern "C" __global__ void structures(Buffer from, Buffer to) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  to.elements[i] = from.elements[i] - 1.0f;
}

// Each thread fills a part of a line.
extern "C" __global__ void parts(const float *from, float *to) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
#pragma unroll
  for (int k = 0; k < 3; ++k)
    to[3 * i + k] = from[i] + float(k);
}

template <typename T> __global__ void some(const T *from, T *to, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    to[i] = from[count - 1 - i];
}

// Each block adds to what the one before has stored, once that says so.
__global__ void chain(const int *from, int *to, const volatile int *stored, int *flags) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (threadIdx.x == 0 && blockIdx.x > 0)
    while (((volatile int *)flags)[blockIdx.x - 1] == 0)
      ;
  __syncthreads();
  const int before = blockIdx.x > 0 ? stored[i - kThreads] : 0;
  to[i] = before + from[i];
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0)
    ((volatile int *)flags)[blockIdx.x] = 1;
}

template <typename T> void check_some() {
  T *from = managed<T>(kCount + 64), *to = managed<T>(kCount + 64);
  for (int i = 0; i < kCount + 64; ++i)
    from[i] = T(i % 100);
  for (int shift = 0; shift < 40; shift += 3) {
    const int count = kCount - 5 * shift;
    std::memset(to, 0, (kCount + 64) * sizeof(T));
    some<T><<<kBlocks, kThreads>>>(from, to + shift, count);
    finish_kernel();
    for (int i = 0; i < kCount + 64; ++i)
      EXPECT_AT(i, to[i], i < shift || i >= shift + count ? T(0) : from[count - 1 - (i - shift)]);
  }
}

int main() {
  float *from = managed<float>(kCount + 64), *to = managed<float>(kCount + 64);
  for (int i = 0; i < kCount + 64; ++i)
    from[i] = float(i);
  whole<<<kBlocks, kThreads>>>(from, to);
  finish_kernel();
  for (int i = 0; i < kCount; ++i)
    EXPECT_AT(i, to[i], from[i] + 1.0f);
  in_place<<<kBlocks, kThreads>>>(from, to);
  finish_kernel();
  for (int i = 0; i < kCount; ++i)
    EXPECT_AT(i, to[i], 2.0f * from[i] + 1.0f);
  again<<<kBlocks, kThreads>>>(from, to, 7);
  finish_kernel();
  for (int i = 0; i < kCount; ++i)
    EXPECT_AT(i, to[i], from[i + 6]);
  structures<<<kBlocks, kThreads>>>(Buffer{from}, Buffer{to});
  finish_kernel();
  for (int i = 0; i < kCount; ++i)
    EXPECT_AT(i, to[i], from[i] - 1.0f);
  float *three = managed<float>(3 * kCount);
  parts<<<kBlocks, kThreads>>>(from, three);
  finish_kernel();
  for (int i = 0; i < 3 * kCount; ++i)
    EXPECT_AT(i, three[i], from[i / 3] + float(i % 3));
  check_some<char>(), check_some<short>(), check_some<int>(), check_some<long long>(), check_some<double>();
  int *numbers = managed<int>(kCount), *sums = managed<int>(kCount), *flags = managed<int>(kBlocks);
  for (int i = 0; i < kCount; ++i)
    numbers[i] = i;
  chain<<<kBlocks, kThreads>>>(numbers, sums, sums, flags);
  finish_kernel();
  for (int i = 0; i < kCount; ++i)
    EXPECT_AT(i, sums[i], numbers[i] + (i < kThreads ? 0 : sums[i - kThreads]));
  return result();
}
