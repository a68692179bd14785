// Prices of options: elements in parallel.
#include "twins.h"

#include <cmath>

void twin::blackscholes(const float *stocks, const float *strikes, const float *years, float *prices,
                        float rate, float volatility, int count) {
  const auto cumulative_normal = [](float x) { return 0.5f * std::erfc(-0.70710678f * x); };
#pragma omp parallel for schedule(static)
  for (int i = 0; i < count; ++i) {
    const float stock = stocks[i], strike = strikes[i], time = years[i];
    const float spread = volatility * std::sqrt(time);
    const float d1 = (std::log(stock / strike) + (rate + 0.5f * volatility * volatility) * time) / spread;
    const float d2 = d1 - spread;
    const float discounted = strike * std::exp(-rate * time);
    const float n1 = cumulative_normal(d1), n2 = cumulative_normal(d2);
    prices[i] = stock * n1 - discounted * n2;
    prices[count + i] = discounted * (1.0f - n2) - stock * (1.0f - n1);
  }
}
