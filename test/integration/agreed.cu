// Rows and columns of a thread's number, and numbers that a comparison chooses: the same whether a row of threads lies on one side or
// crosses, for divisors of all sizes and signs, numbers at the edges of their types, and rows of which some threads take no part.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-cpu=x86-64-v3 %s -o %t
// RUN: %t
#include "check.h"

#include <limits>

constexpr int table = 4096, mask = table - 1;

template <class T> __host__ __device__ bool is_defined(T a, T b) {
  return b != 0 && !(std::numeric_limits<T>::is_signed && a == std::numeric_limits<T>::min() && b == T(-1));
}

template <class T> __host__ __device__ int place(T quotient, T rest) {
  return static_cast<int>((quotient * 37 + rest) & mask);
}

// The number goes through the edges of its type with the block.
template <class T> __global__ void divided(const int *in, int *out, T base, T by, int count) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const T i = static_cast<T>(base + static_cast<T>(t));
  if (t < count && is_defined(i, by))
    out[t] = in[place<T>(i / by, i % by)];
}

// Nobody knows that the divisor is none but those that take part.
__global__ void matrix(const int *in, int *out, int rows, int cols, int from) {
  for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < static_cast<long long>(rows) * cols;
       i += gridDim.x * blockDim.x) {
    const int row = static_cast<int>(i / cols), col = static_cast<int>(i % cols);
    if (col >= from)
      out[i] = 2 * in[(row * (cols + 3) + 2 * col) & mask] + in[(row * cols + col) & mask];
  }
}

// Three dimensions: what is left of one division goes into the next.
__global__ void box(const int *in, int *out, unsigned nx, unsigned ny, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  const unsigned z = i / (nx * ny), rest = i % (nx * ny), y = rest / nx, x = rest % nx;
  out[i] = in[z * 1000 + y * 50 + x];
}

__global__ void constants(const int *in, int *out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    out[i] = in[i / 1000 * 7 + i % 1000] + in[i / 100 * 7 + i % 100] + in[i / 10 + i % 10];
}

// A ring: behind its end comes its beginning.
template <class T> __global__ void ring(const int *in, int *out, T shift, T n) {
  const T i = static_cast<T>(blockIdx.x * blockDim.x + threadIdx.x);
  T next = i + shift;
  if (next >= n)
    next -= n;
  T before = i - shift;
  before += before < T(0) || before >= n ? n : T(0);
  if (i < n)
    out[i] = in[next] + 3 * in[before];
}

template <class T> void check(const int *in, int *out) {
  using Limits = std::numeric_limits<T>;
  constexpr int count = 700;
  const T bases[] = {0, 5, T(Limits::max() - 300), T(Limits::min()), T(Limits::max() / 2 - 100), T(0 - T(350))};
  const T divisors[] = {1, 2, 3, 7, 8, 9, 31, 64, 100, 257, 1000, T(-1), T(-9), T(-100), Limits::max(), Limits::min(), 0};
  for (const T base : bases)
    for (const T by : divisors) {
      for (int t = 0; t < count; ++t)
        out[t] = -1;
      divided<T><<<6, 128>>>(in, out, base, by, count);
      finish_kernel();
      for (int t = 0; t < count; ++t) {
        using Unsigned = std::make_unsigned_t<T>;
        const T i = static_cast<T>(static_cast<Unsigned>(base) + static_cast<Unsigned>(t));
        if (Limits::is_signed && base > 0 && i < 0)
          continue;
        EXPECT_AT(t, out[t], is_defined(i, by) ? in[place<T>(i / by, i % by)] : -1);
      }
    }
}

int main() {
  int *in = managed<int>(2 * table), *out = managed<int>(table);
  for (int i = 0; i < 2 * table; ++i)
    in[i] = i * 7919 % 10007;
  check<int>(in, out);
  check<unsigned>(in, out);
  check<long long>(in, out);
  check<unsigned long long>(in, out);

  for (int cols : {1, 2, 7, 9, 33, 100, 300, 1000})
    for (int from : {0, 3}) {
      const int rows = 2000 / cols;
      std::memset(out, 0, table * sizeof(int));
      matrix<<<3, 96>>>(in, out, rows, cols, from);
      finish_kernel();
      for (int i = 0; i < rows * cols; ++i) {
        const int row = i / cols, col = i % cols;
        EXPECT_AT(i, out[i], col < from ? 0 : 2 * in[(row * (cols + 3) + 2 * col) & mask] + in[i & mask]);
      }
    }

  for (unsigned nx : {3u, 17u, 50u}) {
    const unsigned ny = 11, count = nx * ny * 4 - 5;
    box<<<(count + 63) / 64, 64>>>(in, out, nx, ny, count);
    finish_kernel();
    for (unsigned i = 0; i < count; ++i)
      EXPECT_AT(i, out[i], in[i / (nx * ny) * 1000 + i / nx % ny * 50 + i % nx]);
  }

  constants<<<32, 128>>>(in, out, 4000);
  finish_kernel();
  for (int i = 0; i < 4000; ++i)
    EXPECT_AT(i, out[i], in[i / 1000 * 7 + i % 1000] + in[i / 100 * 7 + i % 100] + in[i / 10 + i % 10]);

  for (int n : {5, 100, 1023})
    for (int shift : {0, 1, 4}) {
      auto expect = [&] {
        finish_kernel();
        for (int i = 0; i < n; ++i)
          EXPECT_AT(i, out[i], in[(i + shift) % n] + 3 * in[(i - shift + n) % n]);
        std::memset(out, 0, table * sizeof(int));
      };
      ring<int><<<8, 128>>>(in, out, shift, n);
      expect();
      ring<unsigned><<<8, 128>>>(in, out, shift, n);
      expect();
      ring<long long><<<8, 128>>>(in, out, shift, n);
      expect();
    }
  return result();
}
