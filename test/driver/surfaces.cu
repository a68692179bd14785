// Surface objects on the CPU: reads and writes of every size and shape, and what is outside.
//
// RUN: %regrain --offload-arch=cpu -O3 %s -o %t && %t 2>&1 | FileCheck %s
// RUN: env REGRAIN_CPU_MODE=coroutine %t 2>&1 | FileCheck %s
// RUN: %regrain --offload-arch=cpu -O0 %s -o %t.0 && %t.0 2>&1 | FileCheck %s
//
// CHECK: shapes: 0 wrong
// CHECK-NEXT: sizes: 0 wrong
// CHECK-NEXT: outside: 0 wrong
// CHECK-NEXT: both: 0 wrong
// CHECK-NEXT: refused: 0 wrong
// CHECK-NEXT: {{.*}}kernel 'beyond(unsigned long long)'
// CHECK: beyond: cudaErrorLaunchFailure
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define OK(call) ok(call, #call, __LINE__)

static void ok(cudaError_t status, const char *what, int line) {
  if (status == cudaSuccess)
    return;
  std::printf("line %d: %s: %s\n", line, what, cudaGetErrorString(status));
  std::exit(1);
}

static cudaSurfaceObject_t surface_of(cudaArray_t array) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface;
  OK(cudaCreateSurfaceObject(&surface, &resource));
  return surface;
}

template <typename T> cudaArray_t array_of(int w, int h, int d, unsigned flags = 0) {
  cudaArray_t array;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
  OK(cudaMalloc3DArray(&array, &format, make_cudaExtent(w, h, d), flags | cudaArraySurfaceLoadStore));
  return array;
}

template <typename T> std::vector<T> values_of(cudaArray_t array, int w, int h, int d) {
  std::vector<T> values(size_t(w) * h * d);
  cudaMemcpy3DParms copy = {};
  copy.srcArray = array;
  copy.dstPtr = make_cudaPitchedPtr(values.data(), w * sizeof(T), w, h);
  copy.extent = make_cudaExtent(w, h, d);
  copy.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&copy));
  return values;
}

// Each element of `to` is ten times its x, y and z, by way of a read of `from`.
__global__ void shapes_of(int shape, cudaSurfaceObject_t to, cudaSurfaceObject_t from) {
  int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z, v = x + 10 * y + 100 * z, back;
  switch (shape) {
  case 0:
    surf1Dwrite(v, from, x * 4);
    surf1Dread(&back, from, x * 4);
    surf1Dwrite(10 * back, to, x * 4);
    break;
  case 1:
    surf2Dwrite(v, from, x * 4, y);
    surf2Dread(&back, from, x * 4, y);
    surf2Dwrite(10 * back, to, x * 4, y);
    break;
  case 2:
    surf3Dwrite(v, from, x * 4, y, z);
    surf3Dread(&back, from, x * 4, y, z);
    surf3Dwrite(10 * back, to, x * 4, y, z);
    break;
  case 3:
    surf1DLayeredwrite(v, from, x * 4, z);
    surf1DLayeredread(&back, from, x * 4, z);
    surf1DLayeredwrite(10 * back, to, x * 4, z);
    break;
  case 4:
    surf2DLayeredwrite(v, from, x * 4, y, z);
    surf2DLayeredread(&back, from, x * 4, y, z);
    surf2DLayeredwrite(10 * back, to, x * 4, y, z);
    break;
  case 5:
    surfCubemapwrite(v, from, x * 4, y, z);
    surfCubemapread(&back, from, x * 4, y, z);
    surfCubemapwrite(10 * back, to, x * 4, y, z);
    break;
  default:
    surfCubemapLayeredwrite(v, from, x * 4, y, z);
    surfCubemapLayeredread(&back, from, x * 4, y, z);
    surfCubemapLayeredwrite(10 * back, to, x * 4, y, z);
  }
}

static void shapes() {
  int wrong = 0;
  const struct { int w, h, d; unsigned flags; } all[] = {
      {9, 0, 0, 0}, {7, 5, 0, 0}, {6, 3, 4, 0}, {8, 0, 3, cudaArrayLayered}, {4, 6, 2, cudaArrayLayered},
      {3, 3, 6, cudaArrayCubemap}, {3, 3, 12, cudaArrayCubemap | cudaArrayLayered}};
  for (int shape = 0; shape < 7; ++shape) {
    auto [w, h, d, flags] = all[shape];
    cudaArray_t from = array_of<int>(w, h, d, flags), to = array_of<int>(w, h, d, flags);
    cudaSurfaceObject_t one = surface_of(from), other = surface_of(to);
    h = std::max(h, 1), d = std::max(d, 1);
    shapes_of<<<1, dim3(w, h, d)>>>(shape, other, one);
    OK(cudaDeviceSynchronize());
    std::vector<int> got = values_of<int>(to, w, h, d);
    for (int i = 0; i < w * h * d; ++i)
      wrong += got[i] != 10 * (i % w + 10 * (i / w % h) + 100 * (i / w / h));
    OK(cudaDestroySurfaceObject(one));
    OK(cudaDestroySurfaceObject(other));
    OK(cudaFreeArray(from));
    OK(cudaFreeArray(to));
  }
  std::printf("shapes: %d wrong\n", wrong);
}

template <typename T> __global__ void turn(cudaSurfaceObject_t surface, int w) {
  int x = threadIdx.x;
  T mine = surf2Dread<T>(surface, x * sizeof(T), 0), other = surf2Dread<T>(surface, (w - 1 - x) * sizeof(T), 0);
  surf2Dwrite(other, surface, x * sizeof(T), 1);
  surf2Dwrite(mine, surface, x * sizeof(T), 2);
}

template <typename T> int size_errors() {
  constexpr int w = 12;
  cudaArray_t array = array_of<T>(w, 3, 0);
  std::vector<unsigned char> bytes(w * sizeof(T));
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = (unsigned char)(i * 41 + 7);
  OK(cudaMemcpy2DToArray(array, 0, 0, bytes.data(), bytes.size(), bytes.size(), 1, cudaMemcpyHostToDevice));
  cudaSurfaceObject_t surface = surface_of(array);
  turn<T><<<1, w>>>(surface, w);
  OK(cudaDeviceSynchronize());
  std::vector<T> got = values_of<T>(array, w, 3, 1);
  int wrong = 0;
  for (int x = 0; x < w; ++x)
    wrong += std::memcmp(&got[w + x], &bytes[(w - 1 - x) * sizeof(T)], sizeof(T)) != 0 ||
             std::memcmp(&got[2 * w + x], &bytes[x * sizeof(T)], sizeof(T)) != 0;
  OK(cudaDestroySurfaceObject(surface));
  OK(cudaFreeArray(array));
  return wrong;
}

static void sizes() {
  int wrong = size_errors<char>() + size_errors<uchar2>() + size_errors<uchar4>() + size_errors<short>() +
              size_errors<ushort2>() + size_errors<short4>() + size_errors<int>() + size_errors<float>() +
              size_errors<uint2>() + size_errors<float2>() + size_errors<int4>() + size_errors<float4>();
  std::printf("sizes: %d wrong\n", wrong);
}

__global__ void outside_of(cudaSurfaceObject_t surface, int *out) {
  int x = int(threadIdx.x) - 2;
  surf2Dread(&out[threadIdx.x], surface, x * 4, x, cudaBoundaryModeZero);
  surf2Dread(&out[8 + threadIdx.x], surface, x * 4, x, cudaBoundaryModeClamp);
  surf2Dwrite(1000 + x, surface, x * 4, 3, cudaBoundaryModeZero);
}

static void outside() {
  int wrong = 0, values[16], *out;
  for (int i = 0; i < 16; ++i)
    values[i] = i + 1;
  cudaArray_t array = array_of<int>(4, 4, 0);
  OK(cudaMemcpy2DToArray(array, 0, 0, values, 16, 16, 4, cudaMemcpyHostToDevice));
  OK(cudaMallocManaged(&out, 64));
  cudaSurfaceObject_t surface = surface_of(array);
  outside_of<<<1, 8>>>(surface, out);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 8; ++i) {
    int x = i - 2, near = std::min(std::max(x, 0), 3);
    // Threads write the last row when all have read.
    wrong += out[i] != (x < 0 || x > 3 ? 0 : x == 3 ? out[i] : 5 * x + 1) || (near < 3 && out[8 + i] != 5 * near + 1);
  }
  std::vector<int> got = values_of<int>(array, 4, 4, 1);
  for (int x = 0; x < 4; ++x)
    wrong += got[12 + x] != 1000 + x || got[x] != x + 1;
  OK(cudaDestroySurfaceObject(surface));
  OK(cudaFreeArray(array));
  OK(cudaFree(out));
  std::printf("outside: %d wrong\n", wrong);
}

__global__ void write_squares(cudaSurfaceObject_t surface) {
  surf2Dwrite(float(threadIdx.x * threadIdx.x), surface, threadIdx.x * 4, 0);
}
__global__ void read_between(cudaTextureObject_t texture, float *out) {
  out[threadIdx.x] = tex2D<float>(texture, threadIdx.x + 1.0f, 0.5f);
}

static void both() {
  int wrong = 0;
  float *out;
  cudaArray_t array = array_of<float>(33, 1, 0);
  cudaSurfaceObject_t surface = surface_of(array);
  cudaResourceDesc resource = {};
  OK(cudaGetSurfaceObjectResourceDesc(&resource, surface));
  wrong += resource.res.array.array != array;
  cudaTextureDesc settings = {};
  settings.addressMode[0] = settings.addressMode[1] = cudaAddressModeClamp;
  settings.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t texture;
  OK(cudaCreateTextureObject(&texture, &resource, &settings, nullptr));
  OK(cudaMallocManaged(&out, 128));
  write_squares<<<1, 33>>>(surface);
  read_between<<<1, 32>>>(texture, out);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; ++i)
    wrong += out[i] != i * i + i + 0.5f;
  OK(cudaDestroySurfaceObject(surface));
  OK(cudaDestroyTextureObject(texture));
  OK(cudaFreeArray(array));
  OK(cudaFree(out));
  std::printf("both: %d wrong\n", wrong);
}

static void refused() {
  int wrong = 0;
  cudaArray_t array;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  OK(cudaMallocArray(&array, &format, 4, 4));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface;
  wrong += cudaCreateSurfaceObject(&surface, &resource) != cudaErrorInvalidValue; // not made for surfaces
  resource.resType = cudaResourceTypeLinear;
  wrong += cudaCreateSurfaceObject(&surface, &resource) != cudaErrorInvalidValue;
  wrong += cudaDestroySurfaceObject(77) != cudaErrorInvalidValue;
  cudaGetLastError();
  OK(cudaFreeArray(array));
  std::printf("refused: %d wrong\n", wrong);
}

__global__ void beyond(cudaSurfaceObject_t surface) { surf2Dwrite(1, surface, 400, 0); }

int main() {
  shapes();
  sizes();
  outside();
  both();
  refused();
  std::fflush(stdout);
  beyond<<<1, 1>>>(surface_of(array_of<int>(4, 4, 0)));
  std::printf("beyond: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
