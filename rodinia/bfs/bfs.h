// What the CUDA program and its host reference share.
#pragma once

#include <vector>

// A node's edges are targets[first_edge] ... targets[first_edge + edge_count - 1].
struct Node {
  int first_edge;
  int edge_count;
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<int> targets;
};

// Edges on a shortest way from `source` to each node, -1 where there is none.
std::vector<int> bfs_reference(const Graph &graph, int source);
