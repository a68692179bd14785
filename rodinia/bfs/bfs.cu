// BFS: breadth-first search of a graph, level by level, a thread for each node.
// A first kernel expands the nodes of the frontier, a second makes the nodes
// reached the next frontier and clears the host's stop flag.
#include "../common/device.h"
#include "../common/options.h"
#include "../common/random.h"
#include "../common/report.h"
#include "bfs.h"

#include <string>
#include <vector>

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

namespace {

// Each node has up to 2*degree - 1 edges to random nodes, and one to the node
// after it every now and then, which makes some long ways.
Graph make_graph(int count, int degree, const bench::CounterRandom &random) {
  Graph graph;
  graph.nodes.resize(count);
  size_t draw = 0;
  for (int node = 0; node < count; ++node) {
    graph.nodes[node].first_edge = static_cast<int>(graph.targets.size());
    const int edges = static_cast<int>(random.below(draw++, 2 * degree));
    for (int i = 0; i < edges; ++i)
      graph.targets.push_back(static_cast<int>(random.below(draw++, count)));
    if (random.below(draw++, 4) == 0)
      graph.targets.push_back((node + 1) % count);
    graph.nodes[node].edge_count =
        static_cast<int>(graph.targets.size()) - graph.nodes[node].first_edge;
  }
  // Never an empty array on the device.
  if (graph.targets.empty())
    graph.targets.push_back(0);
  return graph;
}

std::vector<int> search(const Graph &graph, int source, bench::Report &report) {
  const int count = static_cast<int>(graph.nodes.size());
  bench::Stopwatch total;
  bench::DeviceArray<Node> nodes(graph.nodes);
  bench::DeviceArray<int> targets(graph.targets);
  bench::DeviceArray<bool> frontier(count), reached(count), visited(count), done(1);
  frontier.fill_bytes(0);
  reached.fill_bytes(0);
  visited.fill_bytes(0);
  std::vector<int> unreached(count, -1);
  unreached[source] = 0;
  bench::DeviceArray<int> level(unreached);
  CHECK_CUDA(cudaMemset(frontier.get() + source, 1, 1));
  CHECK_CUDA(cudaMemset(visited.get() + source, 1, 1));

  const int blocks = (count + kBlock - 1) / kBlock;
  bench::DeviceTimer timer;
  for (bool stop = false; !stop;) {
    stop = true;
    CHECK_CUDA(cudaMemcpy(done.get(), &stop, sizeof stop, cudaMemcpyHostToDevice));
    expand_frontier<<<blocks, kBlock>>>(nodes.get(), targets.get(), frontier.get(), reached.get(),
                                        visited.get(), level.get(), count);
    CHECK_LAUNCH();
    commit_frontier<<<blocks, kBlock>>>(frontier.get(), reached.get(), visited.get(), done.get(),
                                        count);
    CHECK_LAUNCH();
    CHECK_CUDA(cudaMemcpy(&stop, done.get(), sizeof stop, cudaMemcpyDeviceToHost));
  }
  report.kernel_ms = timer.stop();
  std::vector<int> result = level.download();
  report.total_ms = total.milliseconds();
  return result;
}

} // namespace

int main(int argc, char **argv) {
  int count = 65536, degree = 6, source = 0;
  bench::Options options("bfs", "breadth-first search of a random graph");
  options.add("nodes", &count, 1, 50000000, "nodes of the graph");
  options.add("degree", &degree, 1, 16, "edges of a node, on average");
  options.add("source", &source, 0, 49999999, "node to start at");
  options.parse(argc, argv);
  if (source >= count)
    options.reject("--source wants a node below " + std::to_string(count) + ", got '" +
                   std::to_string(source) + "'");

  const Graph graph = make_graph(count, degree, bench::CounterRandom(options.seed));

  bench::Report report(options);
  const std::vector<int> result = search(graph, source, report);
  report.result(result);
  if (!options.no_check) {
    bench::Stopwatch reference;
    const std::vector<int> want = bfs_reference(graph, source);
    report.reference_ms = reference.milliseconds();
    report.compare(result, want);
  }
  return report.finish();
}
