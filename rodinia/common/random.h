// Deterministic data: a counter-based generator, so that element i has the same
// value whatever the order, the number of threads or the machine.
#pragma once

#include <cstdint>

namespace bench {

class CounterRandom {
public:
  explicit CounterRandom(std::uint64_t seed) : seed_(mix(seed ^ 0x6a09e667f3bcc909ull)) {}

  // 64 random bits for `index`.
  std::uint64_t bits(std::uint64_t index) const {
    return mix(seed_ + (index + 1) * 0x9e3779b97f4a7c15ull);
  }

  // Uniform in [0, 1), a multiple of 2^-24, so exact in float.
  float unit(std::uint64_t index) const {
    return static_cast<float>(bits(index) >> 40) * (1.0f / 16777216.0f);
  }

  float uniform(std::uint64_t index, float low, float high) const {
    return low + (high - low) * unit(index);
  }

  // Uniform in [0, bound), bound > 0.
  std::uint32_t below(std::uint64_t index, std::uint32_t bound) const {
    return static_cast<std::uint32_t>(((bits(index) >> 32) * bound) >> 32);
  }

private:
  // The finaliser of Steele, Lea and Flood's SplitMix.
  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }

  std::uint64_t seed_;
};

} // namespace bench
