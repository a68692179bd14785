// Prices of European options by the formula of Black and Scholes: elementwise mathematics in a grid-stride loop.
#include "idiom.h"
#include "twins.h"

constexpr int kThreads = 128;
constexpr int kBlocks = 480;

__device__ static float cumulative_normal(float x) { return 0.5f * erfcf(-0.70710678f * x); }

// Calls in prices[0, count), puts behind them.
__global__ void price_options(const float *__restrict__ stocks, const float *__restrict__ strikes,
                              const float *__restrict__ years, float *__restrict__ prices, float rate,
                              float volatility, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const float stock = stocks[i], strike = strikes[i], time = years[i];
    const float spread = volatility * sqrtf(time);
    const float d1 = (logf(stock / strike) + (rate + 0.5f * volatility * volatility) * time) / spread;
    const float d2 = d1 - spread;
    const float discounted = strike * expf(-rate * time);
    const float n1 = cumulative_normal(d1), n2 = cumulative_normal(d2);
    prices[i] = stock * n1 - discounted * n2;
    prices[count + i] = discounted * (1.0f - n2) - stock * (1.0f - n1);
  }
}

int main(int argc, char **argv) {
  int count = 20001;
  bench::IdiomOptions options("blackscholes", "option prices, elementwise");
  options.add("count", &count, 1, 100000000, "options");
  options.parse(argc, argv);

  const float rate = 0.02f, volatility = 0.3f;
  const std::vector<float> s = options.floats(0, count, 5.0f, 30.0f), k = options.floats(1, count, 1.0f, 100.0f),
                           t = options.floats(2, count, 0.25f, 10.0f);
  const bench::DeviceArray<float> stocks(s), strikes(k), years(t), prices(2 * static_cast<size_t>(count));
  const auto kernels = [&] {
    price_options<<<kBlocks, kThreads>>>(stocks.get(), strikes.get(), years.get(), prices.get(), rate,
                                         volatility, count);
    CHECK_LAUNCH();
  };
  std::vector<float> want(2 * static_cast<size_t>(count));
  const auto reference = [&] {
    twin::blackscholes(s.data(), k.data(), t.data(), want.data(), rate, volatility, count);
  };
  return bench::judge(options, prices, kernels, want, reference, 1e-4, 1.0);
}
