// idioms/reduce_tree.cu in OpenCL.
#include "idiom.h"

#include <utility>

const char *const kSource = R"cl(
kernel void reduce(global const int *values, global int *sums, int count) {
  local int partial[256];

  const int tid = get_local_id(0);
  const int first = get_group_id(0) * 512 + tid;
  int sum = first < count ? values[first] : 0;
  if (first + 256 < count)
    sum += values[first + 256];
  partial[tid] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);

  for (int half_size = 128; half_size > 0; half_size >>= 1) {
    if (tid < half_size)
      partial[tid] += partial[tid + half_size];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (tid == 0)
    sums[get_group_id(0)] = partial[0];
}
)cl";

int main(int argc, char **argv) {
  int count = 300001;
  bench::IdiomOptions options("reduce_tree", "sum by a tree in shared memory");
  options.add("count", &count, 1, 100000000, "numbers");
  options.parse(argc, argv);

  const std::vector<int> data = options.integers(0, count, 20);
  const int blocks = bench::pieces(count, 512);
  const bench::DeviceArray<int> values(data), first(blocks), second(blocks), sum(1);
  const bench::Kernel reduce(kSource, "reduce");
  const auto kernels = [&] {
    const bench::DeviceArray<int> *from = &values, *to = &first, *next = &second;
    int left = count;
    while (left > 1 || from == &values) {
      const int now = bench::pieces(left, 512);
      reduce.launch({static_cast<size_t>(now), 1, 1}, {256, 1, 1}, *from, now == 1 ? sum : *to, left);
      left = now;
      from = to;
      std::swap(to, next);
    }
  };
  std::vector<int> want(1);
  return bench::judge(options, sum, kernels, want,
                      [&] { want[0] = twin::reduce_tree(data.data(), count); });
}
