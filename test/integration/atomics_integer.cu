// All integer atomics, on global and shared memory, in all scopes.
// RUN: %regrain -O2 --offload-arch=cpu,sm_80 %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"
#include <type_traits>

constexpr int B = 8, T = 96, N = B * T;

// Every operation on its own word; `old` sums what the operations gave back where the order does not matter.
template <typename V> __device__ void all_operations(V *m, int i) {
  atomicAdd(&m[0], V(i));
  atomicSub(reinterpret_cast<std::conditional_t<sizeof(V) == 8, unsigned, V> *>(&m[1]), 3);
  atomicMin(&m[2], V(i + 5));
  atomicMax(&m[3], V(i + 5));
  atomicAnd(&m[4], ~(V(1) << (i % 31)));
  atomicOr(&m[5], V(1) << (i % 31));
  atomicXor(&m[6], V(i));
  V seen = m[7], assumed;
  do {
    assumed = seen;
    seen = atomicCAS(&m[7], assumed, assumed + 2);
  } while (seen != assumed);
}

template <typename V> __global__ void global_words(V *m) { all_operations(m, blockIdx.x * blockDim.x + threadIdx.x); }

template <typename V> __global__ void shared_words(V *out, const V *in) {
  __shared__ V m[8];
  if (threadIdx.x < 8)
    m[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  all_operations(m, threadIdx.x);
  __syncthreads();
  if (threadIdx.x < 8)
    out[blockIdx.x * 8 + threadIdx.x] = m[threadIdx.x];
}

template <typename V> void expect(const V *m, const V *start, int n) {
  V want[8];
  memcpy(want, start, sizeof want);
  for (int i = 0; i < n; ++i) {
    want[0] += i;
    want[2] = std::min(want[2], V(i + 5));
    want[3] = std::max(want[3], V(i + 5));
    want[4] &= ~(V(1) << (i % 31));
    want[5] |= V(1) << (i % 31);
    want[6] ^= V(i);
    want[7] += 2;
  }
  want[1] = V(unsigned(want[1]) - 3u * n);
  for (int k = 0; k < 8; ++k)
    EXPECT_AT(k, m[k], want[k]);
}

template <typename V> void check() {
  V start[8] = {1, V(1000000), V(700), V(9), V(-1), 0, 0x55, 100};
  V *m = managed<V>(8), *in = managed<V>(8), *out = managed<V>(8 * B);
  memcpy(m, start, sizeof start);
  memcpy(in, start, sizeof start);
  global_words<<<B, T>>>(m);
  finish_kernel();
  expect(m, start, N);
  shared_words<<<B, T>>>(out, in);
  finish_kernel();
  for (int b = 0; b < B; ++b)
    expect(out + b * 8, start, T);
}

// Results of the operations: a ticket for everyone, wrapping counters, exchanges that lose nothing, scopes.
__global__ void results(int *ticket, unsigned *u, int *seen) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&seen[atomicAdd(&ticket[0], 1)], 1);
  atomicInc(&u[0], 9);
  atomicDec(&u[1], 9);
  atomicAdd(&u[2], atomicExch(&u[3], i));
  atomicAdd_system(&u[4], 1u);
  __shared__ unsigned s;
  if (threadIdx.x == 0)
    s = 0;
  __syncthreads();
  atomicAdd_block(&s, 1u);
  atomicMax_block(&ticket[1 + blockIdx.x], i);
  atomicCAS_system(&u[5], 0u, 77u);
  __syncthreads();
  if (threadIdx.x == 0)
    atomicAdd(&u[6], s);
}

__global__ void narrow(unsigned short *h) {
  unsigned short seen = *h, assumed;
  do {
    assumed = seen;
    seen = atomicCAS(h, assumed, (unsigned short)(assumed + 1));
  } while (seen != assumed);
}

__global__ void signed_words(long long *m) {
  long long i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicMin(&m[0], -4 * i);
  atomicMax(&m[1], (1LL << 40) + i);
}

int main() {
  long long *wide = managed<long long>(2);
  check<int>();
  check<unsigned>();
  check<unsigned long long>();
  signed_words<<<B, T>>>(wide);
  finish_kernel();
  EXPECT_AT(0, wide[0], -4LL * N + 4);
  EXPECT_AT(1, wide[1], (1LL << 40) + N - 1);
  int *ticket = managed<int>(1 + B), *seen = managed<int>(N);
  unsigned *u = managed<unsigned>(7);
  u[0] = 3, u[1] = 3;
  results<<<B, T>>>(ticket, u, seen);
  finish_kernel();
  for (int i = 0; i < N; ++i)
    EXPECT_AT(i, seen[i], 1);
  EXPECT_AT(0, u[0], unsigned((3 + N) % 10));
  EXPECT_AT(1, u[1], unsigned(((3 - N) % 10 + 10) % 10));
  EXPECT_AT(2, u[2] + u[3], unsigned(N * (N - 1) / 2));
  EXPECT(u[4] == N && u[5] == 77 && u[6] == N);
  for (int b = 0; b < B; ++b)
    EXPECT_AT(b, ticket[1 + b], b * T + T - 1);
  unsigned short *h = managed<unsigned short>(2);
  h[0] = 65000, h[1] = 4242;
  narrow<<<B, T>>>(h);
  finish_kernel();
  EXPECT_AT(0, int(h[0]), (65000 + N) % 65536);
  EXPECT_AT(1, int(h[1]), 4242);
  return result();
}
