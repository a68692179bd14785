// What some lanes read and then write themselves: the value from before. LLVM 22 reads it behind the write where lanes that are off have
// another value (llvm-project issue 215453), in rows of threads and in loops of its own vectoriser.
// RUN: %regrain -O3 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

constexpr int kThreads = 64, kBlocks = 3, kCells = kThreads * kBlocks;

template <typename T> __global__ void swap_in_rows(T *a, const T *__restrict__ b, T *out, T other, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  T old = other;
  if (i < n && b[i] > 0) {
    old = a[i];
    a[i] = b[i];
  }
  out[i] = old;
}

template <typename T>
__global__ void swap_in_loops(T *__restrict__ a, const T *__restrict__ b, T *__restrict__ out, T other, int n) {
  for (int i = 0; i < n; ++i) {
    T old = other;
    if (b[i] > 0) {
      old = a[i];
      a[i] = b[i];
    }
    out[i] = old;
  }
}

// A queue of values for each thread, moved on from phase to phase.
template <typename T> __global__ void queues(const T *in, T *out, int n, int phases) {
  __shared__ T shared[kThreads];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  T ahead[3] = {}, now = 0, sum = 0;
  if (i < n) {
    now = in[i];
    for (int k = 0; k < 3; ++k)
      ahead[k] = in[i + k + 1];
  }
  for (int phase = 0; phase < phases; ++phase) {
    if (i < n)
      shared[threadIdx.x] = now;
    __syncthreads();
    if (i < n)
      sum += shared[threadIdx.x] * (phase + 1);
    __syncthreads();
    if (i < n && phase + 1 < phases) {
      now = ahead[0];
#pragma unroll
      for (int k = 0; k < 2; ++k)
        ahead[k] = ahead[k + 1];
      ahead[2] = in[i + phase + 4];
    }
  }
  out[i] = sum;
}

template <typename T> void swaps(int n, bool loops) {
  T *a = managed<T>(kCells), *b = managed<T>(kCells), *out = managed<T>(kCells);
  for (int i = 0; i < kCells; ++i)
    a[i] = T(i + 1), b[i] = T(i * 7 % 5 - 2);
  if (loops)
    swap_in_loops<<<1, 1>>>(a, b, out, T(-9), n);
  else
    swap_in_rows<<<kBlocks, kThreads>>>(a, b, out, T(-9), n);
  finish_kernel();
  for (int i = 0; i < n; ++i) {
    bool swapped = i * 7 % 5 > 2;
    EXPECT_AT(i, out[i], swapped ? T(i + 1) : T(-9));
    EXPECT_AT(i, a[i], swapped ? T(i * 7 % 5 - 2) : T(i + 1));
  }
}

template <typename T> void moves(int n) {
  constexpr int phases = 6;
  T *in = managed<T>(kCells + phases + 4), *out = managed<T>(kCells);
  for (int i = 0; i < kCells + phases + 4; ++i)
    in[i] = T(i * 37 % 101);
  queues<<<kBlocks, kThreads>>>(in, out, n, phases);
  finish_kernel();
  for (int i = 0; i < kCells; ++i) {
    T wanted = 0;
    for (int phase = 0; i < n && phase < phases; ++phase)
      wanted += in[i + phase] * (phase + 1);
    EXPECT_AT(i, out[i], wanted);
  }
}

template <typename T> void all() {
  for (int n : {kCells, kCells - 1, 70, 9})
    swaps<T>(n, false), swaps<T>(n, true), moves<T>(n);
}

int main() {
  all<float>(), all<double>(), all<int>(), all<long long>();
  return result();
}
