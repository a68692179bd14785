// Causal attention without the matrix of scores: a thread for each query keeps its sum in registers and renews the
// softmax as tiles of 32 keys and values come through shared memory.
#include "idiom.h"
#include "twins.h"

#include <cfloat>

constexpr int kHead = 32;
constexpr int kTile = 32;
constexpr int kThreads = 128;

// All arrays: heads x length x kHead.
__global__ void attend(const float *__restrict__ queries, const float *__restrict__ keys,
                       const float *__restrict__ values, float *__restrict__ out, int length, float scale) {
  __shared__ float key[kTile][kHead];
  __shared__ float value[kTile][kHead];

  const size_t head = static_cast<size_t>(blockIdx.y) * length * kHead;
  const int query = blockIdx.x * kThreads + threadIdx.x;
  const bool active = query < length;

  float own[kHead], sum[kHead];
#pragma unroll
  for (int d = 0; d < kHead; ++d) {
    own[d] = active ? queries[head + static_cast<size_t>(query) * kHead + d] * scale : 0.0f;
    sum[d] = 0.0f;
  }
  float largest = -FLT_MAX, weight = 0.0f;

  // No query of the block sees keys behind its last one.
  const int visible = min(length, static_cast<int>(blockIdx.x + 1) * kThreads);
  for (int first = 0; first < visible; first += kTile) {
    const int tile = min(kTile, visible - first);
    for (int i = threadIdx.x; i < tile * kHead; i += kThreads) {
      const size_t at = head + static_cast<size_t>(first) * kHead + i;
      key[i / kHead][i % kHead] = keys[at];
      value[i / kHead][i % kHead] = values[at];
    }
    __syncthreads();

    const int seen = active ? min(tile, query - first + 1) : 0;
    for (int k = 0; k < seen; ++k) {
      float score = 0.0f;
#pragma unroll
      for (int d = 0; d < kHead; ++d)
        score += own[d] * key[k][d];
      const float renewed = fmaxf(largest, score);
      const float keep = expf(largest - renewed), gain = expf(score - renewed);
      largest = renewed;
      weight = weight * keep + gain;
#pragma unroll
      for (int d = 0; d < kHead; ++d)
        sum[d] = sum[d] * keep + gain * value[k][d];
    }
    __syncthreads();
  }

  if (active)
#pragma unroll
    for (int d = 0; d < kHead; ++d)
      out[head + static_cast<size_t>(query) * kHead + d] = sum[d] / weight;
}

int main(int argc, char **argv) {
  int heads = 2, length = 201;
  bench::IdiomOptions options("attention", "causal attention with a running softmax");
  options.add("heads", &heads, 1, 1024, "heads of 32 numbers");
  options.add("length", &length, 1, 65536, "queries and keys of a head");
  options.parse(argc, argv);

  const size_t count = static_cast<size_t>(heads) * length * kHead;
  const std::vector<float> q = options.floats(0, count, -1.0f, 1.0f), k = options.floats(1, count, -1.0f, 1.0f),
                           v = options.floats(2, count, -1.0f, 1.0f);
  const bench::DeviceArray<float> queries(q), keys(k), values(v), out(count);
  const float scale = 0.17677669f; // 1 / sqrt(kHead)
  const dim3 blocks(bench::pieces(length, kThreads), heads);
  const auto kernels = [&] {
    attend<<<blocks, kThreads>>>(queries.get(), keys.get(), values.get(), out.get(), length, scale);
    CHECK_LAUNCH();
  };
  std::vector<float> want(count);
  const auto reference = [&] {
    twin::attention(q.data(), k.data(), v.data(), want.data(), heads, length, scale);
  };
  return bench::judge(options, out, kernels, want, reference, 1e-4, 0.1);
}
