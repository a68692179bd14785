// idioms/histogram.cu in OpenCL.
#include "idiom.h"

#include <cstring>

const char *const kSource = R"cl(
kernel void count_bytes(global const uint *words, global int *bins, int count) {
  local int own[256];
  for (int bin = get_local_id(0); bin < 256; bin += get_local_size(0))
    own[bin] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);

  for (int i = get_global_id(0); i < count; i += get_global_size(0)) {
    const uint word = words[i];
    atomic_inc(&own[word & 255]);
    atomic_inc(&own[(word >> 8) & 255]);
    atomic_inc(&own[(word >> 16) & 255]);
    atomic_inc(&own[word >> 24]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  for (int bin = get_local_id(0); bin < 256; bin += get_local_size(0))
    atomic_add(&bins[bin], own[bin]);
}
)cl";

int main(int argc, char **argv) {
  int count = 200001;
  bench::IdiomOptions options("histogram", "histogram with counters in shared memory");
  options.add("count", &count, 1, 100000000, "words of four bytes");
  options.parse(argc, argv);

  const bench::CounterRandom random = options.generator(0);
  std::vector<unsigned char> bytes(4 * static_cast<size_t>(count));
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<unsigned char>(random.below(2 * i, 128) + random.below(2 * i + 1, 129));
  std::vector<unsigned> packed(count);
  std::memcpy(packed.data(), bytes.data(), bytes.size());

  const bench::DeviceArray<unsigned> words(packed);
  bench::DeviceArray<int> bins(256);
  const bench::Kernel count_bytes(kSource, "count_bytes");
  const auto kernels = [&] {
    bins.fill_bytes(0);
    count_bytes.launch({240, 1, 1}, {256, 1, 1}, words, bins, count);
  };
  std::vector<int> want(256);
  return bench::judge(options, bins, kernels, want,
                      [&] { twin::histogram(bytes.data(), want.data(), bytes.size()); });
}
