// Ordered compaction: each thread counts what it keeps, then writes it behind the shares before its own.
#include "twins.h"

#include <omp.h>
#include <vector>

int twin::compact_ballot(const int *values, int *kept, int count, int threshold) {
  std::vector<int> counts(omp_get_max_threads() + 1, 0);
#pragma omp parallel
  {
    const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
    const int first = static_cast<long long>(count) * thread / threads;
    const int last = static_cast<long long>(count) * (thread + 1) / threads;
    int own = 0;
#pragma omp simd reduction(+ : own)
    for (int i = first; i < last; ++i)
      own += values[i] > threshold;
    counts[thread + 1] = own;
#pragma omp barrier
    int place = 0;
    for (int i = 0; i <= thread; ++i)
      place += counts[i];
    for (int i = first; i < last; ++i)
      if (values[i] > threshold)
        kept[place++] = values[i];
  }
  int total = 0;
  for (int own : counts)
    total += own;
  return total;
}
