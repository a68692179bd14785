// Threads that are selected by what a division of their number leaves: along x and y, with signed and unsigned numbers, masks, run-time divisors and
// remainders that no number has, and numbers that begin below zero.
// RUN: %regrain -O3 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_THREADS=1 %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

// Each form adds to the elements of its threads, between barriers, in rounds whose divisors double.
template <int Form> __host__ __device__ bool selects(int t, unsigned u, int by, int from, int left) {
  switch (Form) {
  case 0: return t % (2 * by) == 0;
  case 1: return (t + 1) % (2 * by) == 0;
  case 2: return (u & (2u * by - 1)) == 2u * by - 1;
  case 3: return (t + from) % by == left;
  case 4: return (u + unsigned(from)) % unsigned(by) == unsigned(left);
  case 5: return ((t + from) & (by + left)) == 0;
  case 6: return (long(t) + from) % long(by) == left;
  default: return left <= t && (t - from) % (3 * by) == 1;
  }
}

template <int Form> __global__ void rounds(int *out, int first, int from, int left, int count) {
  __shared__ int row[256];
  int t = threadIdx.x;
  row[t] = blockIdx.x + t;
  int by = first;
  for (int k = 0; k < count; ++k, by *= 2) {
    __syncthreads();
    if (selects<Form>(t, threadIdx.x, by, from, left))
      row[t] = 3 * row[t] + k;
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + t] = row[t];
}

template <int Form> __global__ void rows(int *out, int first, int from, int left, int count) {
  __shared__ int tile[16][17];
  int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = blockIdx.x + 16 * y + x;
  int by = first;
  for (int k = 0; k < count; ++k, by *= 2) {
    __syncthreads();
    if (selects<Form>(y, threadIdx.y, by, from, left))
      tile[y][x] = 3 * tile[y][x] + k;
  }
  __syncthreads();
  out[(blockIdx.x * blockDim.y + y) * blockDim.x + x] = tile[y][x];
}

// Lanes are told by the threads' numbers, not by how many of them take the branch.
__global__ void masks(unsigned *out) {
  int t = threadIdx.x;
  out[t] = 0;
  if (t % 4 == 2)
    out[t] = __ballot_sync(0x44444444, t % 32 > 20) + __shfl_sync(0x44444444, t, 6);
}

// A tree whose threads keep a number of theirs, which one thread alone wants in the end.
__global__ void tree(const int *in, int *sums, int *firsts) {
  extern __shared__ int part[];
  unsigned t = threadIdx.x;
  int own = in[blockIdx.x * blockDim.x + t];
  part[t] = own;
  __syncthreads();
  for (unsigned k = 1; k < blockDim.x; k *= 2) {
    if (t % (2 * k) == 0 && t + k < blockDim.x)
      part[t] += part[t + k];
    __syncthreads();
  }
  int total = part[0];
  __syncthreads();
  if (t == 0) {
    sums[blockIdx.x] = total;
    firsts[blockIdx.x] = own;
  }
}

constexpr int kBlocks = 11;

template <int Form> void check(int first, int from, int left, int count) {
  int *out = managed<int>(kBlocks * 256);
  for (int threads : {256, 96, 33, 1}) {
    rounds<Form><<<kBlocks, threads>>>(out, first, from, left, count);
    OK(cudaDeviceSynchronize());
    for (int block = 0; block < kBlocks; ++block)
      for (int t = 0; t < threads; ++t) {
        int want = block + t;
        for (int k = 0, by = first; k < count; ++k, by *= 2)
          want = selects<Form>(t, t, by, from, left) ? 3 * want + k : want;
        EXPECT_AT(block * threads + t, out[block * threads + t], want);
      }
  }
  rows<Form><<<kBlocks, dim3(16, 16)>>>(out, first, from, left, count);
  OK(cudaDeviceSynchronize());
  for (int block = 0; block < kBlocks; ++block)
    for (int t = 0; t < 256; ++t) {
      int want = block + t, y = t / 16;
      for (int k = 0, by = first; k < count; ++k, by *= 2)
        want = selects<Form>(y, y, by, from, left) ? 3 * want + k : want;
      EXPECT_AT(block * 256 + t, out[block * 256 + t], want);
    }
  OK(cudaFree(out));
}

int main() {
  for (int first : {1, 3})
    for (int from : {0, 5, -7})
      for (int left : {0, 1, 6, -2}) {
        check<0>(first, from, left, 7);
        check<1>(first, from, left, 7);
        check<2>(first, from, left, 7);
        check<3>(first, from, left, 6);
        check<4>(first, from, left, 6);
        check<5>(first, from, left, 6);
        check<6>(first, from, left, 6);
        check<7>(first, from, left, 5);
      }
  check<3>(-4, 2, 1, 1);
  check<4>(1 << 30, 3, 4, 1);
  check<3>(16, 2147483647 - 300, 9, 2);

  int *in = managed<int>(kBlocks * 256), *sums = managed<int>(kBlocks), *firsts = managed<int>(kBlocks);
  for (int k = 0; k < kBlocks * 256; ++k)
    in[k] = k * k % 1013;
  for (int threads : {256, 100}) {
    tree<<<kBlocks, threads, threads * sizeof(int)>>>(in, sums, firsts);
    OK(cudaDeviceSynchronize());
    for (int block = 0; block < kBlocks; ++block) {
      int sum = 0;
      for (int t = 0; t < threads; ++t)
        sum += in[block * threads + t];
      EXPECT_AT(block, sums[block], sum);
      EXPECT_AT(block, firsts[block], in[block * threads]);
    }
  }

  unsigned *lanes = managed<unsigned>(128);
  masks<<<1, 128>>>(lanes);
  OK(cudaDeviceSynchronize());
  for (int t = 0; t < 128; ++t)
    EXPECT_AT(t, lanes[t], t % 4 == 2 ? 0x44400000u + (t & ~31) + 6 : 0u);
  return result();
}
