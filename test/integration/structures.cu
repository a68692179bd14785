// Structures that threads write field by field: all fields together where they fill what lies between the threads, and those that do not.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

#include <cstdint>
#include <utility>
#include <vector>

template <class V, int N> struct Fields {
  V at[N];
};

template <class V, int N, int... K>
__device__ static void fill(Fields<V, N> &out, V v, std::integer_sequence<int, K...>) {
  ((out.at[N - 1 - K] = V(v + V(N - 1 - K))), ...);
}

// Each thread writes all fields, from the last to the first; so many structures, far from each other or side by side.
template <class V, int N> __global__ void all(const V *in, Fields<V, N> *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    fill(out[i], in[i], std::make_integer_sequence<int, N>());
}
template <class V, int N> __global__ void whole(const V *in, Fields<V, N> *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  fill(out[i], in[i], std::make_integer_sequence<int, N>());
}
template <class V, int N> __global__ void rounds(const V *in, Fields<V, N> *out, int n, int many, int step, int far) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < many; ++k)
    fill(out[i * step + k * far], V(in[i] + V(k)), std::make_integer_sequence<int, N>());
}

// All but one; a place that is written twice; one field that the thread reads in between, maybe of the structure it writes.
template <class V> __global__ void some(const V *in, const V *also, Fields<V, 4> *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  V v = in[i];
  out[i].at[0] = v;
  out[i].at[1] = V(v + V(1));
  out[i].at[0] = V(v + V(2));
  out[i].at[2] = also[4 * i + 1];
  out[n + i].at[3] = v;
  out[n + i].at[1] = V(v + V(3));
  out[n + i].at[2] = V(v + V(4));
}

// Fields of the structure before this one are written with those of this one.
__global__ void shifted(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int *own = out + 4 * i + 2;
  own[1] = in[i];
  own[-2] = in[i] + 1;
  own[0] = in[i] + 2;
  own[-1] = in[i] + 3;
}

template <class V, int N> static void test_all(int n) {
  const int many = 5;
  V *in = managed<V>(n);
  auto *out = managed<Fields<V, N>>(n * many + 1);
  auto check = [&](int count, int step, int far) {
    finish_kernel();
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < count; ++k)
        for (int field = 0; field < N; ++field)
          EXPECT(out[i * step + k * far].at[field] == V(V(V(i * 7) + V(k)) + V(field)));
    EXPECT(out[n * count].at[0] == V(99));
    for (int i = 0; i <= n * many; ++i)
      out[i].at[0] = V(99);
  };
  for (int i = 0; i < n; ++i)
    in[i] = V(i * 7);
  for (int i = 0; i <= n * many; ++i)
    out[i].at[0] = V(99);
  all<V, N><<<(n + 63) / 64, 64>>>(in, out, n);
  check(1, 1, 0);
  if (n % 64 != 0)
    return;
  whole<V, N><<<n / 64, 64>>>(in, out);
  check(1, 1, 0);
  rounds<V, N><<<n / 64, 64>>>(in, out, n, many, 1, n);
  check(many, 1, n);
  rounds<V, N><<<n / 64, 64>>>(in, out, n, many, many, 1);
  check(many, many, 1);
}

template <class V> static void test_some(int n) {
  V *in = managed<V>(n);
  auto *out = managed<Fields<V, 4>>(2 * n);
  for (int i = 0; i < n; ++i)
    in[i] = V(i * 5);
  for (int i = 0; i < 2 * n; ++i)
    for (V &field : out[i].at)
      field = V(77);
  some<V><<<(n + 63) / 64, 64>>>(in, out->at, out, n);
  finish_kernel();
  for (int i = 0; i < n; ++i) {
    V v = V(i * 5);
    const V want[2][4] = {{V(v + V(2)), V(v + V(1)), V(v + V(1)), V(77)}, {V(77), V(v + V(3)), V(v + V(4)), v}};
    for (int k = 0; k < 8; ++k)
      EXPECT(out[k / 4 * n + i].at[k % 4] == want[k / 4][k % 4]);
  }
}

template <class V> static void test(int n) {
  test_all<V, 2>(n);
  test_all<V, 3>(n);
  test_all<V, 4>(n);
  test_all<V, 8>(n);
  test_some<V>(n);
}

int main() {
  for (int n : {1, 8, 61, 64, 200, 1024}) {
    test<float>(n);
    test<double>(n);
    test<int>(n);
    test<uint8_t>(n);
    test<short>(n);
    test<int64_t>(n);
    int *in = managed<int>(n), *out = managed<int>(4 * n);
    for (int i = 0; i < n; ++i)
      in[i] = 3 * i;
    shifted<<<(n + 31) / 32, 32>>>(in, out, n);
    finish_kernel();
    for (int i = 0; i < 4 * n; ++i)
      EXPECT(out[i] == 3 * (i / 4) + (i % 4 == 0 ? 1 : i % 4 == 1 ? 3 : i % 4 == 2 ? 2 : 0));
  }
  return result();
}
