// Breadth-first search, level by level: each thread collects its part of the next frontier and appends it as a whole.
#include "sparse.h"
#include "twins.h"

#include <algorithm>

namespace {

bool claim(int *level, int value) {
  int unseen = -1;
  return __atomic_load_n(level, __ATOMIC_RELAXED) == -1 &&
         __atomic_compare_exchange_n(level, &unseen, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

} // namespace

void twin::bfs_queue(const Csr &graph, int *levels, int root) {
  std::fill(levels, levels + graph.rows, -1);
  std::vector<int> frontier(graph.rows), next(graph.rows);
  levels[root] = 0;
  frontier[0] = root;
  int size = 1, next_size = 0;
#pragma omp parallel
  {
    std::vector<int> own;
    for (int level = 1; size > 0; ++level) {
#pragma omp for schedule(dynamic, 256) nowait
      for (int i = 0; i < size; ++i)
        for (int e = graph.start[frontier[i]]; e < graph.start[frontier[i] + 1]; ++e)
          if (claim(&levels[graph.cols[e]], level))
            own.push_back(graph.cols[e]);
      int at;
#pragma omp atomic capture
      {
        at = next_size;
        next_size += static_cast<int>(own.size());
      }
      std::copy(own.begin(), own.end(), next.begin() + at);
      own.clear();
#pragma omp barrier
#pragma omp single
      {
        frontier.swap(next);
        size = next_size;
        next_size = 0;
      }
    }
  }
}
