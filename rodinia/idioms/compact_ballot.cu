// Keeps the elements above a threshold, in their order: blocks count theirs, one block scans the counts with warp
// shuffles, and ballots give each element its place.
#include "idiom.h"
#include "twins.h"

constexpr int kThreads = 256;
constexpr int kScanThreads = 1024;

__global__ void count_kept(const int *values, int *counts, int count, int threshold) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const int kept = __syncthreads_count(i < count && values[i] > threshold);
  if (threadIdx.x == 0)
    counts[blockIdx.x] = kept;
}

__device__ static int warp_inclusive(int value) {
  const int lane = threadIdx.x % 32;
  for (int offset = 1; offset < 32; offset *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, value, offset);
    if (lane >= offset)
      value += other;
  }
  return value;
}

// One block: exclusive prefix sums in place, a tile of kScanThreads after the other, and the total behind them.
__global__ void scan_counts(int *counts, int blocks) {
  __shared__ int warps[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int before = 0;
  for (int first = 0; first < blocks; first += kScanThreads) {
    const int i = first + threadIdx.x;
    const int own = i < blocks ? counts[i] : 0;
    const int inclusive = warp_inclusive(own);
    if (lane == 31)
      warps[warp] = inclusive;
    __syncthreads();
    if (warp == 0)
      warps[lane] = warp_inclusive(warps[lane]);
    __syncthreads();
    const int place = before + (warp > 0 ? warps[warp - 1] : 0) + inclusive - own;
    before += warps[31];
    if (i < blocks)
      counts[i] = place;
    __syncthreads();
  }
  if (threadIdx.x == 0)
    counts[blocks] = before;
}

__global__ void scatter_kept(const int *values, const int *places, int *kept, int count, int threshold) {
  __shared__ int warps[kThreads / 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const int value = i < count ? values[i] : 0;
  const bool keep = i < count && value > threshold;
  const unsigned ballot = __ballot_sync(0xffffffffu, keep);
  if (lane == 0)
    warps[warp] = __popc(ballot);
  __syncthreads();
  int place = places[blockIdx.x] + __popc(ballot & ((1u << lane) - 1));
  for (int w = 0; w < warp; ++w)
    place += warps[w];
  if (keep)
    kept[place] = value;
}

int main(int argc, char **argv) {
  int count = 200001, threshold = 600;
  bench::IdiomOptions options("compact_ballot", "ordered compaction by ballots and shuffles");
  options.add("count", &count, 1, 100000000, "numbers from 0 to 999");
  options.add("threshold", &threshold, 0, 1000, "larger ones are kept");
  options.parse(argc, argv);

  const std::vector<int> data = options.integers(0, count, 1000);
  const int blocks = bench::pieces(count, kThreads);
  const bench::DeviceArray<int> values(data), places(blocks + 1);
  bench::DeviceArray<int> kept(count);
  kept.fill_bytes(0);
  const auto kernels = [&] {
    count_kept<<<blocks, kThreads>>>(values.get(), places.get(), count, threshold);
    CHECK_LAUNCH();
    scan_counts<<<1, kScanThreads>>>(places.get(), blocks);
    CHECK_LAUNCH();
    scatter_kept<<<blocks, kThreads>>>(values.get(), places.get(), kept.get(), count, threshold);
    CHECK_LAUNCH();
  };
  std::vector<int> want(count);
  return bench::judge(options, kept, kernels, want, [&] {
    twin::compact_ballot(data.data(), want.data(), count, threshold);
  });
}
