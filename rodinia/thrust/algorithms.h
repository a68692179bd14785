// The six algorithms of a library for GPUs that thrust.cu runs, as the standard library has them, on one core.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

constexpr int bins = 256;
constexpr int upper = 1 << 16;

namespace host {
int reduce(const std::vector<int> &in);
void scan(const std::vector<int> &in, std::vector<int> &out);
void sort(std::vector<uint32_t> &keys);
size_t reduce_by_key(const std::vector<int> &keys, const std::vector<int> &values, std::vector<int> &unique, std::vector<int> &sums);
size_t select(const std::vector<int> &in, std::vector<int> &out);
void histogram(const std::vector<int> &in, std::vector<int> &counts);
} // namespace host
