// What streams and graphs cost and gain: launches of small kernels in the default stream and in one of the program's own, graphs of twenty of
// them, and two streams with copies and kernels of one block beside one of them alone. Says times and ratios; checks what the kernels computed.
//   regrain -O3 --offload-arch=cpu streams.cu -o streams && ./streams
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                                                \
  do {                                                                                             \
    if (cudaError_t error = (call)) {                                                              \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                          \
      std::exit(1);                                                                                \
    }                                                                                              \
  } while (0)

__global__ void empty() {}
__global__ void add(int *data, int v) { data[blockIdx.x * blockDim.x + threadIdx.x] += v; }
__global__ void iterate(float *data, int rounds) {
  float x = data[threadIdx.x];
  for (int i = 0; i < rounds; ++i)
    x = x * 0.999f + 0.5f;
  data[threadIdx.x] = x;
}

// Microseconds of the fastest of some runs.
template <typename Run> double fastest(Run run, int runs) {
  double least = 1e30;
  for (int i = 0; i < runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    CHECK(cudaDeviceSynchronize());
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    least = std::min(least, time.count());
  }
  return least;
}

int main(int argc, char **argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 20, launches = 10000, nodes = 20;
  const size_t bytes = 16 << 20;
  cudaStream_t streams[2];
  int *data, expected = 0, found = 0;
  for (cudaStream_t &stream : streams)
    CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMalloc(&data, 256 * sizeof(int)));
  CHECK(cudaMemset(data, 0, 256 * sizeof(int)));

  auto of = [&](auto &&launch, cudaStream_t stream) {
    return fastest([&] { for (int i = 0; i < launches; ++i) launch(stream); }, runs) / launches;
  };
  auto nothing = [](cudaStream_t stream) { empty<<<1, 32, 0, stream>>>(); };
  auto adding = [&](cudaStream_t stream) { ++expected, add<<<4, 64, 0, stream>>>(data, 1); };
  const double one = of(adding, nullptr), own = of(adding, streams[0]);
  std::printf("launch of 256 threads   default stream %.3f us, own stream %.3f us, ratio %.2f\n", one, own, own / one);
  const double none = of(nothing, nullptr), none_own = of(nothing, streams[0]);
  std::printf("launch of nothing       default stream %.3f us, own stream %.3f us, ratio %.2f\n", none, none_own, none_own / none);

  cudaGraph_t graph;
  cudaGraphExec_t instance;
  CHECK(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal));
  for (int i = 0; i < nodes; ++i)
    add<<<4, 64, 0, streams[0]>>>(data, 1);
  CHECK(cudaStreamEndCapture(streams[0], &graph));
  CHECK(cudaGraphInstantiate(&instance, graph, 0));
  auto replaying = [&](cudaStream_t stream) {
    expected += nodes;
    CHECK(cudaGraphLaunch(instance, stream));
  };
  const double replay = of(replaying, streams[0]), replay_one = of(replaying, nullptr);
  std::printf("graph of %d             default stream %.3f us, own stream %.3f us, of %d launches %.2f and %.2f\n", nodes,
              replay_one, replay, nodes, replay_one / (nodes * one), replay / (nodes * own));
  CHECK(cudaMemcpy(&found, data + 255, sizeof found, cudaMemcpyDeviceToHost));
  if (found != expected)
    return std::printf("WRONG: %d, expected %d\n", found, expected), 1;

  char *host[2], *device[2];
  float *values[2];
  for (int i = 0; i < 2; ++i) {
    CHECK(cudaMallocHost(&host[i], bytes));
    CHECK(cudaMalloc(&device[i], bytes));
    CHECK(cudaMalloc(&values[i], 32 * sizeof(float)));
    CHECK(cudaMemset(values[i], 0, 32 * sizeof(float)));
    std::memset(host[i], i + 1, bytes);
  }
  auto work = [&](int i) {
    for (int round = 0; round < 4; ++round) {
      CHECK(cudaMemcpyAsync(device[i], host[i], bytes, cudaMemcpyHostToDevice, streams[i]));
      iterate<<<1, 32, 0, streams[i]>>>(values[i], 2000000);
      CHECK(cudaMemcpyAsync(host[i], device[i], bytes, cudaMemcpyDeviceToHost, streams[i]));
    }
  };
  const double first = fastest([&] { work(0); }, runs), second = fastest([&] { work(1); }, runs);
  const double both = fastest([&] { work(0), work(1); }, runs);
  std::printf("two streams             one %.0f us, the other %.0f us, both %.0f us, of their sum %.2f\n", first, second, both,
              both / (first + second));
  float ends[2];
  for (int i = 0; i < 2; ++i)
    CHECK(cudaMemcpy(&ends[i], values[i], sizeof(float), cudaMemcpyDeviceToHost));
  const bool right = ends[0] == ends[1] && ends[0] > 499 && ends[0] < 501 && host[0][bytes - 1] == 1 && host[1][0] == 2;
  std::printf(right ? "right\n" : "WRONG: %g and %g\n", ends[0], ends[1]);
  return !right;
}
