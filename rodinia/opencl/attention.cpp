// idioms/attention.cu in OpenCL.
#include "idiom.h"

constexpr int kHead = 32;
constexpr int kThreads = 128;

const char *const kSource = R"cl(
#define HEAD 32
#define TILE 32
#define THREADS 128

kernel void attend(global const float *restrict queries, global const float *restrict keys,
                   global const float *restrict values, global float *restrict out, int length, float scale) {
  local float key[TILE][HEAD];
  local float value[TILE][HEAD];

  const size_t head = (size_t)get_group_id(1) * length * HEAD;
  const int query = get_global_id(0);
  const bool active = query < length;

  float own[HEAD], sum[HEAD];
#pragma unroll
  for (int d = 0; d < HEAD; ++d) {
    own[d] = active ? queries[head + (size_t)query * HEAD + d] * scale : 0.0f;
    sum[d] = 0.0f;
  }
  float largest = -FLT_MAX, weight = 0.0f;

  const int visible = min(length, (int)(get_group_id(0) + 1) * THREADS);
  for (int first = 0; first < visible; first += TILE) {
    const int tile = min(TILE, visible - first);
    for (int i = get_local_id(0); i < tile * HEAD; i += THREADS) {
      const size_t at = head + (size_t)first * HEAD + i;
      key[i / HEAD][i % HEAD] = keys[at];
      value[i / HEAD][i % HEAD] = values[at];
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    const int seen = active ? min(tile, query - first + 1) : 0;
    for (int k = 0; k < seen; ++k) {
      float score = 0.0f;
#pragma unroll
      for (int d = 0; d < HEAD; ++d)
        score += own[d] * key[k][d];
      const float renewed = fmax(largest, score);
      const float keep = exp(largest - renewed), gain = exp(score - renewed);
      largest = renewed;
      weight = weight * keep + gain;
#pragma unroll
      for (int d = 0; d < HEAD; ++d)
        sum[d] = sum[d] * keep + gain * value[k][d];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }

  if (active)
#pragma unroll
    for (int d = 0; d < HEAD; ++d)
      out[head + (size_t)query * HEAD + d] = sum[d] / weight;
}
)cl";

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
  const bench::Kernel attend(kSource, "attend");
  const bench::Shape blocks = {static_cast<size_t>(bench::pieces(length, kThreads)), static_cast<size_t>(heads), 1};
  const auto kernels = [&] {
    attend.launch(blocks, {kThreads, 1, 1}, queries, keys, values, out, length, scale);
  };
  std::vector<float> want(count);
  const auto reference = [&] {
    twin::attention(q.data(), k.data(), v.data(), want.data(), heads, length, scale);
  };
  return bench::judge(options, out, kernels, want, reference, 1e-4, 0.1);
}
