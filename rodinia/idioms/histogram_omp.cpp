// A histogram of bytes: four tables for each thread, so that equal neighbours do not wait for one another.
#include "twins.h"

#include <algorithm>

void twin::histogram(const unsigned char *bytes, int *bins, std::size_t count) {
  constexpr int kBins = 256, kTables = 4;
  std::fill(bins, bins + kBins, 0);
#pragma omp parallel
  {
    int own[kTables][kBins] = {};
    // The count is a multiple of four.
#pragma omp for schedule(static) nowait
    for (std::size_t i = 0; i < count; i += kTables)
      for (int table = 0; table < kTables; ++table)
        ++own[table][bytes[i + table]];
#pragma omp critical
    for (int bin = 0; bin < kBins; ++bin)
      bins[bin] += own[0][bin] + own[1][bin] + own[2][bin] + own[3][bin];
  }
}
