#include "algorithms.h"
#include <algorithm>
#include <iterator>
#include <numeric>

int host::reduce(const std::vector<int> &in) { return std::reduce(in.begin(), in.end()); }

void host::scan(const std::vector<int> &in, std::vector<int> &out) { std::inclusive_scan(in.begin(), in.end(), out.begin()); }

void host::sort(std::vector<uint32_t> &keys) { std::sort(keys.begin(), keys.end()); }

// The standard library has neither this nor the histogram: the plain loops.
size_t host::reduce_by_key(const std::vector<int> &keys, const std::vector<int> &values, std::vector<int> &unique,
                           std::vector<int> &sums) {
  size_t runs = 0;
  for (size_t i = 0; i < keys.size();) {
    int key = keys[i], sum = 0;
    for (; i < keys.size() && keys[i] == key; ++i)
      sum += values[i];
    unique[runs] = key;
    sums[runs++] = sum;
  }
  return runs;
}

size_t host::select(const std::vector<int> &in, std::vector<int> &out) {
  return std::copy_if(in.begin(), in.end(), out.begin(), [](int x) { return (x & 1) != 0; }) - out.begin();
}

void host::histogram(const std::vector<int> &in, std::vector<int> &counts) {
  std::fill(counts.begin(), counts.end(), 0);
  for (int x : in)
    if (x >= 0 && x < upper)
      ++counts[x / (upper / bins)];
}
