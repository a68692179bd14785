// The sum of an array of integers: a tree in shared memory halves the active threads at each step; the partial sums of
// the blocks go through the same kernel until one is left.
#include "idiom.h"
#include "twins.h"

#include <utility>

constexpr int kThreads = 256;

__global__ void reduce(const int *values, int *sums, int count) {
  __shared__ int partial[kThreads];

  const int tid = threadIdx.x;
  const int first = blockIdx.x * (2 * kThreads) + tid;
  int sum = first < count ? values[first] : 0;
  if (first + kThreads < count)
    sum += values[first + kThreads];
  partial[tid] = sum;
  __syncthreads();

  for (int half = kThreads / 2; half > 0; half >>= 1) {
    if (tid < half)
      partial[tid] += partial[tid + half];
    __syncthreads();
  }
  if (tid == 0)
    sums[blockIdx.x] = partial[0];
}

int main(int argc, char **argv) {
  int count = 300001;
  bench::IdiomOptions options("reduce_tree", "sum by a tree in shared memory");
  options.add("count", &count, 1, 100000000, "numbers");
  options.parse(argc, argv);

  const std::vector<int> data = options.integers(0, count, 20);
  const int blocks = bench::pieces(count, 2 * kThreads);
  const bench::DeviceArray<int> values(data), first(blocks), second(blocks), sum(1);
  const auto kernels = [&] {
    const int *from = values.get();
    int *to = first.get(), *next = second.get();
    int left = count;
    while (left > 1 || from == values.get()) {
      const int now = bench::pieces(left, 2 * kThreads);
      reduce<<<now, kThreads>>>(from, now == 1 ? sum.get() : to, left);
      CHECK_LAUNCH();
      left = now;
      from = to;
      std::swap(to, next);
    }
  };
  std::vector<int> want(1);
  return bench::judge(options, sum, kernels, want,
                      [&] { want[0] = twin::reduce_tree(data.data(), count); });
}
