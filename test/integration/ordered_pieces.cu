// What a block reads and writes in pieces that follow one another: guarded, in tiles, in two dimensions of threads, where pieces overlap
// what was written, and with a size that the launch gives.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

constexpr int kThreads = 128, kPieces = 4, kBlock = kThreads * kPieces;

// The last piece of the last block ends early.
__global__ void guarded(const int *in, int *out, int n) {
  int first = blockIdx.x * kBlock + threadIdx.x, value[kPieces];
  for (int k = 0; k < kPieces; ++k)
    value[k] = first + k * kThreads < n ? in[first + k * kThreads] : -1;
  for (int k = 0; k < kPieces; ++k)
    if (first + k * kThreads < n)
      out[first + k * kThreads] = value[k] + value[(k + 1) % kPieces];
}

__global__ void in_place(int *a) {
  int *own = a + blockIdx.x * blockDim.x * 2 + threadIdx.x;
  int left = own[0];
  own[0] = left * 3;
  int right = own[blockDim.x];
  own[blockDim.x] = left - right;
}

__global__ void flat(const double *in, double *out) {
  int t = threadIdx.y * 16 + threadIdx.x, first = blockIdx.x * 512 + t;
  double a = in[first], b = in[first + 256];
  out[first + 256] = a;
  out[first] = b;
}

// Tiles one after the other; a full one is read at once.
__global__ void tiles(const unsigned char *in, int *sums, int n) {
  int sum = 0;
  for (int low = 0; low < n; low += 3 * kThreads) {
    const unsigned char *tile = in + low + threadIdx.x;
    if (low + 3 * kThreads <= n)
      sum += tile[0] * 5 + tile[kThreads] * 7 + tile[2 * kThreads] * 11;
    else
      for (int k = 0; k < 3; ++k)
        if (low + k * kThreads + (int)threadIdx.x < n)
          sum += tile[k * kThreads];
  }
  sums[threadIdx.x] = sum;
}

// Vectors and fields of structures: threads go on by more than an element.
struct Pair {
  short a;
  int b;
};

__global__ void wide(const int4 *in, int4 *out, const Pair *pairs, int *sums) {
  int first = blockIdx.x * 2 * kThreads + threadIdx.x;
  int4 left = in[first], right = in[first + kThreads];
  out[first] = make_int4(right.x, left.y, right.z, left.w);
  out[first + kThreads] = make_int4(left.x, right.y, left.z, right.w);
  sums[first] = pairs[first].a + pairs[first + kThreads].a * 3 + pairs[first].b * 5 + pairs[first + kThreads].b * 7;
}

void wides() {
  constexpr int n = 3 * 2 * kThreads;
  int *in = managed<int>(4 * n), *out = managed<int>(4 * n), *sums = managed<int>(n);
  Pair *pairs = managed<Pair>(n);
  for (int i = 0; i < 4 * n; ++i)
    in[i] = i * 31 % 1009;
  for (int i = 0; i < n; ++i)
    pairs[i] = {short(i % 77), i * 3};
  wide<<<3, kThreads>>>((int4 *)in, (int4 *)out, pairs, sums);
  finish_kernel();
  for (int i = 0; i < n; ++i) {
    int other = i / kThreads % 2 ? i - kThreads : i + kThreads;
    for (int k = 0; k < 4; ++k)
      EXPECT_AT(4 * i + k, out[4 * i + k], in[4 * (k % 2 ? i : other) + k]);
    if (other > i)
      EXPECT_AT(i, sums[i], i % 77 + other % 77 * 3 + i * 15 + other * 21);
  }
}

void guards(int n) {
  int *in = managed<int>(n), *out = managed<int>(n);
  for (int i = 0; i < n; ++i)
    in[i] = i * 7 % 1013;
  guarded<<<(n + kBlock - 1) / kBlock, kThreads>>>(in, out, n);
  finish_kernel();
  for (int i = 0; i < n; ++i) {
    int piece = i / kThreads % kPieces, next = i + (piece + 1 < kPieces ? 1 : 1 - kPieces) * kThreads;
    EXPECT_AT(i, out[i], in[i] + (next < n ? in[next] : -1));
  }
}

void places(int threads) {
  int *a = managed<int>(6 * threads);
  for (int i = 0; i < 6 * threads; ++i)
    a[i] = i;
  in_place<<<3, threads>>>(a);
  finish_kernel();
  for (int i = 0; i < 6 * threads; ++i)
    EXPECT_AT(i, a[i], i / threads % 2 ? -threads : 3 * i);
}

void sums(int n) {
  unsigned char *in = managed<unsigned char>(n);
  int *out = managed<int>(kThreads);
  for (int i = 0; i < n; ++i)
    in[i] = i * 13 % 251;
  tiles<<<1, kThreads>>>(in, out, n);
  finish_kernel();
  for (int t = 0; t < kThreads; ++t) {
    int wanted = 0, full = n / (3 * kThreads) * 3 * kThreads;
    for (int i = t; i < n; i += kThreads)
      wanted += in[i] * (i >= full ? 1 : i / kThreads % 3 == 0 ? 5 : i / kThreads % 3 == 1 ? 7 : 11);
    EXPECT_AT(t, out[t], wanted);
  }
}

int main() {
  for (int n : {1, 127, 128, 500, 1024, 3001})
    guards(n), sums(n);
  for (int threads : {1, 31, 64, 200, 256})
    places(threads);
  wides();
  double *in = managed<double>(1536), *out = managed<double>(1536);
  for (int i = 0; i < 1536; ++i)
    in[i] = i;
  flat<<<3, dim3(16, 16)>>>(in, out);
  finish_kernel();
  for (int i = 0; i < 1536; ++i)
    EXPECT_AT(i, out[i], double(i ^ 256));
  return result();
}
