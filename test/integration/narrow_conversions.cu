// Floating-point numbers become bytes and halves of words that do not hold them: the upper bits go, whichever lanes there are, and without a sign
// negative ones are 0, as nvcc's code has it.
// RUN: %regrain -O3 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

constexpr int kThreads = 64, kCount = 1024;

template <typename From, typename To> __global__ void convert(const From *from, To *to) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  to[i] = From(0.5) * from[i];
}

// As a saturating blend of images does it: what was there decides.
template <typename From, typename To> __global__ void convert_some(const From *from, To *to) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (to[i] % 3 == 0)
    to[i] = from[i] + From(to[i]);
}

template <typename To, typename From> To narrow(From number) {
  return To(int(To(-1) > To(0) && number < 0 ? 0 : number));
}

template <typename From, typename To> void check(int low, int high) {
  From *from = managed<From>(kCount);
  To *to = managed<To>(kCount), was[kCount];
  for (int i = 0; i < kCount; ++i)
    from[i] = From(low + i * ((high - low) / kCount)) + From(0.75);
  convert<<<kCount / kThreads, kThreads>>>(from, to);
  finish_kernel();
  for (int i = 0; i < kCount; ++i) {
    EXPECT_AT(i, to[i], narrow<To>(From(0.5) * from[i]));
    was[i] = to[i];
  }
  convert_some<<<kCount / kThreads, kThreads>>>(from, to);
  finish_kernel();
  for (int i = 0; i < kCount; ++i)
    EXPECT_AT(i, to[i], was[i] % 3 == 0 ? narrow<To>(from[i] + From(was[i])) : was[i]);
}

int main() {
  check<float, unsigned char>(-1000, 2000), check<double, unsigned char>(-1000, 2000);
  check<float, signed char>(-2000, 2000), check<double, signed char>(-2000, 2000);
  check<float, unsigned short>(-30000, 30000), check<double, short>(-30000, 30000);
  return result();
}
