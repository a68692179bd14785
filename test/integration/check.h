// What the programs of this folder share: checks that count, memory both sides see.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static int failures;

// Counts and shows a check that does not hold.
#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition) && ++failures <= 20)                                                          \
      std::printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                          \
  } while (0)

// The same, for one element of an array.
#define EXPECT_AT(index, actual, expected)                                                         \
  do {                                                                                             \
    auto actual_ = (actual);                                                                       \
    decltype(actual_) expected_ = (expected);                                                      \
    if (actual_ != expected_ && ++failures <= 20)                                                  \
      std::printf("%s:%d: failed at %lld: %s is %.17g, expected %.17g\n", __FILE__, __LINE__,      \
                  (long long)(index), #actual, (double)actual_, (double)expected_);            \
  } while (0)

#define EXPECT_ERROR(call, expected)                                                               \
  do {                                                                                             \
    cudaError_t error = (call);                                                                    \
    if (error != (expected) && ++failures <= 20)                                                   \
      std::printf("%s:%d: failed: %s is %s, expected %s\n", __FILE__, __LINE__, #call,             \
                  cudaGetErrorName(error), cudaGetErrorName(expected));                            \
  } while (0)

#define OK(call) EXPECT_ERROR(call, cudaSuccess)

// Zeroed memory that host and device see.
template <typename T> T *managed(size_t count) {
  T *pointer = nullptr;
  OK(cudaMallocManaged(&pointer, count * sizeof(T)));
  std::memset((void *)pointer, 0, count * sizeof(T));
  return pointer;
}

// Waits for the kernel just launched.
static inline void finish_kernel() {
  OK(cudaGetLastError());
  OK(cudaDeviceSynchronize());
}

// Whether kernels run on one of NVIDIA's chips, where what CUDA leaves open may come out otherwise.
[[maybe_unused]] static bool on_nvidia() {
  cudaDeviceProp properties;
  OK(cudaGetDeviceProperties(&properties, 0));
  return !std::strncmp(properties.name, "NVIDIA", 6);
}

// The value of main.
static inline int result() {
  std::printf(failures ? "%d failures\n" : "ok\n", failures);
  return failures != 0;
}
