// What the programs of this folder share: one run for the result, as many as asked for the times, and the
// comparison with the OpenMP twin.
#pragma once

#ifdef IDIOM_OPENCL
#include "../opencl/device.h"
#else
#include "../common/device.h"
#endif
#include "../common/options.h"
#include "../common/random.h"
#include "../common/report.h"

#include <vector>

namespace bench {

// How many pieces of `size` cover `count`.
constexpr int pieces(long long count, int size) {
  return static_cast<int>((count + size - 1) / size);
}

// Options that all idioms take.
class IdiomOptions : public Options {
public:
  IdiomOptions(const char *program, const char *purpose) : Options(program, purpose) {
    add("repeat", &repeat, 1, 1000000, "runs that --time measures, of the kernels and of the twin");
  }
  int repeat = 1;

  // `count` numbers of the stream `stream`, each in [low, high).
  std::vector<float> floats(int stream, std::size_t count, float low, float high) const {
    const CounterRandom random = generator(stream);
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i)
      values[i] = random.uniform(i, low, high);
    return values;
  }
  // `count` integers in [0, bound).
  template <typename T = int>
  std::vector<T> integers(int stream, std::size_t count, std::uint32_t bound) const {
    const CounterRandom random = generator(stream);
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i)
      values[i] = static_cast<T>(random.below(i, bound));
    return values;
  }
  CounterRandom generator(int stream) const {
    return CounterRandom(static_cast<std::uint64_t>(seed) * 64 + stream);
  }
};

// Runs `kernels`, which leave `output`, and `twin`, which leaves `want`; both start from their inputs each time.
// The first run of either makes the result and touches its memory; --time measures `repeat` runs after it. The
// total is that of the first run on the device with the copy of its result.
template <typename T, typename Kernels, typename Twin>
int judge(const IdiomOptions &options, const DeviceArray<T> &output, Kernels kernels,
          std::vector<T> &want, Twin twin, double tolerance = 0.0, double floor = 1.0) {
  Report report(options);
  Stopwatch total;
  kernels();
  const std::vector<T> result = output.download();
  report.total_ms = total.milliseconds();
  report.result(result);
  if (options.time) {
    DeviceTimer timer;
    for (int run = 0; run < options.repeat; ++run)
      kernels();
    report.kernel_ms = timer.stop();
  }
  if (options.no_check)
    return report.finish();
  twin();
  report.compare(result, want, tolerance, floor);
  if (options.time) {
    Stopwatch reference;
    for (int run = 0; run < options.repeat; ++run)
      twin();
    report.reference_ms = reference.milliseconds();
  }
  return report.finish();
}

} // namespace bench
