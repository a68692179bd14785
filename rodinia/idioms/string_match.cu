// How often each of eight patterns occurs in a text of four letters: patterns in constant memory, a tile of the text in
// shared memory, a thread for each place; blocks count in shared memory.
#include "idiom.h"
#include "twins.h"

constexpr int kThreads = 256;
constexpr int kPatterns = 8;
constexpr int kLongest = 32;

__constant__ char patterns[kPatterns * kLongest];

__global__ void count_matches(const char *text, int *counts, int count, int length) {
  __shared__ char tile[kThreads + kLongest];
  __shared__ int found[kPatterns];

  const int tid = threadIdx.x, at = blockIdx.x * kThreads + tid;
  tile[tid] = at < count ? text[at] : '\0';
  if (tid < kLongest)
    tile[kThreads + tid] = at + kThreads < count ? text[at + kThreads] : '\0';
  if (tid < kPatterns)
    found[tid] = 0;
  __syncthreads();

  if (at + length <= count)
    for (int p = 0; p < kPatterns; ++p) {
      int same = 0;
      while (same < length && tile[tid + same] == patterns[p * kLongest + same])
        ++same;
      if (same == length)
        atomicAdd(&found[p], 1);
    }
  __syncthreads();

  if (tid < kPatterns && found[tid] > 0)
    atomicAdd(&counts[tid], found[tid]);
}

int main(int argc, char **argv) {
  int count = 100001, length = 6;
  bench::IdiomOptions options("string_match", "occurrences of patterns in a text");
  options.add("count", &count, 1, 1000000000, "letters of the text");
  options.add("length", &length, 1, kLongest, "letters of a pattern");
  options.parse(argc, argv);

  const std::vector<char> letters = options.integers<char>(0, count, 4);
  const std::vector<char> wanted = options.integers<char>(1, kPatterns * kLongest, 4);
  const bench::DeviceArray<char> text(letters);
  bench::DeviceArray<int> counts(kPatterns);
  CHECK_CUDA(cudaMemcpyToSymbol(patterns, wanted.data(), wanted.size()));
  const auto kernels = [&] {
    counts.fill_bytes(0);
    count_matches<<<bench::pieces(count, kThreads), kThreads>>>(text.get(), counts.get(), count, length);
    CHECK_LAUNCH();
  };
  std::vector<int> want(kPatterns);
  return bench::judge(options, counts, kernels, want, [&] {
    twin::string_match(letters.data(), count, wanted.data(), kPatterns, kLongest, length, want.data());
  });
}
