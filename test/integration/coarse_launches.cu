// RUN: %regrain --offload-arch=cpu -O2 %s -o %t && %t
// RUN: %regrain --offload-arch=cpu -O2 -fregrain-coarsen-blocks=3 %s -o %t && %t && env REGRAIN_CPU_MODE=coroutine %t
// RUN: %regrain --offload-arch=cpu -O2 -fregrain-coarsen-threads=2 %s -o %t && %t && env REGRAIN_CPU_MODE=coroutine %t
// RUN: %regrain --offload-arch=cpu -O2 -fregrain-coarsen-blocks=4 -fregrain-coarsen-threads=2 %s -o %t && %t
// RUN: %regrain --offload-arch=cpu -O2 -fregrain-coarsen-blocks=2,2,2 -fregrain-round-trip %s -o %t && %t
// RUN: %regrain --offload-arch=cpu -O2 -fregrain-coarsen-blocks=4 -fregrain-coarsen-threads=2 -fregrain-round-trip %s -o %t && %t

// Coarser versions of kernels are launched in place of the kernels that the program wrote, and what they leave over beside them:
// whatever grid, block, shared memory, stream or function pointer the launch has, and with CUDA's own errors.

#include "check.h"

#include <vector>

struct Options {
  int scale;
  float table[5];
};

__device__ int launches;
static __device__ unsigned blocks_run;
__constant__ int offset;

static __device__ __noinline__ float twist(float x, int i) { return x * 2.0f + i % 7; }

// Grid and block sizes, a struct by value, a static shared array, a helper and variables that all kernels share.
__global__ void everything(float *out, const float *in, Options options, int n) {
  __shared__ float tile[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? in[i] : 0.0f;
  __syncthreads();
  const float other = tile[blockDim.x - 1 - threadIdx.x];
  if (i < n)
    out[i] = twist(other, i) * options.scale + options.table[i % 5] + gridDim.x + offset;
  if (threadIdx.x == 0)
    atomicAdd(&blocks_run, 1u);
}

// Dynamic shared memory, of which each original block has a region of its own.
__global__ void dynamic(int *out) {
  extern __shared__ int buffer[];
  buffer[threadIdx.x] = blockIdx.x * 100 + threadIdx.x;
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = buffer[(threadIdx.x + 1) % blockDim.x];
}

__global__ void volume(int *out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
            z = blockIdx.z * blockDim.z + threadIdx.z;
  const int width = gridDim.x * blockDim.x, height = gridDim.y * blockDim.y;
  atomicAdd(&out[(z * height + y) * width + x], x + 10 * y + 100 * z + 1);
}

template <typename T> __global__ void __launch_bounds__(256) fill(T *out, T value, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = value + T(i);
}

__global__ void nothing() { atomicAdd(&launches, 1); }

static void check_everything(int blocks, int threads, cudaStream_t stream) {
  const int n = blocks * threads - 5;
  std::vector<float> in(blocks * threads), out(blocks * threads, -1.0f);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = float(i % 13);
  float *a, *b;
  OK(cudaMalloc(&a, in.size() * 4));
  OK(cudaMalloc(&b, in.size() * 4));
  OK(cudaMemcpy(a, in.data(), in.size() * 4, cudaMemcpyHostToDevice));
  OK(cudaMemcpy(b, out.data(), in.size() * 4, cudaMemcpyHostToDevice));
  const int five = 5;
  const unsigned zero = 0;
  OK(cudaMemcpyToSymbol(offset, &five, sizeof five));
  OK(cudaMemcpyToSymbol(blocks_run, &zero, sizeof zero));
  Options options = {3, {0.5f, 1.5f, 2.5f, 3.5f, 4.5f}};
  everything<<<blocks, threads, 0, stream>>>(b, a, options, n);
  OK(cudaGetLastError());
  OK(cudaStreamSynchronize(stream));
  OK(cudaMemcpy(out.data(), b, out.size() * 4, cudaMemcpyDeviceToHost));
  unsigned ran;
  OK(cudaMemcpyFromSymbol(&ran, blocks_run, sizeof ran));
  EXPECT(ran == unsigned(blocks));
  for (int i = 0; i < blocks * threads; ++i) {
    const int mirror = i / threads * threads + threads - 1 - i % threads;
    const float other = mirror < n ? in[mirror] : 0.0f;
    const float wanted = i < n ? (other * 2.0f + i % 7) * 3 + options.table[i % 5] + blocks + 5 : -1.0f;
    EXPECT(out[i] == wanted);
  }
  OK(cudaFree(a));
  OK(cudaFree(b));
}

static void check_dynamic(int blocks, int threads, size_t bytes) {
  int *out;
  OK(cudaMalloc(&out, blocks * threads * 4));
  dynamic<<<blocks, threads, bytes>>>(out);
  OK(cudaDeviceSynchronize());
  std::vector<int> got(blocks * threads);
  OK(cudaMemcpy(got.data(), out, got.size() * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < blocks * threads; ++i)
    EXPECT(got[i] == i / threads * 100 + (i % threads + 1) % threads);
  OK(cudaFree(out));
}

static void check_volume(dim3 grid, dim3 block) {
  const int width = grid.x * block.x, height = grid.y * block.y, depth = grid.z * block.z;
  int *out;
  OK(cudaMalloc(&out, width * height * depth * 4));
  OK(cudaMemset(out, 0, width * height * depth * 4));
  void *args[] = {&out};
  // By the stub, and by a function pointer that only the program knows.
  volume<<<grid, block>>>(out);
  const void *volatile pointer = (const void *)volume;
  OK(cudaLaunchKernel(pointer, grid, block, args, 0, 0));
  OK(cudaDeviceSynchronize());
  std::vector<int> got(width * height * depth);
  OK(cudaMemcpy(got.data(), out, got.size() * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < int(got.size()); ++i)
    EXPECT(got[i] == 2 * (i % width + 10 * (i / width % height) + 100 * (i / width / height) + 1));
  OK(cudaFree(out));
}

template <typename T> static void check_fill(int blocks, int threads) {
  T *out;
  const int n = 1000;
  OK(cudaMalloc(&out, n * sizeof(T)));
  void (*volatile kernel)(T *, T, int) = fill<T>;
  kernel<<<blocks, threads>>>(out, T(7), n);
  OK(cudaDeviceSynchronize());
  std::vector<T> got(n);
  OK(cudaMemcpy(got.data(), out, n * sizeof(T), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i)
    EXPECT(got[i] == T(7) + T(i));
  OK(cudaFree(out));
}

static int count_launches() {
  int got, zero = 0;
  OK(cudaMemcpyFromSymbol(&got, launches, sizeof got));
  OK(cudaMemcpyToSymbol(launches, &zero, sizeof zero));
  return got;
}

static void check_errors() {
  nothing<<<7, 33>>>();
  OK(cudaDeviceSynchronize());
  EXPECT(count_launches() == 7 * 33);
  volatile unsigned zero = 0, many = 2048, wide = 70000;
  nothing<<<zero, 32>>>();
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  nothing<<<4, zero>>>();
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  nothing<<<4, many>>>();
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  nothing<<<dim3(1, wide), 1>>>();
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  nothing<<<4, 32, 1 << 24>>>();
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaSuccess);
  float *out;
  OK(cudaMalloc(&out, 4000));
  fill<float><<<4, 512>>>(out, 1.0f, 1000);
  EXPECT(cudaGetLastError() != cudaSuccess);
  OK(cudaFree(out));
  EXPECT(count_launches() == 0);
}

int main() {
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  for (int blocks : {1, 2, 3, 4, 7, 16})
    for (int threads : {1, 32, 33, 64, 96, 128})
      check_everything(blocks, threads, blocks % 2 ? stream : 0);
  check_dynamic(7, 64, 64 * 4);
  check_dynamic(8, 33, 33 * 4);
  check_dynamic(9, 128, 40 << 10);
  check_volume(dim3(5, 3, 4), dim3(4, 3, 2));
  check_volume(dim3(1, 7, 1), dim3(8, 2, 1));
  check_fill<float>(3, 64);
  check_fill<long>(5, 100);
  check_errors();
  OK(cudaStreamDestroy(stream));
  return result();
}
