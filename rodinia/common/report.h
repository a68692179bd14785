// Comparison with the reference, digest and times: what a program prints.
#pragma once

#include "options.h"

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace bench {

class Stopwatch {
public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

// FNV-1a over raw bytes: equal only for results equal bit for bit.
inline std::uint64_t digest_bytes(const void *data, std::size_t bytes,
                                  std::uint64_t hash = 0xcbf29ce484222325ull) {
  const unsigned char *at = static_cast<const unsigned char *>(data);
  for (std::size_t i = 0; i < bytes; ++i)
    hash = (hash ^ at[i]) * 0x100000001b3ull;
  return hash;
}

// One program's result: filled in by the program, judged and printed by finish().
class Report {
public:
  explicit Report(const Options &options) : options_(options) {}

  double kernel_ms = 0.0;
  double total_ms = 0.0;
  double reference_ms = 0.0;

  template <typename T> void result(const std::vector<T> &values) {
    digest_ = digest_bytes(values.data(), values.size() * sizeof(T), digest_);
  }

  // Largest |got - want| / max(floor, |want|); a NaN counts as infinitely far. Integers must be equal with the
  // tolerance 0.
  template <typename T>
  void compare(const std::vector<T> &got, const std::vector<T> &want, double tolerance, double floor) {
    tolerance_ = std::fmax(tolerance_, tolerance);
    for (std::size_t i = 0; i < want.size(); ++i) {
      double error = std::fabs(static_cast<double>(got[i]) - want[i]) /
                     std::fmax(floor, std::fabs(static_cast<double>(want[i])));
      note(std::isnan(error) ? INFINITY : error, tolerance);
    }
  }

  // Integers must be equal.
  void compare(const std::vector<int> &got, const std::vector<int> &want) {
    compare(got, want, 0.0, 1.0);
  }

  // Prints everything asked for and returns the exit code.
  int finish() const {
    const char *name = options_.program();
    if (options_.digest)
      std::printf("%s: digest %016llx\n", name, static_cast<unsigned long long>(digest_));
    if (options_.time) {
      std::printf("%s: kernel %.3f ms, total %.3f ms", name, kernel_ms, total_ms);
      if (!options_.no_check)
        std::printf(", reference %.3f ms", reference_ms);
      std::printf("\n");
    }
    if (options_.no_check) {
      std::printf("%s: DONE not checked\n", name);
      return 0;
    }
    std::printf("%s: %s max error %g (tolerance %g)\n", name, wrong_ ? "FAIL" : "PASS", max_error_,
                tolerance_);
    return wrong_ ? 1 : 0;
  }

private:
  void note(double error, double tolerance) {
    max_error_ = std::fmax(max_error_, error);
    wrong_ += error > tolerance;
  }

  const Options &options_;
  std::uint64_t digest_ = 0xcbf29ce484222325ull;
  double max_error_ = 0.0;
  double tolerance_ = 0.0;
  std::size_t wrong_ = 0;
};

} // namespace bench
