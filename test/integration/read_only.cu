// __ldg, __restrict__, cache hints, prefetch, threadfence, assume.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

__global__ void gather(const float4 *__restrict__ in, const int *__restrict__ index, float *__restrict__ out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __builtin_assume(n > 0);
  if (i < n) {
    float4 v = __ldg(&in[__ldg(&index[i])]);
    out[i] = v.x + v.y * 2 + v.z * 3 + v.w * 4;
  }
}

__global__ void hints(const int *in, int *out, const double2 *d) {
  int i = threadIdx.x;
  int v = __ldcg(&in[i]) * 3 + __ldcs(&in[i]) * 4 + __ldcv(&in[i]) * 8;
  out[i] = v;
  __threadfence();
  __stwt(&out[32 + i], int(__ldg(d + i).y));
  __threadfence_block();
  __threadfence_system();
  out[64 + i] = int(__ldg((const unsigned char *)in + i));
  if (__builtin_expect(i > 100, 0))
    __builtin_unreachable();
}

__global__ void unrolled(float *out, const float *in) {
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 16; ++i)
    sum += in[(threadIdx.x + i) % 32] * i;
#pragma unroll 1
  for (int i = 0; i < 3; ++i)
    sum += i;
  out[threadIdx.x] = sum;
}

int main() {
  constexpr int n = 100;
  float4 *in = managed<float4>(n);
  int *index = managed<int>(n), *ints = managed<int>(32), *iout = managed<int>(96);
  float *out = managed<float>(n), *f = managed<float>(32);
  double2 *d = managed<double2>(32);
  for (int i = 0; i < n; ++i) {
    in[i] = make_float4(i, 1, i * 2, 3);
    index[i] = i * 7 % n;
  }
  for (int i = 0; i < 32; ++i)
    ints[i] = i * 3, d[i] = make_double2(0, i + 0.5), f[i] = i;
  gather<<<2, 64>>>(in, index, out, n);
  finish_kernel();
  for (int i = 0; i < n; ++i) {
    int k = i * 7 % n;
    EXPECT_AT(i, out[i], float(k + 2 + k * 6 + 12));
  }
  hints<<<1, 32>>>(ints, iout, d);
  finish_kernel();
  for (int i = 0; i < 32; ++i) {
    EXPECT_AT(i, iout[i], i * 45);
    EXPECT_AT(i, iout[32 + i], i);
    EXPECT_AT(i, iout[64 + i], int(((unsigned char *)ints)[i]));
  }
  unrolled<<<1, 32>>>(out, f);
  finish_kernel();
  for (int t = 0; t < 32; ++t) {
    float sum = 3;
    for (int i = 0; i < 16; ++i)
      sum += float((t + i) % 32) * i;
    EXPECT_AT(t, out[t], sum);
  }
  return result();
}
