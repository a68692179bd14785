// Template kernels, kernels in namespaces, static kernels, overloads, launches through pointers.
// RUN: %regrain -O2 -std=c++17 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

template <typename T, int N> __global__ void scale(T *out, T by) {
  __shared__ T s[N];
  s[threadIdx.x] = T(threadIdx.x) * by;
  __syncthreads();
  out[threadIdx.x] = s[N - 1 - threadIdx.x];
}

namespace outer {
namespace {
__global__ void hidden(int *out) { out[threadIdx.x] = 11; }
}
namespace inner {
__global__ void kernel(int *out) { out[threadIdx.x] = 22; }
}
}
static __global__ void file_local(int *out) { out[threadIdx.x] = 33; }
__global__ void overloaded(int *out, int v) { out[threadIdx.x] = v; }
__global__ void overloaded(int *out, double v) { out[threadIdx.x] = int(v * 100); }
extern "C" __global__ void plain_name(int *out) { out[threadIdx.x] = 44; }

struct Holder {
  template <typename F> static __global__ void run(int *out, F f) { out[threadIdx.x] = f(threadIdx.x); }
};
struct Affine {
  int a, b;
  __device__ int operator()(int x) const { return a * x + b; }
};

template <typename... Ts> __device__ auto sum(Ts... values) { return (values + ...); }
template <typename... Ts> __global__ void variadic(double *out, Ts... values) { out[0] = sum(values...); }

template <int N> struct Power {
  template <typename T> static __device__ T of(T x) {
    if constexpr (N == 0)
      return 1;
    else
      return x * Power<N - 1>::of(x);
  }
};
template <int... Ns> __global__ void powers(int *out) {
  int i = 0;
  ((out[i++] = Power<Ns>::of(3)), ...);
}

using Kernel = void (*)(int *);
struct Entry {
  const char *name;
  Kernel kernel;
  int expected;
};

int main() {
  int *out = managed<int>(64);
  float *f = managed<float>(64);
  double *d = managed<double>(1);
  scale<int, 32><<<1, 32>>>(out, 3);
  finish_kernel();
  EXPECT(out[0] == 93 && out[31] == 0);
  scale<float, 64><<<1, 64>>>(f, 0.5f);
  finish_kernel();
  EXPECT(f[0] == 31.5f && f[63] == 0);
  Entry table[] = {{"hidden", outer::hidden, 11}, {"inner", outer::inner::kernel, 22}, {"local", file_local, 33}, {"C", plain_name, 44}};
  for (const Entry &entry : table) {
    entry.kernel<<<1, 8>>>(out);
    finish_kernel();
    EXPECT_AT(entry.expected, out[7], entry.expected);
    memset(out, 0, 32);
    void *args[] = {&out};
    OK(cudaLaunchKernel((const void *)entry.kernel, dim3(1), dim3(8), args, 0, nullptr));
    OK(cudaDeviceSynchronize());
    EXPECT_AT(entry.expected, out[7], entry.expected);
  }
  overloaded<<<1, 8>>>(out, 5);
  finish_kernel();
  EXPECT(out[3] == 5);
  overloaded<<<1, 8>>>(out, 5.25);
  finish_kernel();
  EXPECT(out[3] == 525);
  Holder::run<<<1, 8>>>(out, Affine{3, 4});
  finish_kernel();
  EXPECT(out[7] == 25);
  variadic<<<1, 1>>>(d, 1, 2.5f, 3.25, 4LL, short(5));
  finish_kernel();
  EXPECT_AT(0, *d, 15.75);
  powers<0, 1, 2, 5><<<1, 1>>>(out);
  finish_kernel();
  EXPECT(out[0] == 1 && out[1] == 3 && out[2] == 9 && out[3] == 243);
  auto pointer = scale<double, 16>;
  double *wide = managed<double>(16);
  pointer<<<1, 16>>>(wide, 0.25);
  finish_kernel();
  EXPECT(wide[0] == 3.75);
  return result();
}
