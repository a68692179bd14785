// Checked CUDA calls, owned device memory and event times.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace bench {

inline void check(cudaError_t status, const char *call, const char *file, int line) {
  if (status == cudaSuccess)
    return;
  std::fprintf(stderr, "%s:%d: error: %s: %s\n", file, line, call, cudaGetErrorString(status));
  std::exit(1);
}

} // namespace bench

#define CHECK_CUDA(call) ::bench::check((call), #call, __FILE__, __LINE__)
// After a launch: its configuration's error, if any.
#define CHECK_LAUNCH() ::bench::check(cudaGetLastError(), "kernel launch", __FILE__, __LINE__)

namespace bench {

template <typename T> class DeviceArray {
public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    CHECK_CUDA(cudaMalloc(reinterpret_cast<void **>(&data_), count * sizeof(T)));
  }
  explicit DeviceArray(const std::vector<T> &from) : DeviceArray(from.size()) { upload(from); }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray &) = delete;
  DeviceArray &operator=(const DeviceArray &) = delete;

  T *get() const { return data_; }

  void upload(const std::vector<T> &from) {
    CHECK_CUDA(cudaMemcpy(data_, from.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  std::vector<T> download() const {
    std::vector<T> to(count_);
    CHECK_CUDA(cudaMemcpy(to.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return to;
  }
  void fill_bytes(int value) { CHECK_CUDA(cudaMemset(data_, value, count_ * sizeof(T))); }

private:
  T *data_ = nullptr;
  std::size_t count_;
};

// Starts `to` from what `from` holds.
template <typename T>
void copy_on_device(const DeviceArray<T> &to, const DeviceArray<T> &from, std::size_t count) {
  CHECK_CUDA(cudaMemcpy(to.get(), from.get(), count * sizeof(T), cudaMemcpyDeviceToDevice));
}

// Milliseconds on the device's own clock between construction and stop().
class DeviceTimer {
public:
  DeviceTimer() {
    CHECK_CUDA(cudaEventCreate(&start_));
    CHECK_CUDA(cudaEventCreate(&stop_));
    CHECK_CUDA(cudaEventRecord(start_, 0));
  }
  ~DeviceTimer() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
  }
  DeviceTimer(const DeviceTimer &) = delete;
  DeviceTimer &operator=(const DeviceTimer &) = delete;

  double stop() {
    float elapsed = 0.0f;
    CHECK_CUDA(cudaEventRecord(stop_, 0));
    CHECK_CUDA(cudaEventSynchronize(stop_));
    CHECK_CUDA(cudaEventElapsedTime(&elapsed, start_, stop_));
    return elapsed;
  }

private:
  cudaEvent_t start_;
  cudaEvent_t stop_;
};

} // namespace bench
