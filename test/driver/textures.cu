// Texture objects on the CPU: every fetch against a table that the host computes in whole numbers of 1/256.
//
// RUN: %regrain --offload-arch=cpu -O3 %s -o %t && %t | FileCheck %s
// RUN: env REGRAIN_CPU_MODE=coroutine %t | FileCheck %s
// RUN: %regrain --offload-arch=cpu -O3 -fregrain-cpu=x86-64-v3 -c %s -o %t.o -Rpass-analysis=regrain-vectorize-threads 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: %regrain --offload-arch=cpu -O0 %s -o %t.0 && %t.0 | FileCheck %s
// RUN: %regrain --offload-arch=cpu -O3 -fregrain-coarsen-blocks=2 -fregrain-coarsen-threads=2 %s -o %t.c && %t.c | FileCheck %s
//
// ROWS: kernel 'fetch({{.*}})'{{.*}} threads go in rows of 8: {{.*}} gathered
//
// CHECK: filters: 192 kinds, 0 wrong
// CHECK-NEXT: formats: 0 wrong
// CHECK-NEXT: memory: 0 wrong
// CHECK-NEXT: layers: 0 wrong
// CHECK-NEXT: cubes: 0 wrong
// CHECK-NEXT: mipmaps: 0 wrong
// CHECK-NEXT: gather: 0 wrong
// CHECK-NEXT: views: 0 wrong
// CHECK-NEXT: all released
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_fp16.h>
#include <vector>

#define OK(call) ok(call, #call, __LINE__)

static void ok(cudaError_t status, const char *what, int line) {
  if (status == cudaSuccess)
    return;
  std::printf("line %d: %s: %s\n", line, what, cudaGetErrorString(status));
  std::exit(1);
}

// Coordinates are multiples of 1/16 of an element.
constexpr int unit = 16;
struct Point {
  float x, y, z;
};

__global__ void fetch(cudaTextureObject_t texture, int dimensions, const Point *at, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  Point p = at[i];
  out[i] = dimensions == 1   ? tex1D<float>(texture, p.x)
           : dimensions == 2 ? tex2D<float>(texture, p.x, p.y)
                             : tex3D<float>(texture, p.x, p.y, p.z);
}

template <typename T> struct Device {
  T *data = nullptr;
  size_t count;
  explicit Device(size_t count) : count(count) { OK(cudaMalloc(&data, count * sizeof(T))); }
  explicit Device(const std::vector<T> &from) : Device(from.size()) {
    OK(cudaMemcpy(data, from.data(), count * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Device() { cudaFree(data); }
  std::vector<T> host() const {
    std::vector<T> to(count);
    OK(cudaMemcpy(to.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
    return to;
  }
};

template <typename T> cudaArray_t array_of(const std::vector<T> &values, int w, int h, int d, unsigned flags = 0) {
  cudaArray_t array;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
  OK(cudaMalloc3DArray(&array, &format, make_cudaExtent(w, h, d), flags));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(const_cast<T *>(values.data()), w * sizeof(T), w, std::max(h, 1));
  copy.dstArray = array;
  copy.extent = make_cudaExtent(w, std::max(h, 1), std::max(d, 1));
  copy.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&copy));
  return array;
}

static cudaTextureObject_t texture_of(cudaArray_t array, cudaTextureDesc settings) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureObject_t texture;
  OK(cudaCreateTextureObject(&texture, &resource, &settings, nullptr));
  return texture;
}

static cudaTextureDesc settings(cudaTextureAddressMode mode, cudaTextureFilterMode filter, bool normalized) {
  cudaTextureDesc made = {};
  made.addressMode[0] = made.addressMode[1] = made.addressMode[2] = mode;
  made.filterMode = filter;
  made.normalizedCoords = normalized;
  made.borderColor[0] = 100;
  return made;
}

static int floor_of(int a, int b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

// The element that stands for number `i` of `n`, by walking there; -1 for the border.
static int walk(cudaTextureAddressMode mode, int i, int n) {
  if (mode == cudaAddressModeBorder)
    return i < 0 || i >= n ? -1 : i;
  if (mode == cudaAddressModeClamp)
    return std::min(std::max(i, 0), n - 1);
  std::vector<int> period;
  for (int k = 0; k < n; ++k)
    period.push_back(k);
  if (mode == cudaAddressModeMirror)
    for (int k = n; k-- > 0;)
      period.push_back(k);
  int size = int(period.size());
  return period[i - floor_of(i, size) * size];
}

// The value times 256 to the number of dimensions, at coordinates that count 1/16 of an element.
static int64_t expected(const std::vector<float> &values, const int size[3], int dimensions, const int at[3],
                        cudaTextureAddressMode mode, bool linear) {
  int64_t sum = 0;
  for (int corner = 0; corner < (linear ? 1 << dimensions : 1); ++corner) {
    int64_t weight = 1;
    int place[3] = {0, 0, 0};
    bool outside = false;
    for (int d = 0; d < dimensions; ++d) {
      int fine = at[d] * (256 / unit) - (linear ? 128 : 0), low = floor_of(fine, 256), part = fine - low * 256;
      bool up = corner >> d & 1;
      weight *= !linear ? 256 : up ? part : 256 - part;
      place[d] = walk(mode, low + up, size[d]);
      outside |= place[d] < 0;
    }
    sum += weight * int64_t(outside ? 100 : values[(place[2] * size[1] + place[1]) * size[0] + place[0]]);
  }
  return sum;
}

static void filters() {
  int kinds = 0, wrong = 0;
  for (int dimensions = 1; dimensions <= 3; ++dimensions)
    for (int shape = 0; shape < 4; ++shape) {
      // Normalized coordinates are exact where sizes are powers of two.
      int size[3] = {shape % 2 ? 8 : 4, dimensions < 2 ? 1 : shape < 2 ? 4 : 8, dimensions < 3 ? 1 : 2 << shape % 2};
      std::vector<float> values(size[0] * size[1] * size[2]);
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = float(i * 37 % 101);
      cudaArray_t array = array_of(values, size[0], dimensions < 2 ? 0 : size[1], dimensions < 3 ? 0 : size[2]);
      for (int mode = 0; mode < 4; ++mode)
        for (int linear = 0; linear < 2; ++linear)
          for (int normalized = 0; normalized < 2; ++normalized) {
            ++kinds;
            auto address = cudaTextureAddressMode(mode);
            cudaTextureObject_t texture =
                texture_of(array, settings(address, linear ? cudaFilterModeLinear : cudaFilterModePoint, normalized));
            std::vector<Point> points;
            std::vector<int64_t> want;
            for (int k = 0; k < 700; ++k) {
              int at[3];
              for (int d = 0; d < 3; ++d)
                at[d] = int((k * (d * 7919 + 104729) / 3 + d * 5) % (6 * unit * size[d])) - 2 * unit * size[d];
              auto scaled = [&](int d) { return float(at[d]) / unit / (normalized ? size[d] : 1); };
              points.push_back({scaled(0), scaled(1), scaled(2)});
              // What repeats does so in normalized coordinates alone.
              auto known = !normalized && address != cudaAddressModeBorder ? cudaAddressModeClamp : address;
              want.push_back(expected(values, size, dimensions, at, known, linear));
            }
            Device<Point> at(points);
            Device<float> out(points.size());
            fetch<<<6, 128>>>(texture, dimensions, at.data, out.data, int(points.size()));
            OK(cudaDeviceSynchronize());
            std::vector<float> got = out.host();
            for (size_t k = 0; k < got.size(); ++k)
              wrong += double(got[k]) != double(want[k]) / std::pow(256.0, dimensions);
            OK(cudaDestroyTextureObject(texture));
          }
      OK(cudaFreeArray(array));
    }
  std::printf("filters: %d kinds, %d wrong\n", kinds, wrong);
}

template <typename T> __global__ void read(cudaTextureObject_t texture, T *out) {
  out[threadIdx.x] = tex1D<T>(texture, threadIdx.x + 0.5f);
}

template <typename T, typename R>
static int format_errors(const std::vector<T> &values, cudaTextureReadMode mode, const std::vector<R> &want, bool srgb = false) {
  cudaArray_t array = array_of(values, int(values.size()), 0, 0);
  cudaTextureDesc made = settings(cudaAddressModeClamp, cudaFilterModePoint, false);
  made.readMode = mode;
  made.sRGB = srgb;
  cudaTextureObject_t texture = texture_of(array, made);
  Device<R> out(values.size());
  read<R><<<1, int(values.size())>>>(texture, out.data);
  OK(cudaDeviceSynchronize());
  std::vector<R> got = out.host();
  int wrong = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const float *a = reinterpret_cast<const float *>(&got[i]), *b = reinterpret_cast<const float *>(&want[i]);
    const unsigned char *p = reinterpret_cast<const unsigned char *>(a), *q = reinterpret_cast<const unsigned char *>(b);
    if (srgb)
      for (size_t k = 0; k < sizeof(R) / sizeof(float); ++k)
        wrong += !(std::fabs(a[k] - b[k]) <= 2e-6f);
    else
      wrong += !std::equal(p, p + sizeof(R), q);
  }
  OK(cudaDestroyTextureObject(texture));
  OK(cudaFreeArray(array));
  return wrong;
}

static void formats() {
  int wrong = 0;
  auto as_is = cudaReadModeElementType, normalized = cudaReadModeNormalizedFloat;
  wrong += format_errors<unsigned char, unsigned char>({0, 1, 200, 255}, as_is, {0, 1, 200, 255});
  wrong += format_errors<signed char, signed char>({0, 1, -100, -128}, as_is, {0, 1, -100, -128});
  wrong += format_errors<short2, short2>({{1, -2}, {32767, -32768}}, as_is, {{1, -2}, {32767, -32768}});
  wrong += format_errors<ushort4, ushort4>({{1, 2, 3, 65535}}, as_is, {{1, 2, 3, 65535}});
  wrong += format_errors<int, int>({-7, 1 << 30}, as_is, {-7, 1 << 30});
  wrong += format_errors<uint4, uint4>({{1, 2, 3, ~0u}}, as_is, {{1, 2, 3, ~0u}});
  wrong += format_errors<float2, float2>({{1.5f, -2}}, as_is, {{1.5f, -2}});
  wrong += format_errors<float4, float4>({{1, 2, 3, 4}, {5, 6, 7, 8}}, as_is, {{1, 2, 3, 4}, {5, 6, 7, 8}});
  wrong += format_errors<unsigned char, float>({0, 51, 255}, normalized, {0, 51 / 255.0f, 1});
  wrong += format_errors<signed char, float>({0, 127, -127, -128}, normalized, {0, 1, -1, -1});
  wrong += format_errors<unsigned short, float>({0, 65535, 13107}, normalized, {0, 1, 13107 / 65535.0f});
  wrong += format_errors<short, float>({32767, -32768}, normalized, {1, -1});
  wrong += format_errors<uchar4, float4>({{0, 51, 102, 255}}, normalized, {{0, 51 / 255.0f, 102 / 255.0f, 1}});
  // IEC 61966-2-1: 0.5 is light of 0.214; below 0.04045 the curve is a line. What is transparent has none.
  wrong += format_errors<uchar4, float4>({{255, 10, 188, 128}}, normalized,
                                         {{1, 10 / 255.0f / 12.92f, 0.502886458f, 128 / 255.0f}}, true);
  // Numbers of 16 bits.
  unsigned short bits[] = {0x3c00, 0xc000, 0x0001, 0x7bff};
  cudaChannelFormatDesc half_format = cudaCreateChannelDescHalf();
  cudaArray_t array;
  OK(cudaMallocArray(&array, &half_format, 4));
  OK(cudaMemcpy2DToArray(array, 0, 0, bits, 8, 8, 1, cudaMemcpyHostToDevice));
  cudaTextureObject_t texture = texture_of(array, settings(cudaAddressModeClamp, cudaFilterModePoint, false));
  Device<float> out(4);
  read<float><<<1, 4>>>(texture, out.data);
  std::vector<float> got = out.host();
  wrong += got[0] != 1 || got[1] != -2 || got[2] != 0x1p-24f || got[3] != 65504;
  OK(cudaDestroyTextureObject(texture));
  OK(cudaFreeArray(array));
  std::printf("formats: %d wrong\n", wrong);
}

__global__ void elements(cudaTextureObject_t texture, int *out, int first) {
  out[threadIdx.x] = tex1Dfetch<int>(texture, int(threadIdx.x) + first);
}

static void memory() {
  int wrong = 0;
  std::vector<int> values(100);
  for (int i = 0; i < 100; ++i)
    values[i] = 1000 - i;
  Device<int> data(values), out(128);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {data.data, cudaCreateChannelDesc<int>(), 400};
  cudaTextureDesc plain = {};
  cudaTextureObject_t texture;
  OK(cudaCreateTextureObject(&texture, &resource, &plain, nullptr));
  elements<<<1, 128>>>(texture, out.data, -10);
  std::vector<int> got = out.host();
  for (int i = 0; i < 128; ++i)
    wrong += got[i] != (i < 10 || i >= 110 ? 0 : values[i - 10]);
  cudaResourceDesc again = {};
  OK(cudaGetTextureObjectResourceDesc(&again, texture));
  wrong += again.res.linear.devPtr != data.data || again.res.linear.sizeInBytes != 400;
  OK(cudaDestroyTextureObject(texture));
  // Rows with a pitch, two channels, filtered.
  float2 *rows;
  size_t pitch;
  std::vector<float2> picture(5 * 3);
  for (int i = 0; i < 15; ++i)
    picture[i] = {float(i * i), float(-i)};
  OK(cudaMallocPitch(&rows, &pitch, 5 * sizeof(float2), 3));
  OK(cudaMemcpy2D(rows, pitch, picture.data(), 40, 40, 3, cudaMemcpyHostToDevice));
  resource = {};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D = {rows, cudaCreateChannelDesc<float2>(), 5, 3, pitch};
  cudaTextureDesc linear = settings(cudaAddressModeClamp, cudaFilterModeLinear, false);
  OK(cudaCreateTextureObject(&texture, &resource, &linear, nullptr));
  Device<Point> at(std::vector<Point>{{2, 1.5f, 0}, {2.5f, 2, 0}, {-9, 0, 0}});
  Device<float> found(3);
  fetch<<<1, 32>>>(texture, 2, at.data, found.data, 3);
  std::vector<float> values_of = found.host();
  wrong += values_of[0] != (36 + 49) / 2.0f || values_of[1] != (49 + 144) / 2.0f || values_of[2] != 0;
  OK(cudaDestroyTextureObject(texture));
  // What is refused.
  resource.res.pitch2D.height = 1 << 30;
  wrong += cudaCreateTextureObject(&texture, &resource, &linear, nullptr) != cudaErrorInvalidValue;
  resource.res.pitch2D.height = 3;
  resource.res.pitch2D.desc = cudaCreateChannelDesc<int2>();
  wrong += cudaCreateTextureObject(&texture, &resource, &linear, nullptr) != cudaErrorInvalidFilterSetting;
  linear.filterMode = cudaFilterModePoint, linear.readMode = cudaReadModeNormalizedFloat;
  wrong += cudaCreateTextureObject(&texture, &resource, &linear, nullptr) != cudaErrorInvalidNormSetting;
  resource.res.pitch2D.devPtr = nullptr;
  wrong += cudaCreateTextureObject(&texture, &resource, &plain, nullptr) != cudaErrorInvalidValue;
  wrong += cudaDestroyTextureObject(12345) != cudaErrorInvalidValue;
  cudaGetLastError();
  OK(cudaFree(rows));
  std::printf("memory: %d wrong\n", wrong);
}

__global__ void of_layers(cudaTextureObject_t lines, cudaTextureObject_t planes, float *out) {
  int layer = int(threadIdx.x) - 1; // -1 and 3 are the first and the last
  out[threadIdx.x] = tex1DLayered<float>(lines, 1.5f, layer);
  out[blockDim.x + threadIdx.x] = tex2DLayered<float>(planes, 2.0f, 1.5f, layer);
}

static void layers() {
  int wrong = 0;
  std::vector<float> values(4 * 2 * 3);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(i);
  cudaArray_t lines = array_of(std::vector<float>(values.begin(), values.begin() + 12), 4, 0, 3, cudaArrayLayered);
  cudaArray_t planes = array_of(values, 4, 2, 3, cudaArrayLayered);
  cudaChannelFormatDesc format;
  cudaExtent extent;
  unsigned flags;
  OK(cudaArrayGetInfo(&format, &extent, &flags, planes));
  wrong += flags != cudaArrayLayered || extent.depth != 3 || extent.height != 2;
  cudaTextureDesc linear = settings(cudaAddressModeClamp, cudaFilterModeLinear, false);
  cudaTextureObject_t line = texture_of(lines, linear), plane = texture_of(planes, linear);
  Device<float> out(10);
  of_layers<<<1, 5>>>(line, plane, out.data);
  std::vector<float> got = out.host();
  for (int i = 0; i < 5; ++i) {
    int layer = std::min(std::max(i - 1, 0), 2);
    wrong += got[i] != 4 * layer + 1 || got[5 + i] != 8 * layer + 5.5f;
  }
  OK(cudaDestroyTextureObject(line));
  OK(cudaDestroyTextureObject(plane));
  OK(cudaFreeArray(lines));
  OK(cudaFreeArray(planes));
  std::printf("layers: %d wrong\n", wrong);
}

__global__ void of_cubes(cudaTextureObject_t cube, cudaTextureObject_t cubes, const Point *at, float *out) {
  Point p = at[threadIdx.x];
  out[threadIdx.x] = texCubemap<float>(cube, p.x, p.y, p.z);
  out[blockDim.x + threadIdx.x] = texCubemapLayered<float>(cubes, p.x, p.y, p.z, 1);
}

static void cubes() {
  int wrong = 0;
  // Element (s, t) of a face is 100 * face + 10 * t + s; the second cube has 1000 more.
  std::vector<float> values;
  for (int face = 0; face < 12; ++face)
    for (int i = 0; i < 16; ++i)
      values.push_back(float(face % 6 * 100 + i / 4 * 10 + i % 4 + face / 6 * 1000));
  cudaArray_t one = array_of(std::vector<float>(values.begin(), values.begin() + 96), 4, 4, 6, cudaArrayCubemap);
  cudaArray_t two = array_of(values, 4, 4, 12, cudaArrayCubemap | cudaArrayLayered);
  cudaTextureDesc point = settings(cudaAddressModeWrap, cudaFilterModePoint, true);
  cudaTextureObject_t cube = texture_of(one, point), both = texture_of(two, point);
  // One direction for each face: (+x, -x, +y, -y, +z, -z), s and t by the guide's table of faces.
  std::vector<Point> at = {{2, 0.5f, -1.5f}, {-2, 0.5f, -1.5f}, {0.5f, 2, -1.5f}, {0.5f, -2, -1.5f}, {0.5f, -1.5f, 2}, {0.5f, -1.5f, -2}};
  // s, t of each in elements: (s / m + 1) / 2 * 4
  std::vector<float> want;
  const float st[6][2] = {{1.5f, -0.5f}, {-1.5f, -0.5f}, {0.5f, -1.5f}, {0.5f, 1.5f}, {0.5f, 1.5f}, {-0.5f, 1.5f}};
  for (int face = 0; face < 6; ++face)
    want.push_back(face * 100 + std::floor((st[face][1] / 2 + 1) * 2) * 10 + std::floor((st[face][0] / 2 + 1) * 2));
  Device<Point> points(at);
  Device<float> out(12);
  of_cubes<<<1, 6>>>(cube, both, points.data, out.data);
  std::vector<float> got = out.host();
  for (int i = 0; i < 6; ++i)
    wrong += got[i] != want[i] || got[6 + i] != want[i] + 1000;
  OK(cudaDestroyTextureObject(cube));
  OK(cudaDestroyTextureObject(both));
  OK(cudaFreeArray(one));
  OK(cudaFreeArray(two));
  cudaArray_t no;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  wrong += cudaMalloc3DArray(&no, &format, make_cudaExtent(4, 3, 6), cudaArrayCubemap) != cudaErrorInvalidValue;
  cudaGetLastError();
  std::printf("cubes: %d wrong\n", wrong);
}

__global__ void of_levels(cudaTextureObject_t texture, float *out) {
  out[threadIdx.x] = tex2DLod<float>(texture, 0.5f, 0.5f, threadIdx.x * 0.25f - 0.5f);
  float wide = float(1 << threadIdx.x % 8) / 8;
  out[blockDim.x + threadIdx.x] = tex2DGrad<float>(texture, 0.5f, 0.5f, make_float2(wide, 0), make_float2(0, wide / 2));
}

static void mipmaps() {
  int wrong = 0;
  cudaMipmappedArray_t mipmap;
  int widest = 0;
  size_t elements = 0;
  OK(cudaDeviceGetAttribute(&widest, cudaDevAttrMaxTexture2DMipmappedWidth, 0));
  wrong += widest != 32768;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  OK(cudaMallocMipmappedArray(&mipmap, &format, make_cudaExtent(8, 4, 0), 99));
  for (unsigned level = 0; level < 4; ++level) {
    cudaArray_t array;
    cudaExtent extent;
    unsigned flags;
    OK(cudaGetMipmappedArrayLevel(&array, mipmap, level));
    OK(cudaArrayGetInfo(&format, &extent, &flags, array));
    wrong += extent.width != 8u >> level || extent.height != std::max(4u >> level, 1u);
    std::vector<float> values(extent.width * extent.height, float(10 * level));
    OK(cudaMemcpy2DToArray(array, 0, 0, values.data(), extent.width * 4, extent.width * 4, extent.height, cudaMemcpyHostToDevice));
  }
  cudaArray_t none;
  wrong += cudaGetMipmappedArrayLevel(&none, mipmap, 4) != cudaErrorInvalidValue;
  cudaGetLastError();
  for (int linear = 0; linear < 2; ++linear) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = mipmap;
    cudaTextureDesc made = settings(cudaAddressModeClamp, cudaFilterModeLinear, true);
    made.mipmapFilterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
    made.minMipmapLevelClamp = 0.25f, made.maxMipmapLevelClamp = 10;
    cudaTextureObject_t texture;
    OK(cudaCreateTextureObject(&texture, &resource, &made, nullptr));
    Device<float> out(40);
    of_levels<<<1, 20>>>(texture, out.data);
    std::vector<float> got = out.host();
    for (int i = 0; i < 20; ++i) {
      float level = std::min(std::max(i * 0.25f - 0.5f, 0.25f), 3.0f);
      float wide = std::min(std::max(float(i % 8), 0.25f), 3.0f); // 8 elements of the largest level times 1/8 of 2^i
      auto value = [&](float level) { return 10 * (linear ? level : std::floor(level + 0.5f)); };
      wrong += got[i] != value(level) || std::fabs(got[20 + i] - value(wide)) > 1e-5f;
    }
    OK(cudaDestroyTextureObject(texture));
  }
  OK(cudaFreeMipmappedArray(mipmap));
  OK(cudaDeviceGetTexture1DLinearMaxWidth(&elements, &format, 0));
  wrong += elements != 1 << 28;
  std::printf("mipmaps: %d wrong\n", wrong);
}

__global__ void gathers(cudaTextureObject_t texture, float4 *out) {
  out[0] = tex2Dgather<float4>(texture, 2.0f, 1.0f, 0);
  out[1] = tex2Dgather<float4>(texture, 2.0f, 1.0f, 1);
}

static void gather() {
  int wrong = 0;
  std::vector<float2> values;
  for (int i = 0; i < 12; ++i)
    values.push_back({float(i), float(100 + i)});
  cudaArray_t array = array_of(values, 4, 3, 0, cudaArrayTextureGather);
  cudaTextureObject_t texture = texture_of(array, settings(cudaAddressModeClamp, cudaFilterModePoint, false));
  Device<float4> out(2);
  gathers<<<1, 1>>>(texture, out.data);
  std::vector<float4> got = out.host();
  // Counter-clockwise from the lower left: (1, 1), (2, 1), (2, 0), (1, 0).
  const float want[4] = {5, 6, 2, 1};
  for (int i = 0; i < 2; ++i) {
    const float *four = &got[i].x;
    for (int k = 0; k < 4; ++k)
      wrong += four[k] != want[k] + 100 * i;
  }
  OK(cudaDestroyTextureObject(texture));
  OK(cudaFreeArray(array));
  std::printf("gather: %d wrong\n", wrong);
}

__global__ void of_view(cudaTextureObject_t texture, unsigned *out) {
  out[threadIdx.x] = tex2DLayered<unsigned>(texture, threadIdx.x + 0.5f, 0.5f, 0);
}

static void views() {
  int wrong = 0;
  std::vector<float> values = {0, 1, 2, 3, 4, 5, 6, 7};
  cudaArray_t array = array_of(values, 2, 1, 4, cudaArrayLayered);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaResourceViewDesc view = {};
  view.format = cudaResViewFormatUnsignedInt1;
  view.width = 2, view.height = 1, view.depth = 2, view.firstLayer = 2, view.lastLayer = 3;
  cudaTextureDesc made = settings(cudaAddressModeClamp, cudaFilterModePoint, false);
  cudaTextureObject_t texture;
  OK(cudaCreateTextureObject(&texture, &resource, &made, &view));
  Device<unsigned> out(2);
  of_view<<<1, 2>>>(texture, out.data);
  std::vector<unsigned> got = out.host();
  wrong += got[0] != 0x40800000 || got[1] != 0x40a00000;
  cudaResourceViewDesc again = {};
  cudaTextureDesc settings_again = {};
  OK(cudaGetTextureObjectResourceViewDesc(&again, texture));
  OK(cudaGetTextureObjectTextureDesc(&settings_again, texture));
  wrong += again.firstLayer != 2 || settings_again.addressMode[0] != cudaAddressModeClamp;
  OK(cudaDestroyTextureObject(texture));
  view.format = cudaResViewFormatUnsignedShort1;
  wrong += cudaCreateTextureObject(&texture, &resource, &made, &view) != cudaErrorInvalidValue;
  cudaGetLastError();
  OK(cudaFreeArray(array));
  std::printf("views: %d wrong\n", wrong);
}

int main() {
  filters();
  formats();
  memory();
  layers();
  cubes();
  mipmaps();
  gather();
  views();
  OK(cudaDeviceReset());
  std::puts("all released");
}
