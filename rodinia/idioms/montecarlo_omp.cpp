// An Asian option by Monte Carlo: groups of paths in parallel.
#include "asian.h"
#include "twins.h"

#include <algorithm>

void twin::montecarlo(const Asian &option, float *sums, int paths) {
  const int groups = (paths + kGroup - 1) / kGroup;
#pragma omp parallel for schedule(static)
  for (int group = 0; group < groups; ++group) {
    const int last = std::min((group + 1) * kGroup, paths);
    float sum = 0.0f;
    for (int path = group * kGroup; path < last; ++path)
      sum += path_payoff(option, path);
    sums[group] = sum;
  }
}
