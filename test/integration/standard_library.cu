// cuda::std, cuda::atomic and std::complex on the device.
// RUN: %regrain -O2 -std=c++17 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"
#include <complex>
#include <cuda/atomic>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/tuple>
#include <cuda/std/utility>

__global__ void types(double *out) {
  cuda::std::array<int, 4> a = {4, 3, 2, 1};
  int sum = 0;
  for (int v : a)
    sum = sum * 10 + v;
  out[0] = sum;
  auto t = cuda::std::make_tuple(1, 2.5, 'c');
  out[1] = cuda::std::get<0>(t) + cuda::std::get<1>(t) + cuda::std::get<2>(t);
  cuda::std::complex<double> c(1, 2), d = c * c + cuda::std::complex<double>(0.5);
  out[2] = d.real(), out[3] = d.imag(), out[4] = cuda::std::abs(cuda::std::complex<double>(3, 4));
  out[5] = cuda::std::numeric_limits<int>::max();
  cuda::std::pair<int, float> p(7, 0.5f);
  cuda::std::swap(a[0], a[3]);
  out[6] = p.first + p.second + a[0];
  std::complex<double> s(2, -1);
  s = s * std::complex<double>(0, 1) + s;
  out[7] = s.real() * 10 + s.imag();
}

__global__ void atomics(int *counter, unsigned long long *big) {
  cuda::atomic_ref<int, cuda::thread_scope_device> c(*counter);
  c.fetch_add(2, cuda::std::memory_order_relaxed);
  c.fetch_max(5);
  __shared__ cuda::atomic<int, cuda::thread_scope_block> s;
  if (threadIdx.x == 0)
    s.store(0);
  __syncthreads();
  s.fetch_add(1, cuda::std::memory_order_acq_rel);
  __syncthreads();
  cuda::atomic_ref<unsigned long long> b(*big);
  unsigned long long old = b.load();
  while (!b.compare_exchange_weak(old, old + s.load()))
    ;
}

int main() {
  double *out = managed<double>(8);
  types<<<1, 1>>>(out);
  finish_kernel();
  double want[] = {4321, 1 + 2.5 + 'c', -2.5, 4, 5, 2147483647, 8.5, 31};
  for (int i = 0; i < 8; ++i)
    EXPECT_AT(i, out[i], want[i]);
  int *counter = managed<int>(1);
  auto *big = managed<unsigned long long>(1);
  atomics<<<3, 64>>>(counter, big);
  finish_kernel();
  EXPECT_AT(0, *counter >= 384, true);
  EXPECT_AT(0, *big, 3ULL * 64 * 64);
  return result();
}
