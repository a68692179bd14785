// Breadth-first search with a queue: a thread for each node of the frontier claims unseen neighbours by
// compare-and-swap and appends them to the next frontier; the host reads how long that is.
#include "idiom.h"
#include "sparse.h"
#include "twins.h"

#include <utility>

constexpr int kThreads = 256;

__global__ void start_search(int *levels, int *frontier, int root, int nodes) {
  const int node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node < nodes)
    levels[node] = node == root ? 0 : -1;
  if (node == 0)
    frontier[0] = root;
}

__global__ void expand(const int *start, const int *neighbours, int *levels, const int *frontier,
                       int frontier_size, int *next, int *next_size, int level) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= frontier_size)
    return;
  const int node = frontier[i];
  for (int e = start[node]; e < start[node + 1]; ++e) {
    const int neighbour = neighbours[e];
    if (levels[neighbour] == -1 && atomicCAS(&levels[neighbour], -1, level) == -1)
      next[atomicAdd(next_size, 1)] = neighbour;
  }
}

int main(int argc, char **argv) {
  int nodes = 20001, degree = 6;
  bench::IdiomOptions options("bfs_queue", "breadth-first search with a queue");
  options.add("nodes", &nodes, 1, 10000000, "nodes of the graph");
  options.add("degree", &degree, 1, 1000, "edges of a node at most");
  options.parse(argc, argv);

  const Csr graph = random_csr(options.generator(0), nodes, 1, degree);
  const int root = 0;
  const bench::DeviceArray<int> start(graph.start), neighbours(graph.cols), levels(nodes);
  const bench::DeviceArray<int> first(nodes), second(nodes), size(1);
  const auto kernels = [&] {
    int *frontier = first.get(), *next = second.get();
    start_search<<<bench::pieces(nodes, kThreads), kThreads>>>(levels.get(), frontier, root, nodes);
    CHECK_LAUNCH();
    int frontier_size = 1;
    for (int level = 1; frontier_size > 0; ++level) {
      CHECK_CUDA(cudaMemset(size.get(), 0, sizeof(int)));
      expand<<<bench::pieces(frontier_size, kThreads), kThreads>>>(
          start.get(), neighbours.get(), levels.get(), frontier, frontier_size, next, size.get(), level);
      CHECK_LAUNCH();
      CHECK_CUDA(cudaMemcpy(&frontier_size, size.get(), sizeof(int), cudaMemcpyDeviceToHost));
      std::swap(frontier, next);
    }
  };
  std::vector<int> want(nodes);
  return bench::judge(options, levels, kernels, want, [&] { twin::bfs_queue(graph, want.data(), root); });
}
