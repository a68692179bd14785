// curand's device API: the generators' known values and their statistics.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"
#include <curand_kernel.h>

template <typename State> __global__ void generate(unsigned *first, float *sums) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  State state;
  curand_init(1234, t, 0, &state);
  first[t] = curand(&state);
  float uniform = 0, normal = 0, squares = 0;
  bool inside = true;
  for (int i = 0; i < 200; ++i) {
    float u = curand_uniform(&state), n = curand_normal(&state);
    inside &= u > 0 && u <= 1;
    uniform += u, normal += n, squares += n * n;
  }
  sums[t * 4] = uniform / 200, sums[t * 4 + 1] = normal / 200, sums[t * 4 + 2] = squares / 200;
  sums[t * 4 + 3] = inside && curand_uniform_double(&state) <= 1 && curand_poisson(&state, 3.0) < 30;
}

template <typename State> void check() {
  constexpr int n = 128;
  unsigned *first = managed<unsigned>(n), *again = managed<unsigned>(n);
  float *sums = managed<float>(4 * n);
  generate<State><<<4, 32>>>(again, sums);
  generate<State><<<2, 64>>>(first, sums);
  finish_kernel();
  double mean[3] = {};
  for (int t = 0; t < n; ++t) {
    EXPECT_AT(t, first[t], again[t]);
    EXPECT(t == 0 || first[t] != first[t - 1]);
    EXPECT(sums[t * 4 + 3] == 1);
    for (int k = 0; k < 3; ++k)
      mean[k] += sums[t * 4 + k] / n;
  }
  EXPECT(fabs(mean[0] - 0.5) < 0.01 && fabs(mean[1]) < 0.03 && fabs(mean[2] - 1) < 0.05);
}

// xorshift of curand_kernel.h, seed scrambling included, sequence 0.
static unsigned first_xorwow(unsigned long long seed) {
  unsigned s0 = (unsigned)seed ^ 0xaad26b49u, s1 = (unsigned)(seed >> 32) ^ 0xf7dcefddu;
  unsigned t0 = 1099087573u * s0, t1 = 2591861531u * s1;
  unsigned d = 6615241 + t1 + t0, v0 = 123456789u + t0, v4 = 5783321u + t0;
  unsigned t = v0 ^ (v0 >> 2);
  return ((v4 ^ (v4 << 4)) ^ (t ^ (t << 1))) + d + 362437;
}

int main() {
  check<curandStateXORWOW_t>();
  check<curandStatePhilox4_32_10_t>();
  unsigned *first = managed<unsigned>(32);
  float *sums = managed<float>(128);
  generate<curandState><<<1, 32>>>(first, sums);
  finish_kernel();
  EXPECT_AT(0, first[0], first_xorwow(1234));
  return result();
}
