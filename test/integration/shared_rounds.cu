// Loops whose rounds all threads share, tile after tile: the same results, however the rounds are ordered among threads.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

constexpr int threads = 128, items = 4, tile = threads * items;

struct Share {
  int offset, end, stride;
};

// The structure is the thread's own, changed in each round; the loop is left in its middle, as CUB's is.
__device__ void add_tile(const int *in, int base, int &sum) {
  int own[items];
  for (int i = 0; i < items; ++i)
    own[i] = in[base + threadIdx.x + i * threads];
  for (int i = 0; i < items; ++i)
    sum += own[i] * (i + 1);
}

__global__ void sums(int *out, const int *in, Share share) {
  int sum = threadIdx.x;
  share.offset += blockIdx.x * tile;
  while (share.offset <= share.end - tile) {
    add_tile(in, share.offset, sum);
    if (share.end - share.offset < share.stride)
      break;
    share.offset += share.stride;
  }
  out[blockIdx.x * threads + threadIdx.x] = sum;
}

// What a thread changes differs from thread to thread.
__global__ void own_share(int *out, const int *in, Share share) {
  if (threadIdx.x % 3 == 0)
    share.stride *= 2;
  int sum = 0;
  for (int i = share.offset + threadIdx.x; i < share.end; i += share.stride)
    sum += in[i];
  out[blockIdx.x * threads + threadIdx.x] = sum + share.stride;
}

// Counters in shared memory, portions outside of the tiles.
__global__ void counts(int *out, const int *in, int n, int portion) {
  __shared__ int bins[16];
  for (int from = 0; from < n; from += portion) {
    if (threadIdx.x < 16)
      bins[threadIdx.x] = 0;
    __syncthreads();
    int size = n - from < portion ? n - from : portion;
    for (int offset = blockIdx.x * tile; offset < size; offset += gridDim.x * tile) {
      int own[items];
      for (int i = 0; i < items; ++i) {
        int at = offset + threadIdx.x * items + i;
        own[i] = at < size ? in[from + at] : -1;
      }
      for (int i = 0; i < items; ++i)
        if (own[i] >= 0)
          atomicAdd(&bins[own[i] % 16], 1);
    }
    __syncthreads();
    if (threadIdx.x < 16)
      atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
    __syncthreads();
  }
}

// Some threads leave before the loop; rounds whose number another thread's data decides stay as they are.
__global__ void part(int *out, const int *in, int n, int step) {
  if (threadIdx.x >= 100)
    return;
  int sum = 0, rounds = in[blockIdx.x] % 7;
  for (int base = 0; base + 4 * threads <= n; base += step)
    sum += in[base + threadIdx.x] + in[base + threads + threadIdx.x] + in[base + 2 * threads + threadIdx.x] +
           in[base + 3 * threads + threadIdx.x];
  for (int r = 0; r < rounds; ++r)
    sum += in[r * step + threadIdx.x];
  out[blockIdx.x * threads + threadIdx.x] = sum;
}

int main() {
  constexpr int n = 20000, blocks = 3;
  int *in = managed<int>(n), *out = managed<int>(blocks * threads);
  for (int i = 0; i < n; ++i)
    in[i] = i * 7919 % 1009;
  Share share{5, n - 3, blocks * tile};
  sums<<<blocks, threads>>>(out, in, share);
  finish_kernel();
  for (int b = 0; b < blocks; ++b)
    for (int t = 0; t < threads; ++t) {
      int sum = t;
      for (int o = 5 + b * tile; o <= share.end - tile; o += share.stride) {
        for (int i = 0; i < items; ++i)
          sum += in[o + t + i * threads] * (i + 1);
        if (share.end - o < share.stride)
          break;
      }
      EXPECT_AT(b * threads + t, out[b * threads + t], sum);
    }
  own_share<<<blocks, threads>>>(out, in, Share{1, n, threads});
  finish_kernel();
  for (int t = 0; t < threads; ++t) {
    int stride = t % 3 ? threads : 2 * threads, sum = stride;
    for (int i = 1 + t; i < n; i += stride)
      sum += in[i];
    EXPECT_AT(t, out[threads + t], sum);
  }
  int *bins = managed<int>(16), expected[16] = {};
  counts<<<blocks, threads>>>(bins, in, n, 7001);
  finish_kernel();
  for (int i = 0; i < n; ++i)
    ++expected[in[i] % 16];
  for (int i = 0; i < 16; ++i)
    EXPECT_AT(i, bins[i], expected[i]);
  std::memset(out, 0, blocks * threads * sizeof(int));
  part<<<blocks, threads>>>(out, in, n, 600);
  finish_kernel();
  for (int b = 0; b < blocks; ++b)
    for (int t = 0; t < threads; ++t) {
      int sum = 0;
      for (int base = 0; t < 100 && base + 4 * threads <= n; base += 600)
        sum += in[base + t] + in[base + threads + t] + in[base + 2 * threads + t] + in[base + 3 * threads + t];
      for (int r = 0; t < 100 && r < in[b] % 7; ++r)
        sum += in[r * 600 + t];
      EXPECT_AT(b * threads + t, out[b * threads + t], sum);
    }
  return result();
}
