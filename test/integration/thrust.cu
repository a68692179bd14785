// Thrust's algorithms and CUB's device-wide ones: kernels of a library, launched by its host side.
// RUN: %regrain -O1 -std=c++17 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"
#include <cub/device/device_reduce.cuh>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/transform.h>

struct Square {
  __host__ __device__ int operator()(int x) const { return x * x; }
};

int main() {
  constexpr int n = 3000;
  thrust::host_vector<int> h(n);
  long long sum = 0;
  for (int i = 0; i < n; ++i)
    sum += h[i] = i * 7919 % 1009;
  thrust::device_vector<int> d = h, squares(n), scan(n);
  EXPECT_AT(0, thrust::reduce(d.begin(), d.end()), int(sum));
  thrust::transform(d.begin(), d.end(), squares.begin(), Square());
  thrust::exclusive_scan(d.begin(), d.end(), scan.begin());
  thrust::host_vector<int> s = squares, e = scan;
  int running = 0;
  for (int i = 0; i < n; ++i) {
    EXPECT_AT(i, s[i], h[i] * h[i]);
    EXPECT_AT(i, e[i], running);
    running += h[i];
  }
  int *out = managed<int>(n);
  void *temp = nullptr;
  size_t bytes = 0;
  int *in = thrust::raw_pointer_cast(d.data());
  OK(cub::DeviceReduce::Max(temp, bytes, in, out, n));
  OK(cudaMalloc(&temp, bytes));
  OK(cub::DeviceReduce::Max(temp, bytes, in, out, n));
  finish_kernel();
  EXPECT_AT(0, out[0], *std::max_element(h.begin(), h.end()));
  OK(cudaFree(temp));
  return result();
}
