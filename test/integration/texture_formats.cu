// Textures whose channels are numbers of 16 bits, or integers that are always read as numbers (normalized kinds), and gathers that say
// whether what they gather is there. Values are computed on the host from the bits.
// NOT-HIP: textures are not there on AMD's GPUs.
// RUN: %regrain -O3 --offload-arch=cpu %s -o %t && %t | FileCheck %s
// RUN: env REGRAIN_CPU_MODE=coroutine %t | FileCheck %s
// RUN: %regrain -O0 --offload-arch=cpu %s -o %t.0 && %t.0 | FileCheck %s
#include "check.h"
#include <cstdint>
#include <cuda_fp16.h>
#include <vector>

static cudaTextureDesc settings(cudaTextureFilterMode filter, cudaTextureReadMode read = cudaReadModeElementType) {
  cudaTextureDesc made = {};
  made.addressMode[0] = made.addressMode[1] = made.addressMode[2] = cudaAddressModeClamp;
  made.filterMode = filter;
  made.readMode = read;
  return made;
}

static cudaResourceDesc resource_of(cudaArray_t array) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

static cudaTextureObject_t texture_of(const cudaResourceDesc &resource, const cudaTextureDesc &settings) {
  cudaTextureObject_t texture = 0;
  OK(cudaCreateTextureObject(&texture, &resource, &settings, nullptr));
  return texture;
}

static cudaArray_t array_of(cudaChannelFormatDesc format, const void *values, int w, int h, unsigned flags = 0) {
  cudaArray_t array = nullptr;
  size_t row = w * size_t(format.x + format.y + format.z + format.w) / 8;
  OK(cudaMallocArray(&array, &format, w, h, flags));
  OK(cudaMemcpy2DToArray(array, 0, 0, values, row, row, h, cudaMemcpyHostToDevice));
  return array;
}

// What the bits of a number of 16 bits are worth (IEEE 754), without the conversions of cuda_fp16.h.
static double worth(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double size = exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24);
  return bits >> 15 ? -size : size;
}

template <typename T> __global__ void read_points(cudaTextureObject_t texture, const float2 *at, T *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2D<T>(texture, at[i].x, at[i].y);
}

template <typename T> __global__ void read_elements(cudaTextureObject_t texture, T *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<T>(texture, i);
}

constexpr int W = 8, H = 4, POINTS = 333;

// Halves of one, two or four channels, read at elements and between them, from an array, rows with a pitch and plain memory.
template <int C, typename T> void halves(cudaChannelFormatDesc format) {
  std::vector<uint16_t> bits(W * H * C);
  for (size_t i = 0; i < bits.size(); ++i) {
    // Multiples of 1/8 below 64: sums of four with weights of 16 bits are exact in a float.
    int eighths = int(i * 97 % 509) - 254;
    bits[i] = __half_as_ushort(__float2half(eighths / 8.0f));
    EXPECT(worth(bits[i]) == eighths / 8.0);
  }
  float2 *at = managed<float2>(POINTS);
  T *out = managed<T>(POINTS);
  auto channel = [&](int i, int c) { return (&out[i].x)[c]; };
  for (int i = 0; i < POINTS; ++i) at[i] = {i * 7 % 145 / 16.0f - 0.5f, i * 11 % 81 / 16.0f - 0.5f};
  cudaArray_t array = array_of(format, bits.data(), W, H);
  cudaResourceDesc of_rows = {}, of_memory = {};
  size_t pitch;
  OK(cudaMallocPitch(&of_rows.res.pitch2D.devPtr, &pitch, W * C * 2, H));
  OK(cudaMemcpy2D(of_rows.res.pitch2D.devPtr, pitch, bits.data(), W * C * 2, W * C * 2, H, cudaMemcpyHostToDevice));
  of_rows.resType = cudaResourceTypePitch2D;
  of_rows.res.pitch2D = {of_rows.res.pitch2D.devPtr, format, W, H, pitch};
  for (const cudaResourceDesc &resource : {resource_of(array), of_rows})
    for (auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
      cudaTextureObject_t texture = texture_of(resource, settings(filter));
      read_points<<<3, 128>>>(texture, at, out, POINTS);
      finish_kernel();
      for (int i = 0; i < POINTS; ++i)
        for (int c = 0; c < C; ++c) {
          double wanted = 0, half = filter == cudaFilterModeLinear ? 0.5 : 0;
          double x = std::floor(at[i].x - half), y = std::floor(at[i].y - half);
          for (int corner = 0; corner < (half > 0 ? 4 : 1); ++corner) {
            int right = corner & 1, down = corner >> 1;
            double across = at[i].x - half - x, along = at[i].y - half - y;
            double weight = half > 0 ? (right ? across : 1 - across) * (down ? along : 1 - along) : 1;
            int u = std::min(std::max(int(x) + right, 0), W - 1), v = std::min(std::max(int(y) + down, 0), H - 1);
            wanted += weight * worth(bits[(v * W + u) * C + c]);
          }
          EXPECT_AT(i, channel(i, c), float(wanted));
        }
      OK(cudaDestroyTextureObject(texture));
    }
  of_memory.resType = cudaResourceTypeLinear;
  uint16_t *memory = managed<uint16_t>(bits.size());
  std::copy(bits.begin(), bits.end(), memory);
  of_memory.res.linear = {memory, format, bits.size() * 2};
  cudaTextureObject_t texture = texture_of(of_memory, settings(cudaFilterModePoint));
  read_elements<<<1, W * H + 2>>>(texture, out, W * H + 2);
  finish_kernel();
  for (int i = 0; i < W * H + 2; ++i)
    for (int c = 0; c < C; ++c) EXPECT_AT(i, channel(i, c), float(i < W * H ? worth(bits[i * C + c]) : 0));
  OK(cudaDestroyTextureObject(texture));
  OK(cudaFreeArray(array));
  for (void *pointer : {of_rows.res.pitch2D.devPtr, (void *)at, (void *)out, (void *)memory}) OK(cudaFree(pointer));
}

__global__ void write_halves(cudaSurfaceObject_t surface) {
  int x = threadIdx.x, y = threadIdx.y;
  ushort2 both = {__half_as_ushort(__float2half(x + 0.25f)), __half_as_ushort(__float2half(-y * 3.0f))};
  surf2Dwrite(both, surface, x * sizeof both, y);
}

// What a kernel writes by a surface another one reads by a texture. Not a number, infinity and the smallest numbers are read as they are.
static void surfaces() {
  std::vector<uint32_t> nothing(W * H);
  cudaArray_t array = array_of(cudaCreateChannelDescHalf2(), nothing.data(), W, H, cudaArraySurfaceLoadStore);
  cudaSurfaceObject_t surface = 0;
  cudaResourceDesc resource = resource_of(array);
  OK(cudaCreateSurfaceObject(&surface, &resource));
  write_halves<<<1, dim3(W, H)>>>(surface);
  finish_kernel();
  cudaTextureObject_t texture = texture_of(resource, settings(cudaFilterModePoint));
  float2 *at = managed<float2>(W * H), *out = managed<float2>(W * H);
  for (int i = 0; i < W * H; ++i) at[i] = {i % W + 0.5f, i / W + 0.5f};
  read_points<<<1, W * H>>>(texture, at, out, W * H);
  finish_kernel();
  for (int i = 0; i < W * H; ++i) {
    EXPECT_AT(i, out[i].x, i % W + 0.25f);
    EXPECT_AT(i, out[i].y, i / W * -3.0f);
  }
  uint16_t special[W] = {0x7e00, 0x7c00, 0xfc00, 0x0001, 0x8000, 0x83ff, 0x7bff, 0x3c00};
  OK(cudaMemcpy2DToArray(array, 0, 0, special, sizeof special, sizeof special, 1, cudaMemcpyHostToDevice));
  read_points<<<1, 4>>>(texture, at, out, 4);
  finish_kernel();
  const float *found = &out[0].x;
  EXPECT(std::isnan(found[0]) && found[1] == INFINITY && found[2] == -INFINITY && std::signbit(found[4]));
  for (int i : {3, 4, 5, 6, 7}) EXPECT_AT(i, found[i], float(worth(special[i])));
  OK(cudaDestroyTextureObject(texture));
  OK(cudaDestroySurfaceObject(surface));
  OK(cudaFreeArray(array));
}

template <typename T> __device__ float4 all_of(T v) {
  if constexpr (sizeof(T) == 4) return {v.x, 0, 0, 0};
  else if constexpr (sizeof(T) == 8) return {v.x, v.y, 0, 0};
  else return {v.x, v.y, v.z, v.w};
}

template <typename T> __global__ void read_all(cudaTextureObject_t texture, float4 *out, float shift) {
  out[threadIdx.x] = all_of(tex2D<T>(texture, threadIdx.x + shift, 0.5f));
}

// Integers that are numbers whatever is asked for: (bits, channels, signed), read at elements and between two.
template <cudaChannelFormatKind KIND> void normalized(int bits, int channels, bool is_signed) {
  cudaChannelFormatDesc format = cudaCreateChannelDesc<KIND>();
  EXPECT(format.f == KIND && format.x == bits);
  std::vector<unsigned char> bytes(W * channels * bits / 8);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = (unsigned char)(i * 83 + 120);
  // The lowest of signed integers is -1, as the one above it.
  bytes[bits / 8 - 1] = 0x80, bytes[0] = bits == 8 ? 0x80 : 0;
  double most = std::ldexp(1, bits - is_signed) - 1;
  auto value = [&](int x, int c) {
    int at = (x * channels + c) * bits / 8, whole = bits == 8 ? bytes[at] : bytes[at] | bytes[at + 1] << 8;
    if (is_signed && whole >> (bits - 1)) whole -= 1 << bits;
    return std::max(whole / most, -1.0);
  };
  float4 *out = managed<float4>(W);
  cudaArray_t array = array_of(format, bytes.data(), W, 1);
  cudaChannelFormatDesc found;
  OK(cudaGetChannelDesc(&found, array));
  EXPECT(found.f == KIND && found.x == bits && found.y == (channels > 1 ? bits : 0));
  for (auto mode : {cudaReadModeElementType, cudaReadModeNormalizedFloat})
    for (bool between : {false, true}) {
      auto asked = settings(between ? cudaFilterModeLinear : cudaFilterModePoint, mode);
      cudaTextureObject_t texture = texture_of(resource_of(array), asked);
      float shift = between ? 1 : 0.5f;
      if (channels == 1) read_all<float1><<<1, W - 1>>>(texture, out, shift);
      else if (channels == 2) read_all<float2><<<1, W - 1>>>(texture, out, shift);
      else read_all<float4><<<1, W - 1>>>(texture, out, shift);
      finish_kernel();
      for (int x = 0; x < W - 1; ++x)
        for (int c = 0; c < 4; ++c) {
          double wanted = c >= channels ? 0 : between ? (value(x, c) + value(x + 1, c)) / 2 : value(x, c);
          EXPECT(std::fabs((&out[x].x)[c] - wanted) < 1e-7);
        }
      OK(cudaDestroyTextureObject(texture));
    }
  OK(cudaFreeArray(array));
  OK(cudaFree(out));
}

__global__ void gather_all(cudaTextureObject_t texture, float4 *out, bool *there) {
  bool *mine = there + 4 * threadIdx.x;
  float x = threadIdx.x + 1.0f;
  out[4 * threadIdx.x] = tex2Dgather<float4>(texture, x, 1.0f, mine);
  out[4 * threadIdx.x + 1] = tex2Dgather<float4>(texture, x, 1.0f, mine + 1, 1);
  out[4 * threadIdx.x + 2] = tex2Dgather<float4>(texture, x, 1.0f, mine + 2, 2);
  tex2Dgather(&out[4 * threadIdx.x + 3], texture, x, 1.0f, mine + 3, 3);
}

// A gather of halves, in the order of the guide: lower left, lower right, upper right, upper left.
static void gathers() {
  std::vector<uint16_t> bits(W * 2 * 4);
  for (size_t i = 0; i < bits.size(); ++i) bits[i] = __half_as_ushort(__float2half(float(i)));
  cudaArray_t array = array_of(cudaCreateChannelDescHalf4(), bits.data(), W, 2, cudaArrayTextureGather);
  cudaTextureObject_t texture = texture_of(resource_of(array), settings(cudaFilterModePoint));
  constexpr int count = W - 1;
  float4 *out = managed<float4>(4 * count);
  bool *there = managed<bool>(4 * count);
  gather_all<<<1, count>>>(texture, out, there);
  finish_kernel();
  for (int i = 0; i < 4 * count; ++i) {
    int x = i / 4, c = i % 4;
    auto element = [&](int u, int v) { return float((v * W + u) * 4 + c); };
    EXPECT(there[i]);
    EXPECT_AT(i, out[i].x, element(x, 1));
    EXPECT_AT(i, out[i].y, element(x + 1, 1));
    EXPECT_AT(i, out[i].z, element(x + 1, 0));
    EXPECT_AT(i, out[i].w, element(x, 0));
  }
  OK(cudaDestroyTextureObject(texture));
  OK(cudaFreeArray(array));
}

static void refused() {
  cudaArray_t array;
  for (auto format : {cudaCreateChannelDesc<cudaChannelFormatKindNV12>(), cudaCreateChannelDesc<cudaChannelFormatKindUnsignedNormalized1010102>(),
                      cudaCreateChannelDesc<cudaChannelFormatKindUnsignedBlockCompressed1>(),
                      cudaCreateChannelDesc<cudaChannelFormatKindUnsignedBlockCompressed7SRGB>()})
    EXPECT_ERROR(cudaMallocArray(&array, &format, 16, 16), cudaErrorNotSupported);
  cudaChannelFormatDesc wrong = {16, 0, 0, 0, cudaChannelFormatKindUnsignedNormalized8X1};
  EXPECT_ERROR(cudaMallocArray(&array, &wrong, 16, 16), cudaErrorInvalidChannelDescriptor);
  wrong = {8, 8, 0, 0, cudaChannelFormatKindUnsignedNormalized8X1};
  EXPECT_ERROR(cudaMallocArray(&array, &wrong, 16, 16), cudaErrorInvalidChannelDescriptor);
  wrong = {8, 0, 0, 0, cudaChannelFormatKind(32)};
  EXPECT_ERROR(cudaMallocArray(&array, &wrong, 16, 16), cudaErrorInvalidChannelDescriptor);
  cudaGetLastError();
}

int main() {
  halves<1, float1>(cudaCreateChannelDescHalf());
  halves<2, float2>(cudaCreateChannelDescHalf2());
  halves<4, float4>(cudaCreateChannelDescHalf4());
  surfaces();
  normalized<cudaChannelFormatKindUnsignedNormalized8X1>(8, 1, false);
  normalized<cudaChannelFormatKindUnsignedNormalized8X2>(8, 2, false);
  normalized<cudaChannelFormatKindUnsignedNormalized8X4>(8, 4, false);
  normalized<cudaChannelFormatKindUnsignedNormalized16X1>(16, 1, false);
  normalized<cudaChannelFormatKindUnsignedNormalized16X2>(16, 2, false);
  normalized<cudaChannelFormatKindUnsignedNormalized16X4>(16, 4, false);
  normalized<cudaChannelFormatKindSignedNormalized8X1>(8, 1, true);
  normalized<cudaChannelFormatKindSignedNormalized8X2>(8, 2, true);
  normalized<cudaChannelFormatKindSignedNormalized8X4>(8, 4, true);
  normalized<cudaChannelFormatKindSignedNormalized16X1>(16, 1, true);
  normalized<cudaChannelFormatKindSignedNormalized16X2>(16, 2, true);
  normalized<cudaChannelFormatKindSignedNormalized16X4>(16, 4, true);
  gathers();
  refused();
  // CHECK: ok
  return result();
}
