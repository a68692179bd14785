// A sparse matrix in compressed rows times a vector, a thread for each row.
#include "idiom.h"
#include "sparse.h"
#include "twins.h"

constexpr int kThreads = 128;

__global__ void multiply(const int *start, const int *cols, const float *values, const float *x, float *y,
                         int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float sum = 0.0f;
    for (int e = start[row]; e < start[row + 1]; ++e)
      sum += values[e] * x[cols[e]];
    y[row] = sum;
  }
}

int main(int argc, char **argv) {
  int rows = 20001, most = 15;
  bench::IdiomOptions options("spmv_scalar", "sparse matrix times vector, a thread for each row");
  options.add("rows", &rows, 1, 10000000, "rows and columns");
  options.add("most", &most, 1, 1000, "entries of a row at most");
  options.parse(argc, argv);

  const Csr matrix = random_csr(options.generator(0), rows, 1, most);
  const std::vector<float> vector = options.floats(1, rows, 0.0f, 1.0f);
  const bench::DeviceArray<int> start(matrix.start), cols(matrix.cols);
  const bench::DeviceArray<float> values(matrix.values), x(vector), y(rows);
  const auto kernels = [&] {
    multiply<<<bench::pieces(rows, kThreads), kThreads>>>(start.get(), cols.get(), values.get(), x.get(),
                                                          y.get(), rows);
    CHECK_LAUNCH();
  };
  std::vector<float> want(rows);
  return bench::judge(
      options, y, kernels, want, [&] { twin::spmv_scalar(matrix, vector.data(), want.data()); }, 1e-5, 1.0);
}
