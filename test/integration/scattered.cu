// What lanes store and add anywhere: few or many of them, side by side, and in loops whose rounds are far apart.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"
#include <vector>

constexpr int T = 96, BINS = 37, PER_THREAD = 6;

struct Pair {
  int key;
  float value;
};

// Runs of equal bins are counted before they are added; lanes with bins outside of the range add nothing.
__global__ void count(const int *in, int n, int *bins, float *weights) {
  __shared__ int counts[BINS];
  __shared__ float sums[BINS];
  for (int i = threadIdx.x; i < BINS; i += blockDim.x)
    counts[i] = 0, sums[i] = 0;
  __syncthreads();
  int tile = T * PER_THREAD;
  for (int at = blockIdx.x * tile; at < n; at += gridDim.x * tile) {
    if (n - at < tile) {
      for (int i = threadIdx.x; i < n - at; i += T)
        if (in[at + i] >= 0 && in[at + i] < BINS)
          atomicAdd(&counts[in[at + i]], 1), atomicAdd(&sums[in[at + i]], 0.5f);
      break;
    }
    int bin[PER_THREAD];
    for (int i = 0; i < PER_THREAD; ++i)
      bin[i] = in[at + threadIdx.x * PER_THREAD + i];
    int run = 1;
    for (int i = 0; i < PER_THREAD; ++i, ++run)
      if (i + 1 == PER_THREAD || bin[i] != bin[i + 1]) {
        if (bin[i] >= 0 && bin[i] < BINS)
          atomicAdd(&counts[bin[i]], run), atomicAdd(&sums[bin[i]], 0.5f * run);
        run = 0;
      }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < BINS; i += blockDim.x)
    atomicAdd(&bins[i], counts[i]), atomicAdd(&weights[i], sums[i]);
}

// Enough work that threads go in rows.
__host__ __device__ int mixed(int v) {
  for (int i = 0; i < 40; ++i)
    v = (v * 1021 + (v >> 3)) & 0x3fff;
  return v;
}

// Each thread has a place of its own, in either order of the two stores, and not all have one.
__global__ void place(const int *where, const int *in, Pair *out, Pair *reversed, short *halves, int n) {
  __shared__ Pair kept[T];
  int i = blockIdx.x * T + threadIdx.x;
  kept[threadIdx.x] = {-1, -1};
  __syncthreads();
  if (i < n && in[i] % 3 != 0) {
    int to = where[threadIdx.x];
    int key = mixed(in[i]);
    kept[to].key = key;
    kept[to].value = key * 0.25f;
    int far = blockIdx.x * T + to;
    reversed[far].value = key + 1.0f;
    reversed[far].key = key + 2;
    halves[2 * far] = (short)key;
    halves[2 * far + 1] = (short)-key;
  }
  __syncthreads();
  out[i] = kept[threadIdx.x];
}

// From none of the threads to all of them store what they have computed, and what they find on their way.
__global__ void take(const int *where, const int *in, const double *table, int *out, double *found, char *marks, int n, int rate) {
  int i = blockIdx.x * T + threadIdx.x;
  int key = i < n ? mixed(in[i]) : 0;
  int to = where[i % T] + i / T * T;
  if (i < n && key % 16 < rate) {
    out[to] = key;
    found[to] = table[in[i] % T];
    marks[i] = 1;
  }
}

static void taken(int rate, const int *where, const int *in, int blocks) {
  int n = blocks * T - 11;
  int *out = managed<int>(blocks * T);
  double *table = managed<double>(T), *found = managed<double>(blocks * T);
  char *marks = managed<char>(blocks * T);
  for (int i = 0; i < T; ++i)
    table[i] = i * 0.125;
  for (int i = 0; i < blocks * T; ++i)
    out[i] = -1, found[i] = -1, marks[i] = 0;
  take<<<blocks, T>>>(where, in, table, out, found, marks, n, rate);
  finish_kernel();
  for (int i = 0; i < blocks * T; ++i) {
    int to = i / T * T + where[i % T], key = mixed(in[i]);
    bool stored = i < n && key % 16 < rate;
    EXPECT_AT(i, out[to], stored ? key : -1);
    EXPECT_AT(i, found[to], stored ? table[in[i] % T] : -1.0);
    EXPECT_AT(i, marks[i], stored ? 1 : 0);
  }
}

static void counts(int n, int blocks) {
  int *in = managed<int>(n), *bins = managed<int>(BINS);
  float *weights = managed<float>(BINS);
  std::vector<int> expected(BINS);
  for (int i = 0; i < BINS; ++i)
    bins[i] = 0, weights[i] = 0;
  for (int i = 0; i < n; ++i) {
    in[i] = (i * 2654435761u >> 7) % (BINS + 8) - 4;
    if (i % 5 == 0 && i > 0)
      in[i] = in[i - 1];
    if (in[i] >= 0 && in[i] < BINS)
      ++expected[in[i]];
  }
  count<<<blocks, T>>>(in, n, bins, weights);
  finish_kernel();
  for (int i = 0; i < BINS; ++i) {
    EXPECT_AT(i, bins[i], expected[i]);
    EXPECT_AT(i, weights[i], 0.5f * expected[i]);
  }
}

int main() {
  for (int n : {1, T * PER_THREAD - 1, T * PER_THREAD, 5 * T * PER_THREAD + 17, 40 * T * PER_THREAD})
    for (int blocks : {1, 3})
      counts(n, blocks);

  constexpr int BLOCKS = 5, N = BLOCKS * T - 11;
  int *where = managed<int>(T), *in = managed<int>(BLOCKS * T);
  Pair *out = managed<Pair>(BLOCKS * T), *reversed = managed<Pair>(BLOCKS * T);
  short *halves = managed<short>(2 * BLOCKS * T);
  for (int i = 0; i < T; ++i)
    where[i] = i * 29 % T;
  for (int i = 0; i < BLOCKS * T; ++i)
    in[i] = i * 7 % 1000, reversed[i] = {-3, -3}, halves[2 * i] = halves[2 * i + 1] = -5;
  place<<<BLOCKS, T>>>(where, in, out, reversed, halves, N);
  finish_kernel();
  for (int i = 0; i < BLOCKS * T; ++i) {
    int to = i / T * T + where[i % T], key = mixed(in[i]);
    bool stored = i < N && in[i] % 3 != 0;
    EXPECT_AT(i, out[to].key, stored ? key : -1);
    EXPECT_AT(i, out[to].value, stored ? key * 0.25f : -1.0f);
    EXPECT_AT(i, reversed[to].key, stored ? key + 2 : -3);
    EXPECT_AT(i, reversed[to].value, stored ? key + 1.0f : -3.0f);
    EXPECT_AT(i, halves[2 * to], stored ? key : -5);
    EXPECT_AT(i, halves[2 * to + 1], stored ? -key : -5);
  }
  for (int rate : {0, 1, 2, 4, 8, 15, 16})
    taken(rate, where, in, BLOCKS);
  return failures != 0;
}
