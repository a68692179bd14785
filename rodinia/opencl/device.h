// What common/device.h is for CUDA, for OpenCL: checked calls, owned device memory, times; and kernels, which are compiled
// from source when they are made.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace bench {

inline void check(cl_int status, const char *call, const char *file, int line) {
  if (status == CL_SUCCESS)
    return;
  std::fprintf(stderr, "%s:%d: error: %s: OpenCL error %d\n", file, line, call, status);
  std::exit(1);
}

} // namespace bench

#define CHECK_CL(call) ::bench::check((call), #call, __FILE__, __LINE__)

namespace bench {

// The first device of the first platform whose name has REGRAIN_OPENCL_PLATFORM in it (default: POCL's).
class Device {
public:
  static Device &get() {
    static Device device;
    return device;
  }
  cl_device_id id = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;

private:
  Device() {
    const char *asked = std::getenv("REGRAIN_OPENCL_PLATFORM");
    const std::string wanted = asked ? asked : "Portable Computing Language";
    cl_uint count = 0;
    clGetPlatformIDs(0, nullptr, &count);
    std::vector<cl_platform_id> platforms(count);
    if (count > 0)
      CHECK_CL(clGetPlatformIDs(count, platforms.data(), nullptr));
    for (cl_platform_id platform : platforms) {
      char name[256] = "", version[256] = "", model[256] = "";
      CHECK_CL(clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(name), name, nullptr));
      if (std::string(name).find(wanted) == std::string::npos)
        continue;
      CHECK_CL(clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof(version), version, nullptr));
      CHECK_CL(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &id, nullptr));
      CHECK_CL(clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof(model), model, nullptr));
      std::printf("opencl: %s, %s\n", version, model);
      cl_int status = CL_SUCCESS;
      context = clCreateContext(nullptr, 1, &id, nullptr, nullptr, &status);
      CHECK_CL(status);
      queue = clCreateCommandQueue(context, id, 0, &status);
      CHECK_CL(status);
      return;
    }
    std::fprintf(stderr, "error: no OpenCL platform '%s'\n", wanted.c_str());
    std::exit(3);
  }
};

template <typename T> class DeviceArray {
public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    cl_int status = CL_SUCCESS;
    data_ = clCreateBuffer(Device::get().context, CL_MEM_READ_WRITE, count * sizeof(T), nullptr, &status);
    CHECK_CL(status);
  }
  explicit DeviceArray(const std::vector<T> &from) : DeviceArray(from.size()) { upload(from); }
  ~DeviceArray() { clReleaseMemObject(data_); }
  DeviceArray(const DeviceArray &) = delete;
  DeviceArray &operator=(const DeviceArray &) = delete;

  cl_mem get() const { return data_; }

  void upload(const std::vector<T> &from) {
    CHECK_CL(clEnqueueWriteBuffer(Device::get().queue, data_, CL_TRUE, 0, count_ * sizeof(T), from.data(), 0,
                                  nullptr, nullptr));
  }
  std::vector<T> download() const {
    std::vector<T> to(count_);
    CHECK_CL(clEnqueueReadBuffer(Device::get().queue, data_, CL_TRUE, 0, count_ * sizeof(T), to.data(), 0,
                                 nullptr, nullptr));
    return to;
  }
  void fill_bytes(int value) {
    const unsigned char byte = static_cast<unsigned char>(value);
    CHECK_CL(clEnqueueFillBuffer(Device::get().queue, data_, &byte, 1, 0, count_ * sizeof(T), 0, nullptr,
                                 nullptr));
  }

private:
  cl_mem data_ = nullptr;
  std::size_t count_;
};

// Starts `to` from what `from` holds.
template <typename T>
void copy_on_device(const DeviceArray<T> &to, const DeviceArray<T> &from, std::size_t count) {
  CHECK_CL(clEnqueueCopyBuffer(Device::get().queue, from.get(), to.get(), 0, 0, count * sizeof(T), 0, nullptr,
                               nullptr));
}

// Milliseconds between construction and stop(), with nothing left to do at either.
class DeviceTimer {
public:
  DeviceTimer() {
    CHECK_CL(clFinish(Device::get().queue));
    start_ = Clock::now();
  }
  double stop() {
    CHECK_CL(clFinish(Device::get().queue));
    return std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_;
};

using Shape = std::array<std::size_t, 3>;

// A kernel of a program that consists of it alone.
class Kernel {
public:
  Kernel(const char *source, const char *name) {
    const Device &device = Device::get();
    cl_int status = CL_SUCCESS;
    cl_program program = clCreateProgramWithSource(device.context, 1, &source, nullptr, &status);
    CHECK_CL(status);
    if (clBuildProgram(program, 1, &device.id, "-cl-std=CL1.2", nullptr, nullptr) != CL_SUCCESS) {
      std::vector<char> log(1 << 16);
      clGetProgramBuildInfo(program, device.id, CL_PROGRAM_BUILD_LOG, log.size() - 1, log.data(), nullptr);
      std::fprintf(stderr, "error: %s\n", log.data());
      std::exit(1);
    }
    kernel_ = clCreateKernel(program, name, &status);
    CHECK_CL(status);
  }

  // Starts so many blocks of so many threads.
  template <typename... Arguments>
  void launch(const Shape &blocks, const Shape &threads, const Arguments &...arguments) const {
    cl_uint index = 0;
    (set(index++, arguments), ...);
    Shape all;
    for (std::size_t axis = 0; axis < all.size(); ++axis)
      all[axis] = blocks[axis] * threads[axis];
    CHECK_CL(clEnqueueNDRangeKernel(Device::get().queue, kernel_, 3, nullptr, all.data(), threads.data(), 0,
                                    nullptr, nullptr));
  }

private:
  template <typename T> void set(cl_uint index, const DeviceArray<T> &array) const {
    const cl_mem memory = array.get();
    CHECK_CL(clSetKernelArg(kernel_, index, sizeof(memory), &memory));
  }
  template <typename T> void set(cl_uint index, const T &value) const {
    CHECK_CL(clSetKernelArg(kernel_, index, sizeof(value), &value));
  }

  cl_kernel kernel_;
};

} // namespace bench
