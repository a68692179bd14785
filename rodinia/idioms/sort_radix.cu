// Radix sort of keys with values, four bits a pass, stable: each block sorts its tile by the digit with four splits in
// shared memory and counts the digits; one block scans the counts; each key goes to its digit's place.
#include "idiom.h"
#include "twins.h"

constexpr int kThreads = 256;
constexpr int kScanThreads = 1024;
constexpr int kBits = 4;
constexpr int kDigits = 1 << kBits;

// The sum of `flag` over the threads before this one; `total` is that over the block.
__device__ static int rank_of(bool flag, int *warps, int &total) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned ballot = __ballot_sync(0xffffffffu, flag);
  if (lane == 0)
    warps[warp] = __popc(ballot);
  __syncthreads();
  int before = __popc(ballot & ((1u << lane) - 1));
  total = 0;
  for (int w = 0; w < kThreads / 32; ++w) {
    before += w < warp ? warps[w] : 0;
    total += warps[w];
  }
  __syncthreads();
  return before;
}

// Sorts the block's pairs by the digit at `shift`; counts[digit * blocks + block] is how many there are.
__global__ void sort_tiles(uint2 *pairs, int *counts, int *starts, int count, int shift) {
  __shared__ uint2 tile[kThreads];
  __shared__ int warps[kThreads / 32];
  __shared__ int first[kDigits + 1];

  const int tid = threadIdx.x, i = blockIdx.x * kThreads + tid;
  // What lies behind the end sorts behind everything else.
  uint2 own = i < count ? pairs[i] : make_uint2(0xffffffffu, 0);
  for (int bit = 0; bit < kBits; ++bit) {
    const bool one = (own.x >> (shift + bit)) & 1;
    int zeros;
    const int rank = rank_of(!one, warps, zeros);
    tile[one ? zeros + tid - rank : rank] = own;
    __syncthreads();
    own = tile[tid];
    __syncthreads();
  }

  const int valid = min(kThreads, count - static_cast<int>(blockIdx.x) * kThreads);
  const int digit = (own.x >> shift) & (kDigits - 1);
  if (tid <= kDigits)
    first[tid] = valid;
  __syncthreads();
  const int previous = tid > 0 ? (tile[tid - 1].x >> shift) & (kDigits - 1) : -1;
  if (tid < valid)
    for (int d = previous + 1; d <= digit; ++d)
      first[d] = tid;
  __syncthreads();
  if (tid < kDigits) {
    counts[tid * gridDim.x + blockIdx.x] = first[tid + 1] - first[tid];
    starts[blockIdx.x * kDigits + tid] = first[tid];
  }
  if (tid < valid)
    pairs[i] = own;
}

// One block: exclusive prefix sums in place.
__global__ void scan_counts(int *counts, int count) {
  __shared__ int sums[kScanThreads];
  int before = 0;
  for (int start = 0; start < count; start += kScanThreads) {
    const int i = start + threadIdx.x;
    const int own = i < count ? counts[i] : 0;
    sums[threadIdx.x] = own;
    __syncthreads();
    for (int offset = 1; offset < kScanThreads; offset *= 2) {
      const int other = static_cast<int>(threadIdx.x) >= offset ? sums[threadIdx.x - offset] : 0;
      __syncthreads();
      sums[threadIdx.x] += other;
      __syncthreads();
    }
    if (i < count)
      counts[i] = before + sums[threadIdx.x] - own;
    before += sums[kScanThreads - 1];
    __syncthreads();
  }
}

__global__ void scatter(const uint2 *from, uint2 *to, const int *places, const int *starts, int count,
                        int shift) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= count)
    return;
  const uint2 own = from[i];
  const int digit = (own.x >> shift) & (kDigits - 1);
  const int within = threadIdx.x - starts[blockIdx.x * kDigits + digit];
  to[places[digit * gridDim.x + blockIdx.x] + within] = own;
}

__global__ void take_values(const uint2 *pairs, int *values, int count) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < count)
    values[i] = pairs[i].y;
}

__global__ void make_pairs(const unsigned *keys, uint2 *pairs, int count) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < count)
    pairs[i] = make_uint2(keys[i], i);
}

int main(int argc, char **argv) {
  int count = 20001, keys = 100000;
  bench::IdiomOptions options("sort_radix", "stable radix sort: where each key comes from");
  options.add("count", &count, 1, 50000000, "pairs");
  options.add("keys", &keys, 1, 2147483647, "keys are below this");
  options.parse(argc, argv);

  const std::vector<unsigned> data = options.integers<unsigned>(0, count, keys);
  const int blocks = bench::pieces(count, kThreads);
  const bench::DeviceArray<unsigned> unsorted(data);
  const bench::DeviceArray<uint2> pairs(count), other(count);
  const bench::DeviceArray<int> counts(kDigits * blocks), starts(kDigits * blocks), order(count);
  const auto pass = [&](uint2 *from, uint2 *to, int shift) {
    sort_tiles<<<blocks, kThreads>>>(from, counts.get(), starts.get(), count, shift);
    CHECK_LAUNCH();
    scan_counts<<<1, kScanThreads>>>(counts.get(), kDigits * blocks);
    CHECK_LAUNCH();
    scatter<<<blocks, kThreads>>>(from, to, counts.get(), starts.get(), count, shift);
    CHECK_LAUNCH();
  };
  const auto kernels = [&] {
    make_pairs<<<blocks, kThreads>>>(unsorted.get(), pairs.get(), count);
    CHECK_LAUNCH();
    for (int shift = 0; shift < 32; shift += 2 * kBits) {
      pass(pairs.get(), other.get(), shift);
      pass(other.get(), pairs.get(), shift + kBits);
    }
    take_values<<<blocks, kThreads>>>(pairs.get(), order.get(), count);
    CHECK_LAUNCH();
  };
  std::vector<int> want(count);
  return bench::judge(options, order, kernels, want,
                      [&] { twin::sort_radix(data.data(), want.data(), count); });
}
