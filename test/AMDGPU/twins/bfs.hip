// The kernels of rodinia/bfs, ported to HIP by hand. What they compute is said there.
#include "hip.h"

struct Node {
  int first_edge;
  int edge_count;
};

constexpr int kBlock = 512;

// Several threads may reach a node at once: all write the same values.
__global__ void expand_frontier(const Node *nodes, const int *targets, bool *frontier,
                                bool *reached, const bool *visited, int *level, int count) {
  const int node = blockIdx.x * kBlock + threadIdx.x;
  if (node < count && frontier[node]) {
    frontier[node] = false;
    const int first = nodes[node].first_edge;
    for (int edge = first; edge < first + nodes[node].edge_count; ++edge) {
      const int target = targets[edge];
      if (!visited[target]) {
        level[target] = level[node] + 1;
        reached[target] = true;
      }
    }
  }
}

__global__ void commit_frontier(bool *frontier, bool *reached, bool *visited, bool *done,
                                int count) {
  const int node = blockIdx.x * kBlock + threadIdx.x;
  if (node < count && reached[node]) {
    frontier[node] = true;
    visited[node] = true;
    *done = false;
    reached[node] = false;
  }
}
