// idioms/blackscholes.cu in OpenCL.
#include "idiom.h"

const char *const kSource = R"cl(
float cumulative_normal(float x) { return 0.5f * erfc(-0.70710678f * x); }

kernel void price_options(global const float *restrict stocks, global const float *restrict strikes,
                          global const float *restrict years, global float *restrict prices, float rate,
                          float volatility, int count) {
  for (int i = get_global_id(0); i < count; i += get_global_size(0)) {
    const float stock = stocks[i], strike = strikes[i], time = years[i];
    const float spread = volatility * sqrt(time);
    const float d1 = (log(stock / strike) + (rate + 0.5f * volatility * volatility) * time) / spread;
    const float d2 = d1 - spread;
    const float discounted = strike * exp(-rate * time);
    const float n1 = cumulative_normal(d1), n2 = cumulative_normal(d2);
    prices[i] = stock * n1 - discounted * n2;
    prices[count + i] = discounted * (1.0f - n2) - stock * (1.0f - n1);
  }
}
)cl";

int main(int argc, char **argv) {
  int count = 20001;
  bench::IdiomOptions options("blackscholes", "option prices, elementwise");
  options.add("count", &count, 1, 100000000, "options");
  options.parse(argc, argv);

  const float rate = 0.02f, volatility = 0.3f;
  const std::vector<float> s = options.floats(0, count, 5.0f, 30.0f), k = options.floats(1, count, 1.0f, 100.0f),
                           t = options.floats(2, count, 0.25f, 10.0f);
  const bench::DeviceArray<float> stocks(s), strikes(k), years(t), prices(2 * static_cast<size_t>(count));
  const bench::Kernel price_options(kSource, "price_options");
  const auto kernels = [&] {
    price_options.launch({480, 1, 1}, {128, 1, 1}, stocks, strikes, years, prices, rate, volatility, count);
  };
  std::vector<float> want(2 * static_cast<size_t>(count));
  const auto reference = [&] {
    twin::blackscholes(s.data(), k.data(), t.data(), want.data(), rate, volatility, count);
  };
  return bench::judge(options, prices, kernels, want, reference, 1e-4, 1.0);
}
