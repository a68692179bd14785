// A matrix in half precision times a vector, as when a language model makes one token: a warp for each row reads pairs
// of halves, adds up in single precision and reduces by shuffles.
#include "idiom.h"
#include "twins.h"

#include <cuda_fp16.h>

constexpr int kWarp = 32;
constexpr int kWarps = 4;

__global__ void narrow(const float *from, __half *to, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    to[i] = __float2half(from[i]);
}

__global__ void multiply(const __half2 *__restrict__ matrix, const __half2 *__restrict__ x,
                         float *__restrict__ y, int rows, int pairs) {
  const int row = blockIdx.x * kWarps + threadIdx.y;
  if (row >= rows)
    return;
  const __half2 *own = matrix + static_cast<size_t>(row) * pairs;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < pairs; i += kWarp) {
    const float2 a = __half22float2(own[i]), b = __half22float2(x[i]);
    sum += a.x * b.x + a.y * b.y;
  }
  for (int offset = kWarp / 2; offset > 0; offset /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x == 0)
    y[row] = sum;
}

int main(int argc, char **argv) {
  int rows = 401, pairs = 300;
  bench::IdiomOptions options("gemv_half", "matrix in half precision times vector");
  options.add("rows", &rows, 1, 32768, "rows of the matrix");
  options.add("pairs", &pairs, 1, 16384, "pairs of columns");
  options.parse(argc, argv);

  // Multiples of 1/64 below 1 are exact in half precision.
  const auto halves = [&](int stream, size_t count) {
    std::vector<float> values(count);
    const std::vector<int> whole = options.integers(stream, count, 64);
    for (size_t i = 0; i < count; ++i)
      values[i] = static_cast<float>(whole[i]) / 64.0f;
    return values;
  };
  const size_t count = 2 * static_cast<size_t>(rows) * pairs;
  const std::vector<float> wide_matrix = halves(0, count), wide_x = halves(1, 2 * pairs);
  const bench::DeviceArray<float> from_matrix(wide_matrix), from_x(wide_x), y(rows);
  const bench::DeviceArray<__half> matrix(count), x(2 * pairs);
  narrow<<<bench::pieces(count, 256), 256>>>(from_matrix.get(), matrix.get(), static_cast<int>(count));
  CHECK_LAUNCH();
  narrow<<<bench::pieces(2 * pairs, 256), 256>>>(from_x.get(), x.get(), 2 * pairs);
  CHECK_LAUNCH();

  const auto kernels = [&] {
    multiply<<<bench::pieces(rows, kWarps), dim3(kWarp, kWarps)>>>(
        reinterpret_cast<const __half2 *>(matrix.get()), reinterpret_cast<const __half2 *>(x.get()), y.get(),
        rows, pairs);
    CHECK_LAUNCH();
  };
  std::vector<float> want(rows);
  twin::HalfMatrix *halved = twin::make_half(wide_matrix.data(), wide_x.data(), rows, 2 * pairs);
  const int status = bench::judge(
      options, y, kernels, want, [&] { twin::gemv_half(*halved, want.data()); }, 1e-4, 1.0);
  twin::free_half(halved);
  return status;
}
