// A parallel merge sort: runs by std::sort, then merges of neighbours; the last ones split at the median of the longer
// run, so that all threads have work.
#include "twins.h"

#include <algorithm>

namespace {

constexpr int kSerial = 1 << 14;

// Merges a[0, na) and b[0, nb) into `out`.
void merge(const int *a, int na, const int *b, int nb, int *out) {
  if (na + nb <= kSerial) {
    std::merge(a, a + na, b, b + nb, out);
    return;
  }
  if (na < nb) {
    std::swap(a, b);
    std::swap(na, nb);
  }
  const int middle = na / 2;
  const int split = static_cast<int>(std::lower_bound(b, b + nb, a[middle]) - b);
#pragma omp task
  merge(a, middle, b, split, out);
  merge(a + middle, na - middle, b + split, nb - split, out + middle + split);
#pragma omp taskwait
}

// Sorts `keys`; the result is in `scratch` if asked for.
void sort(int *keys, int *scratch, int count, bool into_scratch) {
  if (count <= kSerial) {
    std::sort(keys, keys + count);
    if (into_scratch)
      std::copy(keys, keys + count, scratch);
    return;
  }
  const int half = count / 2;
#pragma omp task
  sort(keys, scratch, half, !into_scratch);
  sort(keys + half, scratch + half, count - half, !into_scratch);
#pragma omp taskwait
  const int *from = into_scratch ? keys : scratch;
  merge(from, half, from + half, count - half, into_scratch ? scratch : keys);
}

} // namespace

void twin::sort_bitonic(int *keys, int *scratch, int count) {
#pragma omp parallel
#pragma omp single
  sort(keys, scratch, count, false);
}
