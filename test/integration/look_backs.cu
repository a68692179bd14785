// Lanes of a warp that look back over earlier blocks, each as far as it has to, with a vote that says which of them still look.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_THREADS=1 %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"
#include <vector>

constexpr int T = 128, BLOCKS = 41;
constexpr unsigned PART = 1u << 30, WHOLE = 2u << 30, VALUE = PART - 1;

// Each thread adds up a column over the blocks: what a block has alone is there first, with those before it later.
__global__ void columns(const int *in, volatile unsigned *state, int *out, int *next) {
  __shared__ int number;
  if (threadIdx.x == 0)
    number = atomicAdd(next, 1);
  __syncthreads();
  int block = number, column = threadIdx.x;
  unsigned own = in[block * T + column], sum = own;
  state[block * T + column] = own | (block == 0 ? WHOLE : PART);
  unsigned still = ~0u;
  for (int before = block - 1; before >= 0; --before) {
    unsigned seen;
    do {
      __threadfence_block();
      seen = state[before * T + column];
    } while (seen == 0);
    sum += seen & VALUE;
    still = __ballot_sync(still, (seen & WHOLE) == 0);
    if (seen & WHOLE)
      break;
  }
  state[block * T + column] = sum | WHOLE;
  out[block * T + column] = sum;
}

int main() {
  int *in = managed<int>(BLOCKS * T), *out = managed<int>(BLOCKS * T), *next = managed<int>(1);
  unsigned *state = managed<unsigned>(BLOCKS * T);
  for (int round = 0; round < 20; ++round) {
    next[0] = 0;
    for (int i = 0; i < BLOCKS * T; ++i)
      in[i] = (i * 37 + round) % 1001, state[i] = 0, out[i] = -1;
    columns<<<BLOCKS, T>>>(in, state, out, next);
    finish_kernel();
    std::vector<int> sums(T);
    for (int i = 0; i < BLOCKS * T; ++i) {
      sums[i % T] += in[i];
      EXPECT_AT(i, out[i], sums[i % T]);
    }
  }
  return failures != 0;
}
