// A histogram of bytes: each block has its own 256 counters in shared memory, the threads walk over the data with a
// grid stride, four bytes at a time, and the counters are added to the global ones.
#include "idiom.h"
#include "twins.h"

#include <cstring>

constexpr int kThreads = 256;
constexpr int kBlocks = 240;
constexpr int kBins = 256;

__global__ void count_bytes(const unsigned *words, int *bins, int count) {
  __shared__ int own[kBins];
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x)
    own[bin] = 0;
  __syncthreads();

  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const unsigned word = words[i];
    atomicAdd(&own[word & 255], 1);
    atomicAdd(&own[(word >> 8) & 255], 1);
    atomicAdd(&own[(word >> 16) & 255], 1);
    atomicAdd(&own[word >> 24], 1);
  }
  __syncthreads();

  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x)
    atomicAdd(&bins[bin], own[bin]);
}

int main(int argc, char **argv) {
  int count = 200001;
  bench::IdiomOptions options("histogram", "histogram with counters in shared memory");
  options.add("count", &count, 1, 100000000, "words of four bytes");
  options.parse(argc, argv);

  // The sum of two dice is what makes some bins more wanted than others.
  const bench::CounterRandom random = options.generator(0);
  std::vector<unsigned char> bytes(4 * static_cast<size_t>(count));
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<unsigned char>(random.below(2 * i, 128) + random.below(2 * i + 1, 129));
  std::vector<unsigned> packed(count);
  std::memcpy(packed.data(), bytes.data(), bytes.size());

  const bench::DeviceArray<unsigned> words(packed);
  bench::DeviceArray<int> bins(kBins);
  const auto kernels = [&] {
    bins.fill_bytes(0);
    count_bytes<<<kBlocks, kThreads>>>(words.get(), bins.get(), count);
    CHECK_LAUNCH();
  };
  std::vector<int> want(kBins);
  return bench::judge(options, bins, kernels, want,
                      [&] { twin::histogram(bytes.data(), want.data(), bytes.size()); });
}
