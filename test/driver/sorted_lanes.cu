// A long chain of values that are each used several times, of which a guard for one thread takes the last: each is looked at once, or
// compiling would take a multiple of the time with each link.
// REQUIRES: cuda-toolkit
// RUN: timeout 100 %regrain -O3 --offload-arch=cpu -fregrain-alternatives=none %s -o %t
// RUN: %t && env REGRAIN_CPU_MODE=coroutine %t

#include <cstdio>

struct Pair {
  int key, lane;
  __device__ Pair(int key, int lane) : key(key), lane(lane) {}
  __device__ bool operator<(const Pair &other) const {
    return key < other.key || (key == other.key && lane < other.lane);
  }
};

__device__ __forceinline__ int bit_of(int value, int bit) { return value >> bit & 1; }

__device__ __forceinline__ Pair exchange(const Pair mine, int distance, int way) {
  Pair other(__shfl_xor_sync(~0u, mine.key, distance), __shfl_xor_sync(~0u, mine.lane, distance));
  const bool takes = (mine < other) == way;
  return Pair(takes ? other.key : mine.key, takes ? other.lane : mine.lane);
}

// Straight-line code, whatever is unrolled.
template <int run, int bit> __device__ __forceinline__ Pair merge(const Pair mine, int lane) {
  const Pair next = exchange(mine, 1 << bit, (run < 4 ? bit_of(lane, run + 1) : 0) ^ bit_of(lane, bit));
  if constexpr (bit > 0) return merge<run, bit - 1>(next, lane);
  return next;
}

template <int run> __device__ __forceinline__ Pair sort(const Pair mine) {
  const Pair merged = merge<run, run>(mine, threadIdx.x % 32);
  if constexpr (run < 4) return sort<run + 1>(merged);
  return merged;
}

__global__ void mask_of_doubles(const int *keys, unsigned *mask) {
  Pair mine(keys[threadIdx.x], threadIdx.x % 32);
  mine = sort<0>(mine);
  const bool twice = __shfl_up_sync(~0u, mine.key, 1) == mine.key && threadIdx.x % 32 != 0;
  Pair back(mine.lane, twice);
  back = sort<0>(back);
  const unsigned all = __ballot_sync(~0u, back.lane);
  if (threadIdx.x == 0) *mask = all;
}

int main() {
  int *keys;
  unsigned *mask;
  cudaMallocManaged(&keys, 32 * sizeof(int));
  cudaMallocManaged(&mask, sizeof(unsigned));
  for (int i = 0; i < 32; ++i) keys[i] = i * 7 % 29;
  mask_of_doubles<<<1, 32>>>(keys, mask);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  // Of each two lanes that are equal the second: 0 to 2 are 29 to 31.
  if (*mask != 7u << 29) return std::printf("%x\n", *mask), 1;
  return 0;
}
