// Device math in single precision against the host's double precision.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "math.h"

// Device function, host function, ulps, tolerance near zeros.
#define UNARY(X)                                                                                   \
  X(sinf, sin, 2, 0) X(cosf, cos, 2, 0) X(tanf, tan, 4, 0) X(asinf, asin, 2, 0)                    \
  X(acosf, acos, 2, 0) X(atanf, atan, 2, 0) X(sinhf, sinh, 3, 0) X(coshf, cosh, 2, 0)              \
  X(tanhf, tanh, 2, 0) X(asinhf, asinh, 3, 0) X(acoshf, acosh, 4, 0) X(atanhf, atanh, 3, 0)        \
  X(expf, exp, 2, 0) X(exp2f, exp2, 2, 0) X(exp10f, exp10_of, 2, 0) X(expm1f, expm1, 2, 0)            \
  X(logf, log, 1.5, 0) X(log2f, log2, 1.5, 0) X(log10f, log10, 2, 0) X(log1pf, log1p, 2, 0)        \
  X(sqrtf, sqrt, 0.5, 0) X(rsqrtf, 1 / sqrt, 2, 0) X(cbrtf, cbrt, 1, 0) X(rcbrtf, 1 / cbrt, 2, 0)  \
  X(erff, erf, 2, 0) X(erfcf, erfc, 4, 0) X(erfcxf, scaled_erfc, 4, 0) X(tgammaf, gamma_of, 6, 0)        \
  X(lgammaf, lgamma, 6, 1e-6) X(j0f, j0, 9, 3e-6) X(j1f, j1, 9, 3e-6)                              \
  X(floorf, floor, 0, 0) X(ceilf, ceil, 0, 0) X(truncf, trunc, 0, 0) X(roundf, round, 0, 0)        \
  X(rintf, rint, 0, 0) X(nearbyintf, nearbyint, 0, 0) X(fabsf, fabs, 0, 0) X(logbf, logb, 0, 0)    \
  X(sinpif, sin_pi, 2, 1e-13) X(cospif, cos_pi, 2, 1e-13) X(normcdff, normal_cdf, 6, 0)
#define BINARY(X)                                                                                  \
  X(powf, pow, 4, 0) X(atan2f, atan2, 3, 0) X(fmodf, fmod, 0, 0) X(hypotf, hypot, 3, 0)            \
  X(fminf, fmin, 0, 0) X(fmaxf, fmax, 0, 0) X(fdimf, fdim, 0.5, 0) X(copysignf, copysign, 0, 0)    \
  X(remainderf, remainder, 0, 0)

static double exp10_of(double x) { return pow(10, x); }
static double gamma_of(double x) { return x == 0 ? 1 / x : std::isinf(x) && x < 0 ? NAN : tgamma(x); }
static double scaled_erfc(double x) { return x > 25 ? 1 / (x * sqrt(M_PI)) : exp(x * x) * erfc(x); }
static double sin_pi(double x) { return sin(M_PI * fmod(x, 2)); }
static double cos_pi(double x) { return cos(M_PI * fmod(x, 2)); }
static double normal_cdf(double x) { return erfc(-x / sqrt(2.0)) / 2; }

__global__ void evaluate(float *out, const float *xs, const float *ys, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float x = xs[i], y = ys[i];
#define X(device, host, limit, absolute) out[i] = device(x), out += n;
  UNARY(X)
#undef X
#define X(device, host, limit, absolute) out[i] = device(x, y), out += n;
  BINARY(X)
#undef X
}

// Functions with several results.
__global__ void several(float *out, int *ints, const float *xs, int n) {
  int i = threadIdx.x;
  float x = xs[i];
  sincosf(x, &out[i], &out[n + i]);
  sincospif(x, &out[2 * n + i], &out[3 * n + i]);
  out[4 * n + i] = frexpf(x, &ints[i]);
  out[5 * n + i] = modff(x, &out[6 * n + i]);
  out[7 * n + i] = remquof(x, 0.7f, &ints[n + i]);
  out[8 * n + i] = ldexpf(x, 3) + scalbnf(x, -2) + scalblnf(x, 1);
  out[9 * n + i] = fmaf(x, x, -x);
  ints[2 * n + i] = ilogbf(x);
  ints[3 * n + i] = isnan(x) + 2 * isinf(x) + 4 * !!signbit(x) + 8 * isfinite(x);
  ints[4 * n + i] = lrintf(x * 3) + int(llroundf(x * 5));
  out[10 * n + i] = norm3df(x, 2, 3) + rhypotf(x, 4);
  out[11 * n + i] = nextafterf(x, 100.0f);
}

int main() {
  constexpr int n = 512, functions = 64;
  float *x = managed<float>(n), *y = managed<float>(n), *out = managed<float>(n * functions);
  int *ints = managed<int>(5 * n);
  fill(x, n, 20, 1);
  fill(y, n, 9, 2);
  evaluate<<<4, 128>>>(out, x, y, n);
  finish_kernel();
  float *o = out;
#define X(device, host, limit, absolute)                                                           \
  compare(#device, o, x, y, n, limit, absolute, [](double v, double) -> double { return host(v); }), o += n;
  UNARY(X)
#undef X
#define X(device, host, limit, absolute)                                                           \
  compare(#device, o, x, y, n, limit, absolute, [](double v, double w) -> double { return host(v, w); }), o += n;
  BINARY(X)
  several<<<1, n>>>(out, ints, x, n);
  finish_kernel();
  for (int i = 0; i < n; ++i) {
    if (!std::isfinite(x[i])) {
      EXPECT_AT(i, ints[3 * n + i], std::isnan(x[i]) + 2 * std::isinf(x[i]) + 4 * !!std::signbit(x[i]));
      continue;
    }
    int e, q, de;
    float whole, f = frexpf(x[i], &e), m = modff(x[i], &whole), r = remquof(x[i], 0.7f, &q);
    EXPECT(ulps(out[i], sin(x[i])) <= 2 && ulps(out[n + i], cos(x[i])) <= 2);
    EXPECT(fabs(out[2 * n + i] - sin_pi(x[i])) < 1e-6 && fabs(out[3 * n + i] - cos_pi(x[i])) < 1e-6);
    EXPECT(out[4 * n + i] == f && ints[i] == e);
    EXPECT(out[5 * n + i] == m && out[6 * n + i] == whole);
    EXPECT(out[7 * n + i] == r && (ints[n + i] & 7) == (q & 7));
    EXPECT_AT(i, out[8 * n + i], ldexpf(x[i], 3) + scalbnf(x[i], -2) + scalbnf(x[i], 1));
    EXPECT_AT(i, out[9 * n + i], fmaf(x[i], x[i], -x[i]));
    if (x[i] != 0) {
      de = ilogbf(x[i]);
      EXPECT_AT(i, ints[2 * n + i], de);
    }
    EXPECT_AT(i, ints[4 * n + i], int(lrintf(x[i] * 3)) + int(llroundf(x[i] * 5)));
    EXPECT(ulps(out[10 * n + i], sqrt(x[i] * double(x[i]) + 13) + 1 / hypot(x[i], 4.0)) <= 4);
    EXPECT_AT(i, out[11 * n + i], nextafterf(x[i], 100.0f));
  }
  return result();
}
