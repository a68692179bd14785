// Arrays of single threads, filled at once, copied, and kept across barriers or not: the host computes the same.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

#include <vector>

constexpr int kThreads = 96, kRounds = 5;

struct Pair {
  int first, second;
};

// What one thread computes, with `wait` between the phases.
template <class Wait> __host__ __device__ int blocked(int t, int n, const int *numbers, const Wait &wait) {
  int sums[3][4] = {}; // lives across the barriers
  for (int round = 0; round < n; ++round) {
    int left[3], right[4] = {7, 5, 3, 1}; // both begin anew in each round
    wait();
    for (int i = 0; i < 3; ++i)
      left[i] = numbers[(t * 3 + i + round) % 64];
    if (t % 3 == 1)
      right[round % 4] = t;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 4; ++j)
        sums[i][j] += left[i] * right[j];
    wait();
  }
  int total = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j)
      total = total * 31 + sums[i][j];
  return total;
}

template <class Wait> __host__ __device__ int copied(int t, int n, const int *numbers, const Wait &wait) {
  Pair now[4], before[4] = {{1, 2}, {3, 4}};
  for (int round = 0; round < n; ++round) {
    for (int i = 0; i < 4; ++i)
      now[i] = {before[(i + t) % 4].second + numbers[(t + round) % 64], before[i].first};
    wait(); // both are kept
    for (int i = 0; i < 4; ++i)
      before[i] = now[i];
  }
  return before[t % 4].first * 3 + before[(t + 1) % 4].second;
}

// Written in one round and read in the next: no round may find what another thread wrote.
template <class Wait> __host__ __device__ int carried(int t, int n, const int *numbers, const Wait &wait) {
  int ring[8], filled = 0;
  long long bytes[2];
  int sum = 0;
  for (int round = 0; round < n; ++round) {
    if (round % 2 == t % 2) {
      ring[filled++] = numbers[(t + round) % 64];
      bytes[0] = t, bytes[1] = round;
      sum += static_cast<int>(bytes[round & 1]);
    }
    wait();
    if (filled > 0)
      sum += ring[filled - 1] * round;
    wait();
  }
  return sum;
}

struct Barrier {
  __host__ __device__ void operator()() const {
#ifdef __CUDA_ARCH__
    __syncthreads();
#endif
  }
};

struct Blocked {
  __host__ __device__ static int of(int t, int n, const int *numbers) { return blocked(t, n, numbers, Barrier()); }
};
struct Copied {
  __host__ __device__ static int of(int t, int n, const int *numbers) { return copied(t, n, numbers, Barrier()); }
};
struct Carried {
  __host__ __device__ static int of(int t, int n, const int *numbers) { return carried(t, n, numbers, Barrier()); }
};

template <class Work> __global__ void run(int n, const int *numbers, int *out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = Work::of(threadIdx.x, n + blockIdx.x, numbers);
}

template <class Work> void check(const std::vector<int> &numbers, const int *device) {
  for (int threads : {kThreads, 1, 13, 64}) {
    int *out;
    cudaMalloc(&out, 2 * threads * sizeof(int));
    run<Work><<<2, threads>>>(kRounds, device, out);
    std::vector<int> got(2 * threads);
    cudaMemcpy(got.data(), out, got.size() * sizeof(int), cudaMemcpyDeviceToHost);
    for (int t = 0; t < 2 * threads; ++t)
      EXPECT_AT(t, got[t], Work::of(t % threads, kRounds + t / threads, numbers.data()));
    cudaFree(out);
  }
}

int main() {
  std::vector<int> numbers(64);
  for (int i = 0; i < 64; ++i)
    numbers[i] = (i * 37 + 11) % 101 - 50;
  int *device;
  cudaMalloc(&device, numbers.size() * sizeof(int));
  cudaMemcpy(device, numbers.data(), numbers.size() * sizeof(int), cudaMemcpyHostToDevice);
  check<Blocked>(numbers, device);
  check<Copied>(numbers, device);
  check<Carried>(numbers, device);
  return failures != 0;
}
