// The price of an Asian option by Monte Carlo: a thread for each path, with a generator of its own; each block of 256
// adds up what its paths pay, by shuffles and through shared memory.
#include "asian.h"
#include "idiom.h"
#include "twins.h"

__global__ void simulate(Asian option, float *sums, int paths) {
  __shared__ float warps[kGroup / 32];
  const int path = blockIdx.x * kGroup + threadIdx.x;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float payoff = path < paths ? path_payoff(option, path) : 0.0f;
  for (int offset = 16; offset > 0; offset /= 2)
    payoff += __shfl_down_sync(0xffffffffu, payoff, offset);
  if (lane == 0)
    warps[warp] = payoff;
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0.0f;
    for (int w = 0; w < kGroup / 32; ++w)
      sum += warps[w];
    sums[blockIdx.x] = sum;
  }
}

int main(int argc, char **argv) {
  int paths = 5001, steps = 16;
  bench::IdiomOptions options("montecarlo", "Asian option by Monte Carlo");
  options.add("paths", &paths, 1, 100000000, "simulated paths");
  options.add("steps", &steps, 1, 1000, "steps of a path");
  options.parse(argc, argv);

  const Asian option = {100.0f, 100.0f, 0.0005f, 0.02f, steps, static_cast<unsigned>(options.seed)};
  const int groups = bench::pieces(paths, kGroup);
  const bench::DeviceArray<float> sums(groups);
  const auto kernels = [&] {
    simulate<<<groups, kGroup>>>(option, sums.get(), paths);
    CHECK_LAUNCH();
  };
  std::vector<float> want(groups);
  return bench::judge(
      options, sums, kernels, want, [&] { twin::montecarlo(option, want.data(), paths); }, 1e-3, 10.0);
}
