// What this machine can do at most, with all threads: the peer for "how far from the limit". Used by bench.py.
//   probe BYTES   GB/s over BYTES of memory: of a triad (a = b + s * c), written bytes counted once, or of a sum, the faster
//   probe         Gflop/s of multiplications and additions of floats in registers, fused or not as it is compiled
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <omp.h>

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The best of all repetitions within half a second: `once` gives the work of one.
template <typename Once> static double best_rate(Once once) {
  double best = 0.0;
  for (const double start = now(); now() - start < 0.5;) {
    const double before = now();
    const double work = once();
    best = std::max(best, work / (now() - before));
  }
  return best;
}

static double bandwidth(size_t bytes) {
  const size_t count = std::max<size_t>(bytes / 12, 1024);
  std::unique_ptr<float[]> a(new float[count]), b(new float[count]), c(new float[count]);
  // Each thread touches first what it uses later.
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < count; ++i)
    a[i] = 0.0f, b[i] = 1.0f, c[i] = float(i);
  float *__restrict to = a.get();
  const float *__restrict left = b.get();
  const float *__restrict right = c.get();
  const double triad = best_rate([&] {
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < count; ++i)
      to[i] = left[i] + 3.0f * right[i];
    return 12.0 * count;
  });
  static volatile float sink;
  const double sum = best_rate([&] {
    float total = 0.0f;
#pragma omp parallel for simd schedule(static) reduction(+ : total)
    for (size_t i = 0; i < count; ++i)
      total += to[i] + left[i] + right[i];
    sink = total;
    return 12.0 * count;
  });
  return std::max(triad, sum);
}

static double arithmetic() {
  // Enough independent chains to hide the latency of two vector units, each 16 wide at most.
  static constexpr int chains = 16 * 16, steps = 20000;
  static volatile float sink;
  return best_rate([] {
#pragma omp parallel
    {
      alignas(64) float x[chains];
      for (int k = 0; k < chains; ++k)
        x[k] = 1.0f + k;
      for (int i = 0; i < steps; ++i)
#pragma omp simd
        for (int k = 0; k < chains; ++k)
          x[k] = x[k] * 0.999f + 0.001f;
      float sum = 0.0f;
      for (int k = 0; k < chains; ++k)
        sum += x[k];
      sink = sum;
    }
    return 2.0 * chains * steps * omp_get_max_threads();
  });
}

int main(int argc, char **argv) {
  if (argc > 1)
    std::printf("%.2f\n", bandwidth(std::strtoull(argv[1], nullptr, 10)) / 1e9);
  else
    std::printf("%.2f\n", arithmetic() / 1e9);
}
