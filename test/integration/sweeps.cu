// Sweeps over trees: threads whose element is within the block, by numbers that grow by a step of the run time, with and without padding
// between banks, signed and not. Numbers that wrap select the threads that they select.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

constexpr int kMost = 256;

// Inclusive scans of twice as many elements as threads.
template <typename I> __global__ void inclusive(int *a) {
  __shared__ int tile[2 * kMost];
  const I t = threadIdx.x, n = 2 * blockDim.x;
  tile[t] = a[blockIdx.x * n + t], tile[t + blockDim.x] = a[blockIdx.x * n + t + blockDim.x];
  for (I step = 1; step <= I(blockDim.x); step *= 2) {
    __syncthreads();
    const I at = (t + 1) * 2 * step - 1;
    if (at < n)
      tile[at] += tile[at - step];
  }
  for (I step = n / 4; step > 0; step /= 2) {
    __syncthreads();
    const I at = (t + 1) * 2 * step - 1;
    if (at + step < n)
      tile[at + step] += tile[at];
  }
  __syncthreads();
  a[blockIdx.x * n + t] = tile[t], a[blockIdx.x * n + t + blockDim.x] = tile[t + blockDim.x];
}

__device__ int padded(int i) { return i + (i >> 5); }

// Exclusive ones, with padding.
template <int Threads> __global__ void exclusive(int *a) {
  __shared__ int tile[2 * Threads + 2 * Threads / 32];
  const int t = threadIdx.x, first = blockIdx.x * 2 * Threads;
  tile[padded(t)] = a[first + t], tile[padded(t + Threads)] = a[first + t + Threads];
  int step = 1;
  for (int d = Threads; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d)
      tile[padded(step * (2 * t + 2) - 1)] += tile[padded(step * (2 * t + 1) - 1)];
    step *= 2;
  }
  if (t == 0)
    tile[padded(2 * Threads - 1)] = 0;
  for (int d = 1; d < 2 * Threads; d *= 2) {
    step >>= 1;
    __syncthreads();
    if (t < d) {
      const int left = padded(step * (2 * t + 1) - 1), right = padded(step * (2 * t + 2) - 1);
      const int kept = tile[left];
      tile[left] = tile[right], tile[right] += kept;
    }
  }
  __syncthreads();
  a[first + t] = tile[padded(t)], a[first + t + Threads] = tile[padded(t + Threads)];
}

// Which threads have a number below a limit, be it that it wraps in some, or that the step is none or less.
__global__ void below(unsigned step, unsigned from, unsigned limit, int *seen) {
  const unsigned number = threadIdx.x * step + from;
  if (number < limit)
    seen[threadIdx.x] = 1;
}
__global__ void up_to(int step, int from, int limit, int *seen) {
  const int number = int(threadIdx.x) * step + from;
  if (number <= limit)
    seen[threadIdx.x] = 1;
}

void check_scans(int threads) {
  const int blocks = 3, n = 2 * threads;
  int *a = managed<int>(blocks * n);
  auto value = [](int i) { return i * 37 % 11 - 3; };
  for (int kind = 0; kind < 3; ++kind) {
    for (int i = 0; i < blocks * n; ++i)
      a[i] = value(i);
    if (kind == 0)
      inclusive<int><<<blocks, threads>>>(a);
    else if (kind == 1)
      inclusive<unsigned><<<blocks, threads>>>(a);
    else if (threads == 256)
      exclusive<256><<<blocks, threads>>>(a);
    else
      exclusive<64><<<blocks, threads>>>(a);
    finish_kernel();
    for (int block = 0; block < blocks; ++block)
      for (int i = 0, sum = 0; i < n; ++i) {
        const int before = sum;
        sum += value(block * n + i);
        EXPECT_AT(i, a[block * n + i], kind < 2 ? sum : before);
      }
  }
}

void check_limits() {
  int *seen = managed<int>(kMost);
  for (unsigned step : {0u, 1u, 3u, 64u, 0x1000000u, 0x40000000u, 0x80000001u, 0xffffffffu})
    for (unsigned from : {0u, 5u, 0x7ffffff0u, 0xfffffff0u})
      for (unsigned limit : {0u, 6u, 130u, 0x7fffffffu, 0xfffffff5u})
        for (int kind = 0; kind < 2; ++kind) {
          const long long exact = (long long)(int(step)) * (kMost - 1) + int(from);
          // What wraps in a signed number has no meaning.
          if (kind == 1 && (exact != int(exact) || int(from) == int(0x7ffffff0)))
            continue;
          for (int i = 0; i < kMost; ++i)
            seen[i] = 0;
          if (kind == 0)
            below<<<1, kMost>>>(step, from, limit, seen);
          else
            up_to<<<1, kMost>>>(step, from, limit, seen);
          finish_kernel();
          for (unsigned i = 0; i < kMost; ++i)
            EXPECT_AT(i, seen[i], kind == 0 ? int(i * step + from < limit) : int(int(i) * int(step) + int(from) <= int(limit)));
        }
}

int main() {
  check_scans(64);
  check_scans(256);
  check_limits();
  return result();
}
