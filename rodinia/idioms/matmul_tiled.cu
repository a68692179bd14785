// Matrix product: tiles of 16x16 of both factors in shared memory, a thread for each element of the result.
#include "idiom.h"
#include "twins.h"

constexpr int kTile = 16;

__global__ void multiply(const float *a, const float *b, float *c, int m, int n, int k) {
  __shared__ float left[kTile][kTile];
  __shared__ float right[kTile][kTile];

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * kTile + ty;
  const int col = blockIdx.x * kTile + tx;
  float sum = 0.0f;
  for (int first = 0; first < k; first += kTile) {
    left[ty][tx] = row < m && first + tx < k ? a[static_cast<size_t>(row) * k + first + tx] : 0.0f;
    right[ty][tx] = first + ty < k && col < n ? b[static_cast<size_t>(first + ty) * n + col] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int p = 0; p < kTile; ++p)
      sum += left[ty][p] * right[p][tx];
    __syncthreads();
  }
  if (row < m && col < n)
    c[static_cast<size_t>(row) * n + col] = sum;
}

int main(int argc, char **argv) {
  int m = 100, n = 130, k = 90;
  bench::IdiomOptions options("matmul_tiled", "matrix product with tiles in shared memory");
  options.add("m", &m, 1, 8192, "rows of the result");
  options.add("n", &n, 1, 8192, "columns of the result");
  options.add("k", &k, 1, 8192, "columns of the left factor");
  options.parse(argc, argv);

  const std::vector<float> left = options.floats(0, static_cast<size_t>(m) * k, -1.0f, 1.0f);
  const std::vector<float> right = options.floats(1, static_cast<size_t>(k) * n, -1.0f, 1.0f);
  std::vector<float> want(static_cast<size_t>(m) * n);
  const bench::DeviceArray<float> a(left), b(right), c(want.size());
  const dim3 block(kTile, kTile), blocks(bench::pieces(n, kTile), bench::pieces(m, kTile));
  const auto kernels = [&] {
    multiply<<<blocks, block>>>(a.get(), b.get(), c.get(), m, n, k);
    CHECK_LAUNCH();
  };
  return bench::judge(
      options, c, kernels, want,
      [&] { twin::matmul_tiled(left.data(), right.data(), want.data(), m, n, k); }, 1e-4, 1.0);
}
