// Device math in double precision against the host's.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "math.h"

#define UNARY(X)                                                                                   \
  X(sin, sin, 3, 0) X(cos, cos, 3, 0) X(tan, tan, 4, 0) X(asin, asin, 3, 0) X(acos, acos, 3, 0)    \
  X(atan, atan, 3, 0) X(sinh, sinh, 4, 0) X(cosh, cosh, 3, 0) X(tanh, tanh, 3, 0)                  \
  X(asinh, asinh, 4, 0) X(acosh, acosh, 4, 0) X(atanh, atanh, 4, 0) X(exp, exp, 2, 0)              \
  X(exp2, exp2, 2, 0) X(exp10, exp10_of, 4, 0) X(expm1, expm1, 2, 0) X(log, log, 2, 0)             \
  X(log2, log2, 2, 0) X(log10, log10, 2, 0) X(log1p, log1p, 2, 0) X(sqrt, sqrt, 0, 0)              \
  X(rsqrt, 1 / sqrt, 2, 0) X(cbrt, cbrt, 2, 0) X(erf, erf, 3, 0) X(erfc, erfc, 6, 0)               \
  X(tgamma, gamma_of, 12, 0) X(lgamma, lgamma, 8, 1e-14) X(j0, j0, 10, 1e-14) X(j1, j1, 10, 1e-14) \
  X(floor, floor, 0, 0) X(ceil, ceil, 0, 0) X(trunc, trunc, 0, 0) X(round, round, 0, 0)            \
  X(rint, rint, 0, 0) X(nearbyint, nearbyint, 0, 0) X(fabs, fabs, 0, 0) X(logb, logb, 0, 0)        \
  X(sinpi, sin_pi, 6, 1e-13) X(cospi, cos_pi, 6, 1e-13) X(normcdf, normal_cdf, 12, 0)
#define BINARY(X)                                                                                  \
  X(pow, pow, 3, 0) X(atan2, atan2, 3, 0) X(fmod, fmod, 0, 0) X(hypot, hypot, 3, 0)                \
  X(fmin, fmin, 0, 0) X(fmax, fmax, 0, 0) X(fdim, fdim, 0, 0) X(copysign, copysign, 0, 0)          \
  X(remainder, remainder, 0, 0) X(nextafter, nextafter, 0, 0)

static double exp10_of(double x) { return pow(10, x); }
static double gamma_of(double x) { return x == 0 ? 1 / x : std::isinf(x) && x < 0 ? NAN : tgamma(x); }
static double sin_pi(double x) { return sin(M_PI * fmod(x, 2)); }
static double cos_pi(double x) { return cos(M_PI * fmod(x, 2)); }
static double normal_cdf(double x) { return double(erfcl(-x / sqrtl(2.0L)) / 2); }

__global__ void evaluate(double *out, const double *xs, const double *ys, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  double x = xs[i], y = ys[i];
#define X(device, host, limit, absolute) out[i] = device(x), out += n;
  UNARY(X)
#undef X
#define X(device, host, limit, absolute) out[i] = device(x, y), out += n;
  BINARY(X)
#undef X
}

// std:: names and the overloads of C++ reach the same functions.
__global__ void overloads(double *out) {
  double x = 0.75;
  float f = 0.75f;
  int e;
  out[0] = std::sin(x) + std::pow(x, 3) + std::abs(-x) + abs(-3) + std::max(2, 3);
  out[1] = std::exp(f) + sqrt(f) + pow(f, 2.0f) + fabs(-f) + floor(f);
  out[2] = fma(x, x, 1.0) + frexp(10.0, &e) + e + ldexp(x, 4) + ilogb(100.0);
  double s, c;
  sincos(x, &s, &c);
  out[3] = s * 2 + c;
  out[4] = norm3d(1, 2, 2) + norm4d(1, 1, 1, 1) + rnorm3d(1, 2, 2);
  out[5] = double(lround(2.5)) + double(llrint(3.5)) + modf(2.25, &s) + s;
  out[6] = min(1.5, 2.5) + max(1.5f, 2.5f) + min(3u, 4u) + max(-5LL, 6LL);
  out[7] = isnan(nan("")) + 2 * isinf(HUGE_VAL) + 4 * isfinite(x) + 8 * !!signbit(-x);
}

int main() {
  constexpr int n = 512, functions = 64;
  double *x = managed<double>(n), *y = managed<double>(n), *out = managed<double>(n * functions);
  fill(x, n, 20, 1);
  fill(y, n, 9, 2);
  evaluate<<<4, 128>>>(out, x, y, n);
  finish_kernel();
  double *o = out;
#define X(device, host, limit, absolute)                                                           \
  compare(#device, o, x, y, n, limit, absolute, [](double v, double) -> double { return host(v); }), o += n;
  UNARY(X)
#undef X
#define X(device, host, limit, absolute)                                                           \
  compare(#device, o, x, y, n, limit, absolute, [](double v, double w) -> double { return host(v, w); }), o += n;
  BINARY(X)
  overloads<<<1, 1>>>(out);
  finish_kernel();
  double v = 0.75;
  double want[] = {sin(v) + v * v * v + v + 3 + 3, expf(0.75f) + sqrtf(0.75f) + 0.5625f + 0.75f,
                   1.5625 + 0.625 + 4 + 12 + 6,    2 * sin(v) + cos(v),
                   3 + 2 + 1 / 3.0,                3 + 4 + 0.25 + 2,
                   1.5 + 2.5 + 3 + 6,              15};
  for (int i = 0; i < 8; ++i)
    EXPECT(fabs(out[i] - want[i]) < (i == 1 ? 1e-6 : 1e-14) || !printf("overloads %d: %.17g %.17g\n", i, out[i], want[i]));
  return result();
}
