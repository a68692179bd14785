// Reads of places that differ unevenly from thread to thread: in all lanes of a row, in none, in some, and through numbers that are
// loaded, widened or added to. Each element against the host's.
// RUN: %regrain -O3 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

constexpr int kThreads = 128, kBlocks = 5, kCount = kThreads * kBlocks - 37;

__global__ void all_lanes(const int *__restrict__ index, const float *__restrict__ from, float *__restrict__ out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = from[index[i]];
}

template <typename T, typename I>
__global__ void some_lanes(const I *__restrict__ index, const T *__restrict__ from, T *__restrict__ out, int count, int least) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  const I at = index[i];
  T found = T(7);
  if (int(at) >= least)
    found = from[at] + from[at + 3];
  out[i] = found;
}

// Each thread has rounds of its own: lanes leave a loop one by one.
template <typename T>
__global__ void rounds(const int *__restrict__ index, const T *__restrict__ from, T *__restrict__ out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  T sum = T(0);
  for (int k = i % 5; k < index[i % count] % 9; ++k)
    sum += from[index[(i + 7 * k) % count]];
  out[i] = sum;
}

// Rows of warps, the last round with the lanes that are left.
__global__ void rows(const int *__restrict__ begins, const int *__restrict__ index, const float *__restrict__ from, float *__restrict__ out) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  float sum = 0.0f;
  for (int i = begins[row] + threadIdx.x; i < begins[row + 1]; i += 32)
    sum += from[index[i]];
  for (int lanes = 16; lanes > 0; lanes /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, lanes);
  if (threadIdx.x == 0)
    out[row] = sum;
}

template <typename T, typename I> void check_some(int least) {
  I *index = managed<I>(kCount);
  T *from = managed<T>(kCount + 3), *out = managed<T>(kCount);
  for (int i = 0; i < kCount; ++i)
    index[i] = I((i * 37 + i / 16 * 5) % kCount);
  for (int i = 0; i < kCount + 3; ++i)
    from[i] = T(i % 50);
  some_lanes<T, I><<<kBlocks, kThreads>>>(index, from, out, kCount, least);
  finish_kernel();
  for (int i = 0; i < kCount; ++i)
    EXPECT_AT(i, out[i], int(index[i]) >= least ? T(from[index[i]] + from[index[i] + 3]) : T(7));
}

template <typename T> void check_rounds() {
  const int count = kBlocks * kThreads;
  int *index = managed<int>(count);
  T *from = managed<T>(count), *out = managed<T>(count);
  for (int i = 0; i < count; ++i)
    index[i] = (i * 53 + 11) % count, from[i] = T(i % 20);
  rounds<T><<<kBlocks, kThreads>>>(index, from, out, count);
  finish_kernel();
  for (int i = 0; i < count; ++i) {
    T sum = T(0);
    for (int k = i % 5; k < index[i] % 9; ++k)
      sum += from[index[(i + 7 * k) % count]];
    EXPECT_AT(i, out[i], sum);
  }
}

void check_all() {
  const int count = kBlocks * kThreads;
  int *index = managed<int>(count);
  float *from = managed<float>(count), *out = managed<float>(count);
  for (int i = 0; i < count; ++i)
    index[i] = (i * 53 + 11) % count, from[i] = float(3 * i);
  all_lanes<<<kBlocks, kThreads>>>(index, from, out);
  finish_kernel();
  for (int i = 0; i < count; ++i)
    EXPECT_AT(i, out[i], from[index[i]]);
}

// Rows of 0 to 75 numbers; sums of small whole numbers are exact in any order.
void check_rows() {
  constexpr int kRows = 32;
  int *begins = managed<int>(kRows + 1), *index = managed<int>(kRows * 76);
  float *from = managed<float>(1000), *out = managed<float>(kRows);
  for (int row = 0; row < kRows; ++row)
    begins[row + 1] = begins[row] + row * 29 % 76;
  for (int i = 0; i < begins[kRows]; ++i)
    index[i] = (i * 331) % 1000;
  for (int i = 0; i < 1000; ++i)
    from[i] = float(i % 64);
  rows<<<kRows / 4, dim3(32, 4)>>>(begins, index, from, out);
  finish_kernel();
  for (int row = 0; row < kRows; ++row) {
    float sum = 0.0f;
    for (int i = begins[row]; i < begins[row + 1]; ++i)
      sum += from[index[i]];
    EXPECT_AT(row, out[row], sum);
  }
}

int main() {
  check_all(), check_rows();
  for (int least : {-1, 100, 300, 590, 100000}) {
    check_some<float, int>(least), check_some<double, int>(least), check_some<float, long long>(least);
    check_some<int, unsigned>(least), check_some<short, int>(least), check_some<unsigned char, unsigned short>(least);
    check_some<long long, long long>(least), check_some<float, short>(least);
  }
  check_rounds<float>(), check_rounds<int>(), check_rounds<double>(), check_rounds<unsigned char>();
  return result();
}
