// Vector types: layout, construction, memory accesses.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

static_assert(sizeof(float4) == 16 && alignof(float4) == 16 && sizeof(float3) == 12 && alignof(double2) == 16);

__global__ void copy(float4 *out, const float4 *in, int2 *ints, const char4 *chars, double2 *doubles, uint3 *triples) {
  int i = threadIdx.x;
  float4 v = in[i];
  out[i] = make_float4(v.w, v.z * 2, v.y + v.x, -v.x);
  char4 c = chars[i];
  ints[i] = make_int2(c.x + c.y, c.z * c.w);
  doubles[i] = make_double2(v.x, double(v.y) / 3);
  triples[i] = make_uint3(i, i * i, threadIdx.y + blockDim.x);
}

__global__ void in_shared(float4 *out) {
  __shared__ float4 s[32];
  __shared__ ushort4 u[32];
  int i = threadIdx.x;
  float *flat = reinterpret_cast<float *>(s);
  for (int k = 0; k < 4; ++k)
    flat[k * 32 + i] = k * 32 + i;
  u[i] = make_ushort4(i, i + 1, i + 2, 65535);
  __syncthreads();
  float4 v = s[31 - i];
  ushort4 w = u[i];
  out[i] = make_float4(v.x + w.x, v.y + w.y, v.z + w.z, v.w + w.w);
}

__device__ float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
__device__ float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

__global__ void by_value(float4 a, float3 b, char3 c, longlong2 l, dim3 d, float *out) {
  float4 s = a + make_float4(1, 2, 3, 4);
  out[0] = s.x + s.y * 10 + s.z * 100 + s.w * 1000;
  out[1] = dot(b, make_float3(c.x, c.y, c.z));
  out[2] = l.x - l.y + d.x + d.y * 10 + d.z * 100;
}

int main() {
  constexpr int n = 32;
  float4 *in = managed<float4>(n), *out = managed<float4>(n);
  int2 *ints = managed<int2>(n);
  char4 *chars = managed<char4>(n);
  double2 *doubles = managed<double2>(n);
  uint3 *triples = managed<uint3>(n);
  for (int i = 0; i < n; ++i) {
    in[i] = make_float4(i, i + 0.5f, i * 2, -i);
    chars[i] = make_char4(i, -i * 2, 3, -i);
  }
  copy<<<1, n>>>(out, in, ints, chars, doubles, triples);
  finish_kernel();
  for (int i = 0; i < n; ++i) {
    EXPECT(out[i].x == -i && out[i].y == i * 4 && out[i].z == i * 2 + 0.5f && out[i].w == -i);
    EXPECT(ints[i].x == -i && ints[i].y == -3 * i);
    EXPECT(doubles[i].x == i && doubles[i].y == (i + 0.5) / 3);
    EXPECT(triples[i].x == unsigned(i) && triples[i].y == unsigned(i * i) && triples[i].z == n);
  }
  in_shared<<<1, n>>>(out);
  finish_kernel();
  for (int i = 0; i < n; ++i) {
    float base = (31 - i) * 4;
    EXPECT(out[i].x == base + i && out[i].y == base + 2 + i && out[i].z == base + 4 + i && out[i].w == base + 3 + 65535);
  }
  float *r = managed<float>(3);
  by_value<<<1, 1>>>(make_float4(1, 1, 1, 1), make_float3(1, 2, 3), make_char3(-4, 5, 6), make_longlong2(50, 20), dim3(1, 2, 3), r);
  finish_kernel();
  EXPECT_AT(0, r[0], 2.f + 30 + 400 + 5000);
  EXPECT_AT(1, r[1], -4.f + 10 + 18);
  EXPECT_AT(2, r[2], 30.f + 1 + 20 + 300);
  return result();
}
