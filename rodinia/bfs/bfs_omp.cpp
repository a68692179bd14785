// Host reference: breadth-first search level by level with a queue of the
// frontier; threads claim nodes with a compare-and-swap and gather their part of
// the next frontier apart. A level's set of nodes does not depend on their order,
// so the result is equal to the kernels' in every bit.
#include "bfs.h"

#include <atomic>
#include <cstddef>

namespace {

using Level = std::atomic<int>;

// Claims the unvisited targets of `node` for `level` and appends them to `found`.
void expand(const Graph &graph, int node, int level, std::vector<Level> &levels,
            std::vector<int> &found) {
  const Node edges = graph.nodes[node];
  for (int i = 0; i < edges.edge_count; ++i) {
    const int target = graph.targets[edges.first_edge + i];
    int unvisited = -1;
    if (levels[target].load(std::memory_order_relaxed) < 0 &&
        levels[target].compare_exchange_strong(unvisited, level, std::memory_order_relaxed))
      found.push_back(target);
  }
}

} // namespace

std::vector<int> bfs_reference(const Graph &graph, int source) {
  const std::size_t count = graph.nodes.size();
  std::vector<Level> levels(count);
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < count; ++i)
    levels[i].store(-1, std::memory_order_relaxed);
  levels[source].store(0, std::memory_order_relaxed);

  std::vector<int> frontier = {source};
  std::vector<int> next;
  for (int level = 1; !frontier.empty(); ++level) {
    next.clear();
#pragma omp parallel if (frontier.size() > 512)
    {
      std::vector<int> found;
#pragma omp for schedule(dynamic, 256) nowait
      for (std::size_t i = 0; i < frontier.size(); ++i)
        expand(graph, frontier[i], level, levels, found);
#pragma omp critical
      next.insert(next.end(), found.begin(), found.end());
    }
    frontier.swap(next);
  }

  std::vector<int> result(count);
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < count; ++i)
    result[i] = levels[i].load(std::memory_order_relaxed);
  return result;
}
