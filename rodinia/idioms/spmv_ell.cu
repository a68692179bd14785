// A sparse matrix in ELLPACK form times a vector: rows are filled up to the same length and stored column by column, so
// that neighbouring threads read neighbouring entries. A filler has the column -1.
#include "idiom.h"
#include "sparse.h"
#include "twins.h"

constexpr int kThreads = 256;

__global__ void multiply(const int *__restrict__ cols, const float *__restrict__ values,
                         const float *__restrict__ x, float *__restrict__ y, int rows, int width) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float sum = 0.0f;
  for (int e = 0; e < width; ++e) {
    const size_t at = static_cast<size_t>(e) * rows + row;
    const int col = cols[at];
    if (col >= 0)
      sum += values[at] * x[col];
  }
  y[row] = sum;
}

int main(int argc, char **argv) {
  int rows = 20001, width = 12;
  bench::IdiomOptions options("spmv_ell", "sparse matrix in ELLPACK form times vector");
  options.add("rows", &rows, 1, 10000000, "rows and columns");
  options.add("width", &width, 1, 1000, "entries of a row at most");
  options.parse(argc, argv);

  const Csr matrix = random_csr(options.generator(0), rows, (width + 1) / 2, width);
  std::vector<int> ell_cols(static_cast<size_t>(rows) * width, -1);
  std::vector<float> ell_values(ell_cols.size(), 0.0f);
  for (int row = 0; row < rows; ++row)
    for (int e = matrix.start[row]; e < matrix.start[row + 1]; ++e) {
      const size_t at = static_cast<size_t>(e - matrix.start[row]) * rows + row;
      ell_cols[at] = matrix.cols[e];
      ell_values[at] = matrix.values[e];
    }
  const std::vector<float> vector = options.floats(1, rows, 0.0f, 1.0f);

  const bench::DeviceArray<int> cols(ell_cols);
  const bench::DeviceArray<float> values(ell_values), x(vector), y(rows);
  const auto kernels = [&] {
    multiply<<<bench::pieces(rows, kThreads), kThreads>>>(cols.get(), values.get(), x.get(), y.get(), rows,
                                                          width);
    CHECK_LAUNCH();
  };
  std::vector<float> want(rows);
  const auto reference = [&] {
    twin::spmv_ell(ell_cols.data(), ell_values.data(), vector.data(), want.data(), rows, width);
  };
  return bench::judge(options, y, kernels, want, reference, 1e-5, 1.0);
}
