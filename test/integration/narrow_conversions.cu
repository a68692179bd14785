// Floating-point numbers become bytes and halves of words that do not hold them: the upper bits go, whichever lanes there are, as on NVIDIA's chips.
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

template <typename From, typename To> void check(int low, int high) {
  From *from = managed<From>(kCount);
  To *to = managed<To>(kCount), was[kCount];
  for (int i = 0; i < kCount; ++i)
    from[i] = From(low + i * ((high - low) / kCount)) + From(0.75);
  convert<<<kCount / kThreads, kThreads>>>(from, to);
  finish_kernel();
  for (int i = 0; i < kCount; ++i) {
    EXPECT_AT(i, to[i], To(int(From(0.5) * from[i])));
    was[i] = to[i];
  }
  convert_some<<<kCount / kThreads, kThreads>>>(from, to);
  finish_kernel();
  for (int i = 0; i < kCount; ++i)
    EXPECT_AT(i, to[i], was[i] % 3 == 0 ? To(int(from[i] + From(was[i]))) : was[i]);
}

int main() {
  check<float, unsigned char>(0, 2000), check<double, unsigned char>(0, 2000);
  check<float, signed char>(-2000, 2000), check<double, signed char>(-2000, 2000);
  check<float, unsigned short>(0, 30000), check<double, short>(-30000, 30000);
  return result();
}
