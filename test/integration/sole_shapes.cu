// Of a unit with many kernels of warps that number their threads, and so say how long their rows are, most exist for the one block of their launch
// bounds alone. All other shapes give the same results, one coroutine for each thread.
// RUN: %regrain -O1 --offload-arch=cpu %s -o %t && %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

#include <utility>

template <int... Round> __host__ __device__ __forceinline__ unsigned scramble(unsigned result, unsigned element, std::integer_sequence<int, Round...>) {
  ((result = (result ^ element) * (2 * Round + 3)), ...);
  return result;
}

// What an instance makes of an element, in straight code.
template <int K> __host__ __device__ __forceinline__ unsigned scramble(unsigned element) {
  return scramble(K, element, std::make_integer_sequence<int, 400>());
}

// Sums of `n` elements by the threads of a block that has so many rows.
template <int K> __global__ void __launch_bounds__(128) sums(const int *in, int *out, int n, int rows) {
  __shared__ int parts[4];
  int thread = 32 * threadIdx.y + threadIdx.x;
  unsigned sum = 0;
  for (int i = thread; i < n; i += 32 * rows)
    sum += scramble<K>(in[blockIdx.x * n + i]);
  for (int distance = 16; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(~0u, sum, distance);
  if (thread % 32 == 0)
    parts[thread / 32] = sum;
  __syncthreads();
  if (thread == 0) {
    sum = 0;
    for (int row = 0; row < rows; ++row)
      sum += parts[row];
    out[blockIdx.x] = sum;
  }
}

constexpr int BLOCKS = 2, SIZE = 300;

template <int K> void check(const int *in, int *out, dim3 shape) {
  for (int block = 0; block < BLOCKS; ++block)
    out[block] = -1;
  sums<K><<<BLOCKS, shape>>>(in, out, SIZE, shape.y);
  finish_kernel();
  for (int block = 0; block < BLOCKS; ++block) {
    unsigned sum = 0;
    for (int i = 0; i < SIZE; ++i)
      sum += scramble<K>(in[block * SIZE + i]);
    EXPECT_AT(block, unsigned(out[block]), sum);
  }
}

template <int... K> void check_all(std::integer_sequence<int, K...>, const int *in, int *out, dim3 shape) {
  (check<K>(in, out, shape), ...);
}

int main() {
  int *in = managed<int>(BLOCKS * SIZE), *out = managed<int>(BLOCKS);
  for (int i = 0; i < BLOCKS * SIZE; ++i)
    in[i] = i * 7 % 13;
  // The shapes are not constants for whoever compiles this. In the last one
  // two threads have each number, and write the same.
  static volatile unsigned shapes[][3] = {{32, 4, 1}, {32, 3, 1}, {32, 1, 1}, {32, 2, 2}};
  for (volatile auto &shape : shapes)
    check_all(std::make_integer_sequence<int, 8>(), in, out, dim3(shape[0], shape[1], shape[2]));
  return result();
}
