// Steps between threads that double and halve: sorting networks, sweeps over trees and scans, with elements of all widths. What lies around
// the shared memory that masked threads write stays as it is.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

constexpr int kMost = 256;

// Pairs of threads exchange in shared memory between two arrays that nobody else writes.
template <typename T> __global__ void network(T *a, int *around) {
  __shared__ int before[16];
  __shared__ T tile[kMost];
  __shared__ int behind[16];
  unsigned t = threadIdx.x, first = blockIdx.x * blockDim.x;
  if (t < 16)
    before[t] = t + 1, behind[t] = t + 2;
  tile[t] = a[first + t];
  __syncthreads();
  for (unsigned k = 2; k <= blockDim.x; k *= 2)
    for (unsigned j = k / 2; j > 0; j /= 2) {
      unsigned other = t ^ j;
      if (other > t) {
        T mine = tile[t], its = tile[other];
        if ((mine > its) == ((t & k) == 0))
          tile[t] = its, tile[other] = mine;
      }
      __syncthreads();
    }
  a[first + t] = tile[t];
  if (t < 16)
    atomicAdd(around, before[t] + behind[t]);
}

// The same by half as many threads, each for a pair.
template <typename T> __global__ void pairs(T *a) {
  extern __shared__ unsigned char memory[];
  T *tile = reinterpret_cast<T *>(memory);
  unsigned t = threadIdx.x, n = 2 * blockDim.x, first = blockIdx.x * n;
  tile[t] = a[first + t], tile[t + blockDim.x] = a[first + t + blockDim.x];
  for (unsigned size = 2; size <= n; size <<= 1)
    for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      unsigned at = 2 * t - (t & (stride - 1));
      bool up = (at & size) == 0;
      T low = tile[at], high = tile[at + stride];
      if ((low > high) == up)
        tile[at] = high, tile[at + stride] = low;
    }
  __syncthreads();
  a[first + t] = tile[t], a[first + t + blockDim.x] = tile[t + blockDim.x];
}

// One step among all numbers, by threads that read before they write.
template <typename T> __global__ void exchange(T *a, unsigned j, unsigned k) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;
  if (other > i) {
    if ((i & k) == 0) {
      if (a[i] > a[other]) {
        T kept = a[i];
        a[i] = a[other], a[other] = kept;
      }
    } else if (a[i] < a[other]) {
      T kept = a[i];
      a[i] = a[other], a[other] = kept;
    }
  }
}

// A sum over each block by a tree, up and down, with gaps between the elements or without.
template <typename T, int Gap> __global__ void sweeps(T *a, int n) {
  extern __shared__ unsigned char memory[];
  T *tile = reinterpret_cast<T *>(memory);
  auto at = [](int i) { return Gap ? i + (i >> Gap) : i; };
  int t = threadIdx.x, offset = 1, first = blockIdx.x * n;
  tile[at(2 * t)] = a[first + 2 * t], tile[at(2 * t + 1)] = a[first + 2 * t + 1];
  for (int d = n >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d)
      tile[at(offset * (2 * t + 2) - 1)] += tile[at(offset * (2 * t + 1) - 1)];
    offset *= 2;
  }
  if (t == 0)
    tile[at(n - 1)] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      int low = at(offset * (2 * t + 1) - 1), high = at(offset * (2 * t + 2) - 1);
      T kept = tile[low];
      tile[low] = tile[high];
      tile[high] += kept;
    }
  }
  __syncthreads();
  a[first + 2 * t] = tile[at(2 * t)], a[first + 2 * t + 1] = tile[at(2 * t + 1)];
}

// Sums from the left, by unsigned numbers of threads.
template <typename T> __global__ void from_left(T *a) {
  __shared__ T tile[kMost];
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = a[i];
  __syncthreads();
  for (unsigned o = 1; o < blockDim.x; o <<= 1) {
    T left = threadIdx.x >= o ? tile[threadIdx.x - o] : T(0);
    __syncthreads();
    tile[threadIdx.x] += left;
    __syncthreads();
  }
  a[i] = tile[threadIdx.x];
}

// Steps that are no powers of two, and threads that are selected by a table.
__global__ void any_step(int *out, const int *steps, const unsigned char *on, int rounds) {
  __shared__ int tile[kMost];
  int t = threadIdx.x;
  tile[t] = t;
  __syncthreads();
  for (int r = 0, step = 1; r < rounds; ++r, step *= 2) {
    int other = (t ^ steps[r]) & (kMost - 1), both = (t ^ step) & (kMost - 1);
    int sum = tile[other] * 3 + tile[both];
    __syncthreads();
    if (on[t + r])
      tile[both] = sum + r;
    __syncthreads();
  }
  out[t] = tile[t];
}

template <typename T> void fill(T *a, T *wanted, int n) {
  for (int i = 0; i < n; ++i)
    wanted[i] = a[i] = T(i * 7919u % 101);
}

template <typename T> void sort(T *a, int n) {
  for (int i = 1; i < n; ++i) {
    T kept = a[i];
    int j = i;
    for (; j > 0 && a[j - 1] > kept; --j)
      a[j] = a[j - 1];
    a[j] = kept;
  }
}

template <typename T> void same(const T *a, const T *wanted, int n) {
  finish_kernel();
  for (int i = 0; i < n; ++i)
    EXPECT_AT(i, a[i], wanted[i]);
}

template <typename T> void all(int threads) {
  constexpr int blocks = 3;
  const int n = blocks * threads;
  T *a = managed<T>(2 * n), *wanted = managed<T>(2 * n);
  int *around = managed<int>(1);
  *around = 0;
  fill(a, wanted, n);
  for (int b = 0; b < blocks; ++b)
    sort(wanted + b * threads, threads);
  network<<<blocks, threads>>>(a, around);
  same(a, wanted, n);
  EXPECT(*around == blocks * (136 + 152));

  fill(a, wanted, 2 * n);
  for (int b = 0; b < blocks; ++b)
    sort(wanted + b * 2 * threads, 2 * threads);
  pairs<<<blocks, threads, 2 * threads * sizeof(T)>>>(a);
  same(a, wanted, 2 * n);

  fill(a, wanted, 2 * threads);
  for (int j : {1, 2, 4, 8, 16, threads})
    for (int k : {2, 16, 2 * threads}) {
      exchange<<<2, threads>>>(a, j, k);
      finish_kernel();
      for (int i = 0; i < 2 * threads; ++i)
        if (int other = i ^ j; other > i && ((i & k) == 0 ? wanted[i] > wanted[other] : wanted[i] < wanted[other])) {
          T kept = wanted[i];
          wanted[i] = wanted[other], wanted[other] = kept;
        }
      same(a, wanted, 2 * threads);
    }

  for (bool gaps : {false, true}) {
    fill(a, wanted, 2 * n);
    for (int b = 0; b < blocks; ++b) {
      T sum = 0;
      for (int i = 0; i < 2 * threads; ++i) {
        T own = wanted[b * 2 * threads + i];
        wanted[b * 2 * threads + i] = sum;
        sum += own;
      }
    }
    if (gaps)
      sweeps<T, 4><<<blocks, threads, 3 * threads * sizeof(T)>>>(a, 2 * threads);
    else
      sweeps<T, 0><<<blocks, threads, 2 * threads * sizeof(T)>>>(a, 2 * threads);
    same(a, wanted, 2 * n);
  }

  fill(a, wanted, n);
  for (int i = 0; i < n; ++i)
    if (i % threads)
      wanted[i] += wanted[i - 1];
  from_left<<<blocks, threads>>>(a);
  same(a, wanted, n);
}

void any() {
  constexpr int rounds = 8;
  int *out = managed<int>(kMost), *steps = managed<int>(rounds), wanted[kMost], next[kMost];
  unsigned char *on = managed<unsigned char>(kMost + rounds);
  for (int r = 0; r < rounds; ++r)
    steps[r] = r * 5 + 3;
  for (int i = 0; i < kMost + rounds; ++i)
    on[i] = i * 37 % 11 < 4;
  for (int i = 0; i < kMost; ++i)
    wanted[i] = i;
  for (int r = 0, step = 1; r < rounds; ++r, step *= 2) {
    for (int t = 0; t < kMost; ++t)
      next[t] = wanted[t];
    for (int t = 0; t < kMost; ++t)
      if (on[t + r])
        next[(t ^ step) % kMost] = wanted[(t ^ steps[r]) % kMost] * 3 + wanted[(t ^ step) % kMost] + r;
    for (int t = 0; t < kMost; ++t)
      wanted[t] = next[t];
  }
  any_step<<<1, kMost>>>(out, steps, on, rounds);
  same(out, wanted, kMost);
}

int main() {
  for (int threads : {16, 64, 256}) {
    all<int>(threads), all<float>(threads), all<double>(threads), all<long long>(threads), all<short>(threads);
    all<unsigned char>(threads);
  }
  any();
  return result();
}
