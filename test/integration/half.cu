// half and half2: arithmetic, comparison, conversion, math.
// RUN: %regrain -O2 --offload-arch=cpu,sm_80 %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"
#include <cuda_fp16.h>

constexpr int n = 64;

__global__ void arithmetic(float *out, const float *x) {
  int i = threadIdx.x;
  __half a = __float2half(x[i]), b = __float2half_rn(x[(i + 7) % n]);
  float *o = out + i;
  auto put = [&](float v) { *o = v, o += n; };
  put(__half2float(a + b));
  put(__half2float(__hsub(a, b)));
  put(__half2float(a * b));
  put(__half2float(__hdiv(a, b)));
  put(__half2float(__hfma(a, b, a)));
  put(__half2float(-a));
  put(__half2float(__habs(a)));
  put((a < b) + 2 * (a <= b) + 4 * (a == b) + 8 * __hgt(a, b) + 16 * __hne(a, b));
  put(__half2float(__hmin(a, b)) + 2 * __half2float(__hmax(a, b)));
  put(__half2float(hsqrt(__habs(a))));
  put(__half2float(hexp(b)));
  put(__half2float(hfloor(a)) + __half2float(hrint(b)));
  put(__half2int_rz(a) + __half2int_rn(b) + __half2int_ru(a) + __half2int_rd(b));
  put(__half2float(__int2half_rn(i * 1001)));
  put(__half_as_ushort(a));
  put(__hisnan(a) + 2 * __hisinf(a));
  a += b;
  a *= __half(2);
  ++a;
  put(float(a));
}

__global__ void pairs(float *out, const float *x) {
  int i = threadIdx.x;
  __half2 a = __floats2half2_rn(x[i], x[(i + 1) % n]), b = __half2half2(__float2half(x[(i + 3) % n]));
  float *o = out + 2 * i;
  auto put = [&](__half2 v) {
    o[0] = __low2float(v), o[1] = __high2float(v);
    o += 2 * n;
  };
  put(a + b);
  put(__hmul2(a, b));
  put(__hfma2(a, b, a));
  put(__hsub2(b, a));
  put(__lowhigh2highlow(a));
  put(__hgt2(a, b));
  put(h2sqrt(__habs2(a)));
  float2 f = __half22float2(a);
  put(__float22half2_rn(make_float2(f.y, f.x)));
  put(__half2(__high2half(a), __low2half(b)));
  o[0] = __hbeq2(a, a), o[1] = __hblt2(a, b);
  o += 2 * n;
  put(__shfl_xor_sync(0xffffffffu, a, 1));
}

// Rounding to half by way of the host's own conversion.
static float h(double v) { return __half2float(__double2half(v)); }

int main() {
  float *x = managed<float>(n), *out = managed<float>(n * 24);
  for (int i = 0; i < n; ++i)
    x[i] = h((i - 31) * 0.173 + 0.01);
  arithmetic<<<1, n>>>(out, x);
  finish_kernel();
  for (int i = 0; i < n; ++i) {
    double a = x[i], b = x[(i + 7) % n], sum = h(a + b);
    double want[] = {sum, h(a - b), h(a * b), h(a / b), h(a * b + a), -a, fabs(a),
                     double((a < b) + 2 * (a <= b) + 4 * (a == b) + 8 * (a > b) + 16 * (a != b)),
                     std::min(a, b) + 2 * std::max(a, b), h(sqrt(fabs(a))), h(exp(b)), floor(a) + rint(b),
                     trunc(a) + rint(b) + ceil(a) + floor(b), h(i * 1001), double(__half_as_ushort(__double2half(a))), 0,
                     h(h(sum * 2) + 1)};
    for (int k = 0; k < 17; ++k)
      if (k == 3 || k == 10)
        EXPECT(fabs(out[k * n + i] - want[k]) <= fabs(want[k]) / 1024);
      else
        EXPECT_AT(k * 100 + i, double(out[k * n + i]), want[k]);
  }
  pairs<<<1, n>>>(out, x);
  finish_kernel();
  for (int i = 0; i < n; ++i) {
    double a[] = {x[i], x[(i + 1) % n]}, b = x[(i + 3) % n];
    bool less = a[0] < b && a[1] < b;
    int j = i ^ 1;
    for (int k = 0; k < 2; ++k) {
      double v = a[k], o = a[1 - k], neighbour[] = {x[j], x[(j + 1) % n]};
      double want[] = {h(v + b), h(v * b), h(v * b + v), h(b - v), o, double(v > b), h(sqrt(fabs(v))), o,
                       k ? b : a[1], double(k ? less : true), neighbour[k]};
      for (int m = 0; m < 11; ++m)
        EXPECT_AT(m * 100 + i, double(out[m * 2 * n + 2 * i + k]), want[m]);
    }
  }
  return result();
}
