// Matrix product with register blocking: 256 threads make a tile of 64x64, each 4x4 elements in registers, from slices
// 16 deep of both factors in shared memory; the left one is stored transposed.
#include "idiom.h"
#include "twins.h"

constexpr int kTile = 64;
constexpr int kDepth = 16;
constexpr int kPer = 4;
constexpr int kSide = kTile / kPer;

__global__ void multiply(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c,
                         int m, int n, int k) {
  __shared__ float left[kDepth][kTile + 1];
  __shared__ float right[kDepth][kTile];

  const int tid = threadIdx.y * kSide + threadIdx.x;
  const int top = blockIdx.y * kTile, west = blockIdx.x * kTile;
  float sum[kPer][kPer] = {};
  for (int first = 0; first < k; first += kDepth) {
    for (int i = tid; i < kTile * kDepth; i += kSide * kSide) {
      const int row = top + i / kDepth, deep = first + i % kDepth;
      left[i % kDepth][i / kDepth] = row < m && deep < k ? a[static_cast<size_t>(row) * k + deep] : 0.0f;
      const int down = first + i / kTile, col = west + i % kTile;
      right[i / kTile][i % kTile] = down < k && col < n ? b[static_cast<size_t>(down) * n + col] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int p = 0; p < kDepth; ++p) {
      float rows[kPer], cols[kPer];
#pragma unroll
      for (int i = 0; i < kPer; ++i) {
        rows[i] = left[p][threadIdx.y * kPer + i];
        cols[i] = right[p][threadIdx.x + i * kSide];
      }
#pragma unroll
      for (int i = 0; i < kPer; ++i)
#pragma unroll
        for (int j = 0; j < kPer; ++j)
          sum[i][j] += rows[i] * cols[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < kPer; ++i)
    for (int j = 0; j < kPer; ++j) {
      const int row = top + threadIdx.y * kPer + i, col = west + threadIdx.x + j * kSide;
      if (row < m && col < n)
        c[static_cast<size_t>(row) * n + col] = sum[i][j];
    }
}

int main(int argc, char **argv) {
  int m = 100, n = 130, k = 90;
  bench::IdiomOptions options("matmul_blocked", "matrix product with blocks in registers");
  options.add("m", &m, 1, 8192, "rows of the result");
  options.add("n", &n, 1, 8192, "columns of the result");
  options.add("k", &k, 1, 8192, "columns of the left factor");
  options.parse(argc, argv);

  const std::vector<float> left = options.floats(0, static_cast<size_t>(m) * k, -1.0f, 1.0f);
  const std::vector<float> right = options.floats(1, static_cast<size_t>(k) * n, -1.0f, 1.0f);
  std::vector<float> want(static_cast<size_t>(m) * n);
  const bench::DeviceArray<float> a(left), b(right), c(want.size());
  const dim3 block(kSide, kSide), blocks(bench::pieces(n, kTile), bench::pieces(m, kTile));
  const auto kernels = [&] {
    multiply<<<blocks, block>>>(a.get(), b.get(), c.get(), m, n, k);
    CHECK_LAUNCH();
  };
  return bench::judge(
      options, c, kernels, want,
      [&] { twin::matmul_blocked(left.data(), right.data(), want.data(), m, n, k); }, 1e-4, 1.0);
}
