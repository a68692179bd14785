// A sparse matrix in compressed rows times a vector, a warp for each row: lanes stride over the entries and add up by
// shuffles.
#include "idiom.h"
#include "sparse.h"
#include "twins.h"

constexpr int kThreads = 256;
constexpr int kWarp = 32;

__global__ void multiply(const int *__restrict__ start, const int *__restrict__ cols,
                         const float *__restrict__ values, const float *__restrict__ x,
                         float *__restrict__ y, int rows) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarp;
  const int lane = threadIdx.x % kWarp;
  if (row >= rows)
    return;
  float sum = 0.0f;
  const int last = start[row + 1];
  for (int e = start[row] + lane; e < last; e += kWarp)
    sum += values[e] * __ldg(&x[cols[e]]);
  for (int offset = kWarp / 2; offset > 0; offset /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (lane == 0)
    y[row] = sum;
}

int main(int argc, char **argv) {
  int rows = 4001, most = 120;
  bench::IdiomOptions options("spmv_vector", "sparse matrix times vector, a warp for each row");
  options.add("rows", &rows, 1, 10000000, "rows and columns");
  options.add("most", &most, 20, 10000, "entries of a row at most");
  options.parse(argc, argv);

  const Csr matrix = random_csr(options.generator(0), rows, 20, most);
  const std::vector<float> vector = options.floats(1, rows, 0.0f, 1.0f);
  const bench::DeviceArray<int> start(matrix.start), cols(matrix.cols);
  const bench::DeviceArray<float> values(matrix.values), x(vector), y(rows);
  const auto kernels = [&] {
    multiply<<<bench::pieces(rows, kThreads / kWarp), kThreads>>>(start.get(), cols.get(), values.get(),
                                                                  x.get(), y.get(), rows);
    CHECK_LAUNCH();
  };
  std::vector<float> want(rows);
  return bench::judge(
      options, y, kernels, want, [&] { twin::spmv_vector(matrix, vector.data(), want.data()); }, 1e-5, 1.0);
}
