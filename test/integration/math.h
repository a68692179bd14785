// Sweeps of device math functions against the host's.
#pragma once

#include "check.h"

// The distance of two values in units of the last place of type T.
template <typename T> double ulps(T actual, double expected) {
  if (std::isnan(expected) || std::isnan(actual))
    return std::isnan(expected) && std::isnan(actual) ? 0 : HUGE_VAL;
  T rounded = T(expected);
  if (std::isinf(rounded) || std::isinf(actual))
    return rounded == actual ? 0 : HUGE_VAL;
  T magnitude = std::fabs(rounded);
  T unit = std::nextafter(magnitude, T(HUGE_VAL)) - magnitude;
  return std::fabs(double(actual) - expected) / double(unit);
}

// Holds `actual` to `limit` ulps, or to `absolute` where a function has a zero.
template <typename T>
void compare(const char *name, const T *actual, const T *x, const T *y, int n, double limit, double absolute,
             double (*host)(double, double)) {
  for (int i = 0; i < n; ++i) {
    double want = host(x[i], y[i]);
    if (ulps(actual[i], want) <= limit || std::fabs(actual[i] - want) <= absolute)
      continue;
    if (++failures <= 20)
      std::printf("failed: %s(%.9g, %.9g) is %.17g, expected %.17g\n", name, double(x[i]), double(y[i]),
                  double(actual[i]), want);
  }
}

// Arguments: special values, powers of two, then a deterministic spread over [-range, range].
template <typename T> void fill(T *x, int n, double range, unsigned seed) {
  const double special[] = {0.0, -0.0, 1, -1, 0.5, -0.5, 2, 3, -2.5, 1.5, 1e-3, -1e-6, HUGE_VAL, -HUGE_VAL, NAN, 10};
  for (int i = 0; i < n; ++i) {
    seed = seed * 1664525u + 1013904223u;
    x[i] = i < 16 ? special[(i + seed % 3) % 16] : T((seed / 4294967296.0 * 2 - 1) * (i % 3 ? range : 1));
  }
}
