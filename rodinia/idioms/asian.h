// The random walk that montecarlo and its twin follow: an Asian option on a stock.
#pragma once

#include "sides.h"

#include <cmath>
#include <cstdint>

constexpr int kGroup = 256;

struct Asian {
  float start, strike, drift, volatility; // drift and volatility of one step
  int steps;
  unsigned seed;
};

BOTH_SIDES inline std::uint32_t mixed(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

// Uniform in (0, 1]; advances the xorshift generator.
BOTH_SIDES inline float next_uniform(std::uint32_t &state) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return static_cast<float>((state >> 8) + 1) * (1.0f / 16777216.0f);
}

// What path `number` pays: the mean of its prices above the strike.
BOTH_SIDES inline float path_payoff(const Asian &option, std::uint32_t number) {
  std::uint32_t state = mixed(number * 2654435769u + mixed(option.seed + 1)) | 1u;
  float price = option.start, sum = 0.0f;
  for (int step = 0; step < option.steps; ++step) {
    // Box and Muller's normal deviate.
    const float radius = sqrtf(-2.0f * logf(next_uniform(state)));
    const float normal = radius * cosf(6.2831853f * next_uniform(state));
    price *= expf(option.drift + option.volatility * normal);
    sum += price;
  }
  return fmaxf(sum / static_cast<float>(option.steps) - option.strike, 0.0f);
}
