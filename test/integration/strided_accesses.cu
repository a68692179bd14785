// Each thread works on eight neighbouring words, one of them twice: the second read sees the first write, also when the
// loop over the threads is vectorised with strided accesses.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

__global__ void mix(unsigned *first, unsigned *second, const unsigned *in) {
  unsigned t = threadIdx.x;
  unsigned *a = first + t * 8, *b = second + t * 8;
  unsigned v = in[t], w = in[t + 48];
  a[4] ^= v, b[4] ^= w;
  a[5] ^= v, b[5] ^= w;
  a[6] ^= v, b[6] ^= w;
  a[5] += v + 1, b[5] += w + 1;
  a[0] += v, b[0] += w;
  a[1] += v, b[1] += w;
  a[2] += v, b[2] += w;
  a[3] += v, b[3] += w;
}

int main() {
  unsigned *words = managed<unsigned>(96 * 8), *in = managed<unsigned>(96), want[96 * 8];
  for (unsigned i = 0; i < 96; ++i) {
    unsigned v = in[i] = i * 2654435761u;
    for (unsigned j = 0; j < 8; ++j) {
      unsigned word = words[i * 8 + j] = i * 8 + j;
      want[i * 8 + j] = j < 4 ? word + v : j == 5 ? (word ^ v) + v + 1 : j < 7 ? word ^ v : word;
    }
  }
  mix<<<1, 48>>>(words, words + 48 * 8, in);
  finish_kernel();
  for (int i = 0; i < 96 * 8; ++i)
    EXPECT_AT(i, words[i], want[i]);
  return result();
}
