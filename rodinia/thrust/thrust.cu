// Six algorithms of Thrust and CUB against the standard library: `thrust --count N --repeat R`.
// Of each it prints milliseconds of the first call, and the median of `--repeat` calls after it for either side, the sides in turn;
// memory for temporary storage is part of a call, as a program that calls Thrust has it, and printed by itself as well.
#include "algorithms.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cub/device/device_histogram.cuh>
#include <ctime>
#include <functional>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

namespace {

struct Odd {
  __host__ __device__ bool operator()(int x) const { return (x & 1) != 0; }
};

struct Options {
  size_t count = 100003;
  int repeat = 3;
  const char *only = nullptr;
  clockid_t clock = CLOCK_MONOTONIC;
  bool reference = true;
};

Options options;
bool passed = true;

double milliseconds(const std::function<void()> &work) {
  auto now = [] {
    timespec t;
    clock_gettime(options.clock, &t);
    return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
  };
  double start = now();
  work();
  cudaDeviceSynchronize();
  return now() - start;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

// `prepare` brings inputs back that a call changes and is not timed; `same` compares the results.
void measure(const char *name, const std::function<void()> &prepare, const std::function<void()> &ours,
             const std::function<void()> &theirs, const std::function<bool()> &same) {
  if (options.only && std::strcmp(options.only, name) != 0)
    return;
  prepare();
  double first = milliseconds(ours);
  std::vector<double> mine, reference;
  for (int i = 0; i < options.repeat; ++i) {
    prepare();
    mine.push_back(milliseconds(ours));
    if (options.reference)
      reference.push_back(milliseconds(theirs));
  }
  std::printf("%s_first %.4f ms\n%s %.4f ms\n", name, first, name, median(mine));
  if (!options.reference)
    return;
  std::printf("%s_std %.4f ms\n", name, median(reference));
  if (!same()) {
    std::printf("%s: results differ\n", name);
    passed = false;
  }
}

template <typename T> bool equal(const thrust::device_vector<T> &device, const std::vector<T> &host, size_t count) {
  std::vector<T> copy(count);
  thrust::copy(device.begin(), device.begin() + count, copy.begin());
  return std::equal(copy.begin(), copy.end(), host.begin());
}

uint32_t random_bits(uint64_t i) {
  uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return uint32_t(x ^ x >> 31);
}

void parse(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    auto is = [&](const char *name) { return std::strcmp(argv[i], name) == 0; };
    if (is("--cpu-clock"))
      options.clock = CLOCK_PROCESS_CPUTIME_ID;
    else if (is("--no-check"))
      options.reference = false;
    else if (is("--count") && i + 1 < argc)
      options.count = std::strtoull(argv[++i], nullptr, 10);
    else if (is("--repeat") && i + 1 < argc)
      options.repeat = std::max(1, std::atoi(argv[++i]));
    else if (is("--only") && i + 1 < argc)
      options.only = argv[++i];
    else {
      std::fprintf(stderr, "usage: thrust [--count N] [--repeat N] [--only NAME] [--cpu-clock] [--no-check]\n");
      std::exit(2);
    }
  }
}

} // namespace

int main(int argc, char **argv) {
  parse(argc, argv);
  size_t n = options.count;
  std::vector<int> values(n), keys(n), out(n), unique(n), sums(n), counts(bins);
  std::vector<uint32_t> unsorted(n), sorted(n);
  for (size_t i = 0; i < n; ++i) {
    unsorted[i] = random_bits(i);
    values[i] = int(unsorted[i] % upper);
    // Runs of about eight.
    keys[i] = i == 0 ? 0 : keys[i - 1] + (random_bits(i + n) % 8 == 0);
  }
  thrust::device_vector<int> d_values = values, d_keys = keys, d_out(n), d_unique(n), d_sums(n), d_counts(bins);
  thrust::device_vector<uint32_t> d_unsorted = unsorted, d_sorted(n);
  auto nothing = [] {};

  int sum = 0, sum_std = 0;
  measure("reduce", nothing, [&] { sum = thrust::reduce(d_values.begin(), d_values.end()); },
          [&] { sum_std = host::reduce(values); }, [&] { return sum == sum_std; });
  measure("scan", nothing, [&] { thrust::inclusive_scan(d_values.begin(), d_values.end(), d_out.begin()); },
          [&] { host::scan(values, out); }, [&] { return equal(d_out, out, n); });
  measure("sort", [&] { d_sorted = d_unsorted, sorted = unsorted; }, [&] { thrust::sort(d_sorted.begin(), d_sorted.end()); },
          [&] { host::sort(sorted); }, [&] { return equal(d_sorted, sorted, n); });
  size_t runs = 0, runs_std = 0;
  measure(
      "reduce_by_key", nothing,
      [&] {
        auto end = thrust::reduce_by_key(d_keys.begin(), d_keys.end(), d_values.begin(), d_unique.begin(), d_sums.begin());
        runs = end.first - d_unique.begin();
      },
      [&] { runs_std = host::reduce_by_key(keys, values, unique, sums); },
      [&] { return runs == runs_std && equal(d_unique, unique, runs) && equal(d_sums, sums, runs); });
  size_t kept = 0, kept_std = 0;
  measure("select", nothing, [&] { kept = thrust::copy_if(d_values.begin(), d_values.end(), d_out.begin(), Odd()) - d_out.begin(); },
          [&] { kept_std = host::select(values, out); }, [&] { return kept == kept_std && equal(d_out, out, kept); });
  size_t bytes = 0;
  auto histogram = [&](void *storage) {
    cub::DeviceHistogram::HistogramEven(storage, bytes, thrust::raw_pointer_cast(d_values.data()),
                                        thrust::raw_pointer_cast(d_counts.data()), bins + 1, 0, upper, int(n));
  };
  measure(
      "histogram", nothing,
      [&] {
        void *storage = nullptr;
        histogram(nullptr);
        cudaMalloc(&storage, bytes);
        histogram(storage);
        cudaFree(storage);
      },
      [&] { host::histogram(values, counts); }, [&] { return equal(d_counts, counts, bins); });
  measure(
      "storage", nothing,
      [&] {
        void *storage = nullptr;
        cudaMalloc(&storage, std::max<size_t>(n / 100, 1024));
        cudaFree(storage);
      },
      nothing, [] { return true; });
  std::puts(passed ? "PASS" : "FAIL");
  return passed ? 0 : 1;
}
