// The dot product of two vectors: each thread adds up a grid-stride share, warps reduce by shuffles, the warps of a
// block through shared memory, and a second launch of one block adds the blocks' sums.
#include "idiom.h"
#include "twins.h"

constexpr int kThreads = 256;
constexpr int kBlocks = 256;

__device__ static float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2)
    value += __shfl_down_sync(0xffffffffu, value, offset);
  return value;
}

// In thread 0: the sum over the block.
__device__ static float block_sum(float value) {
  __shared__ float warps[kThreads / 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  value = warp_sum(value);
  if (lane == 0)
    warps[warp] = value;
  __syncthreads();
  value = threadIdx.x < kThreads / 32 ? warps[lane] : 0.0f;
  return warp == 0 ? warp_sum(value) : 0.0f;
}

__global__ void dot(const float *a, const float *b, float *sums, int count) {
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    sum += a[i] * b[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0)
    sums[blockIdx.x] = sum;
}

__global__ void add_up(const float *sums, float *result, int count) {
  float sum = 0.0f;
  for (int i = threadIdx.x; i < count; i += blockDim.x)
    sum += sums[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0)
    *result = sum;
}

int main(int argc, char **argv) {
  int count = 300001;
  bench::IdiomOptions options("dot_shuffle", "dot product by warp shuffles");
  options.add("count", &count, 1, 100000000, "elements of each vector");
  options.parse(argc, argv);

  const std::vector<float> left = options.floats(0, count, 0.0f, 1.0f);
  const std::vector<float> right = options.floats(1, count, 0.0f, 1.0f);
  const bench::DeviceArray<float> a(left), b(right), sums(kBlocks), result(1);
  const auto kernels = [&] {
    dot<<<kBlocks, kThreads>>>(a.get(), b.get(), sums.get(), count);
    CHECK_LAUNCH();
    add_up<<<1, kThreads>>>(sums.get(), result.get(), kBlocks);
    CHECK_LAUNCH();
  };
  std::vector<float> want(1);
  return bench::judge(
      options, result, kernels, want,
      [&] { want[0] = twin::dot_shuffle(left.data(), right.data(), count); }, 1e-4, 1.0);
}
