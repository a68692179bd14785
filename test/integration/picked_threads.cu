// Rounds that pick a thread by its number, and loops that threads leave one after the other.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
// RUN: %regrain -O2 --offload-arch=cpu -march=x86-64-v4 -fregrain-alternatives=none -c %s -o %t.o
#include "check.h"
#include <vector>

constexpr int N = 1000, TILE = 96, BLOCKS = (N + TILE - 1) / TILE;

// A thread for each digit looks through the keys: what it writes to goes on from one to the next.
template <int DIGITS> __global__ void walk(const unsigned *in, unsigned *out, const unsigned *first, int n, int shift) {
  __shared__ unsigned tile[TILE];
  const int t = threadIdx.x, base = blockIdx.x * TILE, size = min(TILE, n - base);
  if (t < size) tile[t] = in[base + t];
  __syncthreads();
  if (t < DIGITS) {
    unsigned at = first[t * gridDim.x + blockIdx.x];
    for (int i = 0; i < size; ++i)
      if (((tile[i] >> shift) & (DIGITS - 1)) == t)
        out[at++] = tile[i];
  }
}

// More of each thread than its number: what it has loaded, what it does behind the rounds, numbers beyond the block.
__global__ void sums(const int *numbers, const float *value, const float *scale, float *sum, int *last, int n) {
  const int t = threadIdx.x;
  const float own = scale[t];
  float total = own;
  int found = -1;
  bool any = false;
  for (int i = 0; i < n; ++i) {
    const int number = numbers[i];
    if (number >= 0) {
      if (number == t && value[i] > 0) {
        total += own * value[i];
        found = i;
        any = true;
      }
    }
  }
  sum[t] = any ? total : 2 * own;
  last[t] = found;
}

// No thread comes to rounds whose memory there is not.
__global__ void none(const int *numbers, int *out, int some, int n) {
  const int t = threadIdx.x;
  if (t < some) {
    int count = 0;
    for (int i = 0; i < n; ++i)
      if (numbers[i] == t) {
        out[i] = t + count++;
      }
  }
}

// A number in eight bits is that of several threads.
__global__ void narrow(const unsigned char *numbers, int *out, int n) {
  const unsigned char t = threadIdx.x;
  int count = 0;
  for (int i = 0; i < n; ++i)
    if (numbers[i] == t) out[threadIdx.x] = ++count;
  __syncthreads();
  if (t == 5) out[threadIdx.x] = -1;
}

// The equal ones before each, the smaller ones behind it, sums up to a bound that falls from thread to thread.
__global__ void before(const unsigned *in, int *equal, int *less, float *part, int n) {
  __shared__ unsigned tile[TILE];
  const int t = threadIdx.x, i = blockIdx.x * TILE + t;
  const unsigned own = i < n ? in[i] & 7 : 9;
  tile[t] = own;
  __syncthreads();
  int same = 0, smaller = 0;
  for (int j = 0; j < t; ++j) same += tile[j] == own;
  for (int j = TILE - 1; j > t; --j) smaller += tile[j] < own;
  float sum = 0;
  for (unsigned j = 2; j < unsigned(TILE - t); j += 3) sum = sum / 2 + tile[j];
  if (i < n) {
    equal[i] = same;
    less[i] = smaller;
    part[i] = sum;
  }
}

int main() {
  unsigned seed = 3;
  auto next = [&] { return (seed = seed * 1664525u + 1013904223u) >> 8; };
  std::vector<unsigned> keys(N);
  for (unsigned &key : keys) key = next();

  // A sort by four bits after the other.
  constexpr int DIGITS = 16;
  std::vector<unsigned> now = keys, first(DIGITS * BLOCKS);
  unsigned *in, *out, *from;
  cudaMalloc(&in, N * sizeof(int));
  cudaMalloc(&out, N * sizeof(int));
  cudaMalloc(&from, first.size() * sizeof(int));
  for (int shift = 0; shift < 24; shift += 4) {
    std::vector<unsigned> count(DIGITS * BLOCKS);
    for (int i = 0; i < N; ++i) ++count[((now[i] >> shift) & (DIGITS - 1)) * BLOCKS + i / TILE];
    unsigned sum = 0;
    for (size_t i = 0; i < count.size(); ++i) first[i] = sum, sum += count[i];
    cudaMemcpy(in, now.data(), N * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(from, first.data(), first.size() * sizeof(int), cudaMemcpyHostToDevice);
    walk<DIGITS><<<BLOCKS, TILE>>>(in, out, from, N, shift);
    cudaMemcpy(now.data(), out, N * sizeof(int), cudaMemcpyDeviceToHost);
  }
  std::vector<unsigned> sorted = keys;
  for (int i = 1; i < N; ++i)
    for (int j = i; j > 0 && sorted[j - 1] > sorted[j]; --j) std::swap(sorted[j - 1], sorted[j]);
  for (int i = 0; i < N; ++i) EXPECT_AT(i, now[i], sorted[i]);

  constexpr int T = 64;
  std::vector<int> numbers(N), last(T);
  std::vector<float> value(N), scale(T), sum(T);
  for (int i = 0; i < N; ++i) numbers[i] = int(next() % 80) - 8, value[i] = float(next() % 100) - 30;
  for (int t = 0; t < T; ++t) scale[t] = 0.25f * t;
  int *dn, *dl;
  float *dv, *dc, *ds;
  cudaMalloc(&dn, N * sizeof(int));
  cudaMalloc(&dl, N * sizeof(int));
  cudaMalloc(&dv, N * sizeof(float));
  cudaMalloc(&dc, T * sizeof(float));
  cudaMalloc(&ds, T * sizeof(float));
  cudaMemcpy(dn, numbers.data(), N * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(dv, value.data(), N * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dc, scale.data(), T * sizeof(float), cudaMemcpyHostToDevice);
  sums<<<1, T>>>(dn, dv, dc, ds, dl, N);
  cudaMemcpy(sum.data(), ds, T * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(last.data(), dl, T * sizeof(int), cudaMemcpyDeviceToHost);
  for (int t = 0; t < T; ++t) {
    float total = scale[t];
    int found = -1;
    for (int i = 0; i < N; ++i)
      if (numbers[i] == t && value[i] > 0) {
        const float product = scale[t] * value[i];
        total += product, found = i;
      }
    EXPECT_AT(t, sum[t], found < 0 ? 2 * scale[t] : total);
    EXPECT_AT(t, last[t], found);
  }

  none<<<2, T>>>(nullptr, nullptr, 0, N);
  OK(cudaDeviceSynchronize());
  none<<<1, T>>>(dn, dl, 20, N);
  std::vector<int> counted(N);
  cudaMemcpy(counted.data(), dl, N * sizeof(int), cudaMemcpyDeviceToHost);
  std::vector<int> seen(T);
  for (int i = 0; i < N; ++i)
    if (numbers[i] >= 0 && numbers[i] < 20) EXPECT_AT(i, counted[i], numbers[i] + seen[numbers[i]]++);

  std::vector<unsigned char> bytes(N);
  for (auto &byte : bytes) byte = next() % 250;
  unsigned char *db;
  cudaMalloc(&db, N);
  cudaMemcpy(db, bytes.data(), N, cudaMemcpyHostToDevice);
  cudaMemset(dl, 0, N * sizeof(int));
  narrow<<<1, 600>>>(db, dl, N);
  cudaMemcpy(counted.data(), dl, N * sizeof(int), cudaMemcpyDeviceToHost);
  for (int t = 0; t < 600; ++t) {
    int count = 0;
    for (unsigned char byte : bytes) count += byte == (t & 255);
    EXPECT_AT(t, counted[t], (t & 255) == 5 ? -1 : count);
  }

  cudaMemcpy(in, keys.data(), N * sizeof(int), cudaMemcpyHostToDevice);
  int *de;
  cudaMalloc(&de, N * sizeof(int));
  before<<<BLOCKS, TILE>>>(in, de, dl, dv, N);
  std::vector<int> equal(N), less(N);
  std::vector<float> part(N);
  cudaMemcpy(equal.data(), de, N * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(less.data(), dl, N * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(part.data(), dv, N * sizeof(float), cudaMemcpyDeviceToHost);
  for (int i = 0; i < N; ++i) {
    const int block = i / TILE * TILE, t = i % TILE;
    auto key = [&](int j) { return block + j < N ? keys[block + j] & 7 : 9; };
    int same = 0, smaller = 0;
    float sum = 0;
    for (int j = 0; j < t; ++j) same += key(j) == key(t);
    for (int j = t + 1; j < TILE; ++j) smaller += key(j) < key(t);
    for (int j = 2; j < TILE - t; j += 3) sum = sum / 2 + key(j);
    EXPECT_AT(i, equal[i], same);
    EXPECT_AT(i, less[i], smaller);
    EXPECT_AT(i, part[i], sum);
  }
  return result();
}
