// Exclusive prefix sums: each thread adds up its share, then scans it from where the shares before it end.
#include "twins.h"

#include <omp.h>
#include <vector>

void twin::scan_sweep(const int *in, int *out, int count) {
  std::vector<int> sums(omp_get_max_threads() + 1, 0);
#pragma omp parallel
  {
    const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
    const int first = static_cast<long long>(count) * thread / threads;
    const int last = static_cast<long long>(count) * (thread + 1) / threads;
    int sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = first; i < last; ++i)
      sum += in[i];
    sums[thread + 1] = sum;
#pragma omp barrier
    int before = 0;
    for (int i = 0; i <= thread; ++i)
      before += sums[i];
    for (int i = first; i < last; ++i) {
      out[i] = before;
      before += in[i];
    }
  }
}
