// A product and a sum of one expression are rounded once where the processor can, in all forms of a kernel; those of different statements are
// not.
// CPU-ONLY: NVIDIA's chips fuse across statements too
// RUN: %regrain -O3 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
// RUN: %regrain -O0 --offload-arch=cpu %s -o %t0
// RUN: %t0
// RUN: %regrain -O3 --offload-arch=cpu -ffp-contract=on %s -o %t1
// RUN: %t1
// RUN: %regrain -O3 --offload-arch=cpu -ffp-contract=off %s -o %t2
// RUN: %t2 apart
// RUN: env REGRAIN_CPU_MODE=coroutine %t2 apart
// RUN: %regrain -O3 --offload-arch=cpu -fregrain-cpu=x86-64 %s -o %t3
// RUN: %t3 apart
#include "check.h"
#include <cmath>

constexpr int kForms = 8;

template <typename T> struct Terms {
  T a, b, c, d;
};

template <typename T> __global__ void forms(const Terms<T> *in, T *out, int count) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= count)
    return;
  T a = in[t].a, b = in[t].b, c = in[t].c, d = in[t].d;
  T product = a * b;
  T sum = d;
  for (int k = 0; k < 5; ++k)
    sum += a * in[(t + k) % count].b;
  T made[kForms] = {a * b + c, c + a * b, a * b - c, c - a * b, a * b + c * d, -(a * b) + c, product + c, sum};
  for (int k = 0; k < kForms; ++k)
    out[k * count + t] = made[k];
}

// What the host's compiler does not contract.
template <typename T> T times(T a, T b) {
  volatile T product = a * b;
  return product;
}

template <typename T> void check(bool apart) {
  constexpr int count = 1000;
  auto *in = managed<Terms<T>>(count);
  T *out = managed<T>(kForms * count);
  for (int t = 0; t < count; ++t)
    in[t] = {T(1) / T(3 + t), T(t) / T(7), T(-t) / T(21), T(1) / T(11 + t % 5)};
  forms<<<8, 128>>>(in, out, count);
  OK(cudaDeviceSynchronize());
  auto both = [&](T a, T b, T c) { return apart ? times(a, b) + c : std::fma(a, b, c); };
  for (int t = 0; t < count; ++t) {
    auto [a, b, c, d] = in[t];
    T sum = d;
    for (int k = 0; k < 5; ++k)
      sum = both(a, in[(t + k) % count].b, sum);
    T want[kForms] = {both(a, b, c),  both(a, b, c),           both(a, b, -c),       both(-a, b, c),
                      both(a, b, times(c, d)), both(-a, b, c), times(a, b) + c, sum};
    for (int k = 0; k < kForms; ++k)
      EXPECT_AT(k * count + t, out[k * count + t], want[k]);
  }
}

int main(int argc, char **) {
  bool apart = argc > 1;
#if defined(__x86_64__)
  apart = apart || !__builtin_cpu_supports("fma");
#endif
  check<float>(apart);
  check<double>(apart);
  return result();
}
