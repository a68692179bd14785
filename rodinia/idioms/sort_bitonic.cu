// A bitonic sorting network: tiles of 1024 keys in shared memory, larger distances of a merge in global memory, and the
// rest of each merge in shared memory again. Keys are filled up to a power of two with the largest integer.
#include "idiom.h"
#include "twins.h"

#include <algorithm>
#include <climits>

constexpr int kThreads = 512;
constexpr int kTile = 2 * kThreads;

__device__ static void order(int &a, int &b, bool ascending) {
  if ((a > b) == ascending) {
    const int kept = a;
    a = b;
    b = kept;
  }
}

// Compares each pair at `distance` in the tile; runs of `size` go up and down in turn.
__device__ static void merge_tile(int *tile, int size, int distance) {
  const int global = blockIdx.x * kThreads + threadIdx.x;
  const bool ascending = (global & (size / 2)) == 0;
  for (; distance > 0; distance >>= 1) {
    __syncthreads();
    const int at = 2 * threadIdx.x - (threadIdx.x & (distance - 1));
    order(tile[at], tile[at + distance], ascending);
  }
}

__global__ void sort_tiles(int *keys) {
  __shared__ int tile[kTile];
  const int first = blockIdx.x * kTile + threadIdx.x;
  tile[threadIdx.x] = keys[first];
  tile[threadIdx.x + kThreads] = keys[first + kThreads];
  for (int size = 2; size <= kTile; size *= 2)
    merge_tile(tile, size, size / 2);
  __syncthreads();
  keys[first] = tile[threadIdx.x];
  keys[first + kThreads] = tile[threadIdx.x + kThreads];
}

__global__ void merge_global(int *keys, int size, int distance) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const int at = 2 * i - (i & (distance - 1));
  order(keys[at], keys[at + distance], (i & (size / 2)) == 0);
}

__global__ void merge_shared(int *keys, int size) {
  __shared__ int tile[kTile];
  const int first = blockIdx.x * kTile + threadIdx.x;
  tile[threadIdx.x] = keys[first];
  tile[threadIdx.x + kThreads] = keys[first + kThreads];
  merge_tile(tile, size, kTile / 2);
  __syncthreads();
  keys[first] = tile[threadIdx.x];
  keys[first + kThreads] = tile[threadIdx.x + kThreads];
}

int main(int argc, char **argv) {
  int count = 20001;
  bench::IdiomOptions options("sort_bitonic", "bitonic sorting network");
  options.add("count", &count, 1, 50000000, "keys");
  options.parse(argc, argv);

  int padded = kTile;
  while (padded < count)
    padded *= 2;
  const std::vector<int> data = options.integers(0, count, 1000000000);
  std::vector<int> filled = data;
  filled.resize(padded, INT_MAX);

  const bench::DeviceArray<int> start(filled), keys(padded);
  const int blocks = padded / kTile;
  const auto kernels = [&] {
    bench::copy_on_device(keys, start, padded);
    sort_tiles<<<blocks, kThreads>>>(keys.get());
    CHECK_LAUNCH();
    for (long long size = 2 * kTile; size <= padded; size *= 2) {
      for (int distance = size / 2; distance >= kTile; distance >>= 1) {
        merge_global<<<blocks, kThreads>>>(keys.get(), size, distance);
        CHECK_LAUNCH();
      }
      merge_shared<<<blocks, kThreads>>>(keys.get(), size);
      CHECK_LAUNCH();
    }
  };
  std::vector<int> want(padded, INT_MAX), scratch(count);
  const auto reference = [&] {
    std::copy(data.begin(), data.end(), want.begin());
    twin::sort_bitonic(want.data(), scratch.data(), count);
  };
  return bench::judge(options, keys, kernels, want, reference);
}
