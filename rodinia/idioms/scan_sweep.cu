// Exclusive prefix sums: an up-sweep and a down-sweep over a balanced tree in shared memory, two elements a thread,
// with padding against bank conflicts; the blocks' sums are scanned in the same way and added.
#include "idiom.h"
#include "twins.h"

#include <memory>

constexpr int kThreads = 256;
constexpr int kElements = 2 * kThreads;

__device__ static int padded(int index) { return index + index / 32; }

__global__ void scan_blocks(const int *in, int *out, int *sums, int count) {
  __shared__ int tree[kElements + kElements / 32];

  const int tid = threadIdx.x;
  const int first = blockIdx.x * kElements + tid, second = first + kThreads;
  tree[padded(tid)] = first < count ? in[first] : 0;
  tree[padded(tid + kThreads)] = second < count ? in[second] : 0;

  int offset = 1;
  for (int active = kThreads; active > 0; active >>= 1) {
    __syncthreads();
    if (tid < active) {
      const int left = padded(offset * (2 * tid + 1) - 1), right = padded(offset * (2 * tid + 2) - 1);
      tree[right] += tree[left];
    }
    offset *= 2;
  }
  if (tid == 0) {
    const int last = padded(kElements - 1);
    sums[blockIdx.x] = tree[last];
    tree[last] = 0;
  }
  for (int active = 1; active <= kThreads; active *= 2) {
    offset >>= 1;
    __syncthreads();
    if (tid < active) {
      const int left = padded(offset * (2 * tid + 1) - 1), right = padded(offset * (2 * tid + 2) - 1);
      const int kept = tree[left];
      tree[left] = tree[right];
      tree[right] += kept;
    }
  }
  __syncthreads();

  if (first < count)
    out[first] = tree[padded(tid)];
  if (second < count)
    out[second] = tree[padded(tid + kThreads)];
}

__global__ void add_sums(int *out, const int *sums, int count) {
  const int sum = sums[blockIdx.x];
  const int first = blockIdx.x * kElements + threadIdx.x;
  if (first < count)
    out[first] += sum;
  if (first + kThreads < count)
    out[first + kThreads] += sum;
}

namespace {

// Sums of blocks and of blocks of blocks, down to a single one.
struct Level {
  explicit Level(int count) : blocks(bench::pieces(count, kElements)), sums(blocks), scanned(blocks) {
    if (blocks > 1)
      above = std::make_unique<Level>(blocks);
  }
  int blocks;
  bench::DeviceArray<int> sums, scanned;
  std::unique_ptr<Level> above;
};

void scan(const int *in, int *out, int count, const Level &level) {
  scan_blocks<<<level.blocks, kThreads>>>(in, out, level.sums.get(), count);
  CHECK_LAUNCH();
  if (!level.above)
    return;
  scan(level.sums.get(), level.scanned.get(), level.blocks, *level.above);
  add_sums<<<level.blocks, kThreads>>>(out, level.scanned.get(), count);
  CHECK_LAUNCH();
}

} // namespace

int main(int argc, char **argv) {
  int count = 300001;
  bench::IdiomOptions options("scan_sweep", "exclusive prefix sums by sweeps over a tree");
  options.add("count", &count, 1, 100000000, "numbers");
  options.parse(argc, argv);

  const std::vector<int> data = options.integers(0, count, 20);
  const bench::DeviceArray<int> in(data), out(count);
  const Level level(count);
  std::vector<int> want(count);
  return bench::judge(
      options, out, [&] { scan(in.get(), out.get(), count, level); }, want,
      [&] { twin::scan_sweep(data.data(), want.data(), count); });
}
