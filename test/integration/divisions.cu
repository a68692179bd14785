// Divisions and remainders of rows of threads: of all widths, signed and not, by numbers of each thread and by one for all, of numbers at the
// edges of what integers and floating-point numbers have. Threads whose divisor is zero, or whose quotient does not fit, do not divide.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-cpu=x86-64 %s -o %t
// RUN: %t
#include "check.h"

#include <limits>
#include <vector>

template <class T> __host__ __device__ bool is_defined(T a, T b) {
  return b != 0 && !(std::numeric_limits<T>::is_signed && a == std::numeric_limits<T>::min() && b == T(-1));
}

template <class T> __global__ void own(const T *a, const T *b, T *whole, T *rest, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count && is_defined(a[i], b[i])) {
    whole[i] = a[i] / b[i];
    rest[i] = a[i] % b[i];
  }
}

template <class T> __global__ void common(const T *a, T b, T *whole, T *rest, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count && is_defined(a[i], b)) {
    whole[i] = a[i] / b;
    rest[i] = a[i] % b;
  }
}

// What is known of the numbers: thread numbers are small, and wide ones may be no wider than 32 bits.
__global__ void known(const int *by, int count, int *small, long long *wide) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int chosen = 0;
  for (int step = 2; step <= 64; step *= 2)
    if ((threadIdx.x + 1) % step == 0)
      ++chosen;
  small[i] = chosen * 1000 + threadIdx.x / (by[i] | 1) + int(blockIdx.x) % count;
  wide[i] = ((long long)by[i] * 2 - by[i]) / ((long long)by[(i + 7) % 256] | 1) + (long long)(unsigned)by[i] % (i + 1);
}

// A number of 32 bits times one that all threads have, as of a bin of a histogram: the product may be of any size, and negative ones are large.
template <class N, class W> __global__ void scaled(const N *a, N scale, W by, unsigned *low, W *rest, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    low[i] = unsigned(W(a[i]) * W(scale) / by);
    rest[i] = W(a[i]) * W(scale) % by;
  }
}

template <class N, class W> void check_scaled() {
  std::vector<N> edges;
  for (int bit = 0; bit < 32; ++bit)
    for (int more = -2; more <= 2; ++more)
      edges.push_back(N((1ll << bit) + more)), edges.push_back(N(more - (1ll << bit)));
  const int count = int(edges.size());
  N *a = managed<N>(count);
  unsigned *low = managed<unsigned>(count);
  W *rest = managed<W>(count);
  for (bool ordered : {false, true}) {
    // Neighbours are of one size where they are ordered, so that rows of small ones are whole.
    for (int i = 0; i < count; ++i)
      a[i] = ordered ? N(i % 2 ? i * 7919 : i) : edges[i];
    for (N scale : {N(1), N(256), N(524287), N(524288), N(-3), std::numeric_limits<N>::max()})
      for (W by : {W(1), W(3), W(65536), W((1ll << 50) - 1), W(1ll << 50), W(-7)}) {
        scaled<<<(count + 127) / 128, 128>>>(a, scale, by, low, rest, count);
        finish_kernel();
        for (int i = 0; i < count; ++i) {
          EXPECT_AT(i, low[i], unsigned(W(a[i]) * W(scale) / by));
          EXPECT_AT(i, rest[i], W(W(a[i]) * W(scale) % by));
        }
      }
  }
}

template <class T> void check() {
  std::vector<T> edges;
  unsigned state = 1;
  for (int bit = 0; bit < int(8 * sizeof(T)); bit += int(sizeof(T) + 1) / 2)
    for (int more = -2; more <= 2; ++more) {
      edges.push_back(T((T(1) << bit) + T(more)));
      edges.push_back(T(-edges.back()));
      edges.push_back(T((state = state * 1664525u + 1013904223u) >> bit));
    }
  edges.push_back(0);
  const int count = int(edges.size() * edges.size());
  T *a = managed<T>(count), *b = managed<T>(count), *whole = managed<T>(count), *rest = managed<T>(count);
  for (int i = 0; i < count; ++i)
    a[i] = edges[i / edges.size()], b[i] = edges[i % edges.size()];
  own<<<(count + 127) / 128, 128>>>(a, b, whole, rest, count);
  finish_kernel();
  for (int i = 0; i < count; ++i)
    if (is_defined(a[i], b[i])) {
      EXPECT_AT(i, whole[i], T(a[i] / b[i]));
      EXPECT_AT(i, rest[i], T(a[i] % b[i]));
    }
  for (size_t number = 0; number < edges.size(); number += 11) {
    const T by = edges[number];
    common<<<(count + 127) / 128, 128>>>(a, by, whole, rest, count);
    finish_kernel();
    for (int i = 0; i < count; ++i)
      if (is_defined(a[i], by)) {
        EXPECT_AT(i, whole[i], T(a[i] / by));
        EXPECT_AT(i, rest[i], T(a[i] % by));
      }
  }
}

int main() {
  check<signed char>();
  check<unsigned char>();
  check<short>();
  check<unsigned short>();
  check<int>();
  check<unsigned>();
  check<long long>();
  check<unsigned long long>();
  check_scaled<int, long long>();
  check_scaled<int, unsigned long long>();
  check_scaled<unsigned, long long>();
  check_scaled<unsigned, unsigned long long>();
  int *by = managed<int>(256), *small = managed<int>(256);
  long long *wide = managed<long long>(256);
  for (int i = 0; i < 256; ++i)
    by[i] = int((i + 1) * 2654435761u) >> (i % 29);
  known<<<4, 64>>>(by, 3, small, wide);
  finish_kernel();
  for (int i = 0; i < 256; ++i) {
    int chosen = 0, x = i % 64;
    for (int step = 2; step <= 64; step *= 2)
      chosen += (x + 1) % step == 0;
    EXPECT_AT(i, small[i], int(chosen * 1000u + unsigned(x) / unsigned(by[i] | 1) + unsigned(i / 64 % 3)));
    EXPECT_AT(i, wide[i], (long long)by[i] / ((long long)by[(i + 7) % 256] | 1) + (long long)(unsigned)by[i] % (i + 1));
  }
  return result();
}
