// What memory an address lies in: of arguments, what they lead to, variables of all kinds, and of one or the other.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
// RUN: %regrain -O0 --offload-arch=cpu %s -o %t
// RUN: %t
#include "check.h"

constexpr int T = 64, CASES = 8;
enum { SHARED = 1, GLOBAL = 2, LOCAL = 4 };

__device__ int variable;
struct Pair {
  int *first;
};

__device__ __noinline__ int spaces_far(const void *p) {
  return __isShared(p) * SHARED | __isGlobal(p) * GLOBAL | __isLocal(p) * LOCAL;
}
__device__ __forceinline__ int spaces(const void *p) {
  return __isShared(p) * SHARED | __isGlobal(p) * GLOBAL | __isLocal(p) * LOCAL;
}

__global__ void ask(int *to, int *argument, Pair pair, int which, int one) {
  __shared__ int tile[T];
  extern __shared__ int more[];
  int own[4] = {which, one};
  const int t = threadIdx.x;
  tile[t] = more[t] = t;
  __syncthreads();
  int *either = which ? tile + t : argument + t;
  int found[CASES] = {spaces(tile + t), spaces(more + t), spaces(argument + t), spaces(pair.first + t),
                      spaces_far(&own[one]), spaces(&variable), spaces(either), spaces_far(either)};
  __syncthreads();
  for (int i = 0; i < CASES; ++i)
    to[(blockIdx.x * T + t) * CASES + i] = found[i] + own[one] - 1;
}

// Addresses that are kept across barriers, go on from round to round, and are chosen among those of one memory.
__global__ void kept(int *to, int *argument, Pair pair, int rounds) {
  __shared__ int tile[T], other[T];
  const int t = threadIdx.x;
  int *place = &tile[t], *from = argument;
  tile[t] = other[t] = t;
  int found = 0;
  for (int i = 0; i < rounds; ++i) {
    __syncthreads();
    found += spaces(place) == SHARED && spaces(from) == GLOBAL;
    *place += *from;
    __syncthreads();
    place = i & 1 ? &other[t] : &tile[T - 1 - t];
    from = i & 1 ? pair.first + i : argument + i;
  }
  to[blockIdx.x * T + t] = found;
}

int main() {
  constexpr int BLOCKS = 5;
  int *to = managed<int>(BLOCKS * T * CASES), *memory = managed<int>(2 * T);
  for (int which = 0; which < 2; ++which) {
    ask<<<BLOCKS, T, T * sizeof(int)>>>(to, memory, Pair{memory + T}, which, 1);
    finish_kernel();
    const int last = which ? SHARED : GLOBAL;
    const int want[CASES] = {SHARED, SHARED, GLOBAL, GLOBAL, LOCAL, GLOBAL, last, last};
    for (int i = 0; i < BLOCKS * T * CASES; ++i)
      EXPECT_AT(i, to[i], want[i % CASES]);
  }
  kept<<<BLOCKS, T>>>(to, memory, Pair{memory + T}, 6);
  finish_kernel();
  for (int i = 0; i < BLOCKS * T; ++i)
    EXPECT_AT(i, to[i], 6);
  return result();
}
