// Softmax of each row: a block of 256 threads for a row finds its largest value and the sum of exponentials by trees in
// shared memory.
#include "idiom.h"
#include "twins.h"

#include <cfloat>

constexpr int kThreads = 256;

__global__ void softmax(const float *in, float *out, int cols) {
  __shared__ float shared[kThreads];

  const int tid = threadIdx.x;
  const float *row = in + static_cast<size_t>(blockIdx.x) * cols;
  float *result = out + static_cast<size_t>(blockIdx.x) * cols;

  float largest = -FLT_MAX;
  for (int col = tid; col < cols; col += kThreads)
    largest = fmaxf(largest, row[col]);
  shared[tid] = largest;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (tid < half)
      shared[tid] = fmaxf(shared[tid], shared[tid + half]);
    __syncthreads();
  }
  largest = shared[0];
  __syncthreads();

  float sum = 0.0f;
  for (int col = tid; col < cols; col += kThreads) {
    const float power = expf(row[col] - largest);
    result[col] = power;
    sum += power;
  }
  shared[tid] = sum;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (tid < half)
      shared[tid] += shared[tid + half];
    __syncthreads();
  }
  const float scale = 1.0f / shared[0];

  for (int col = tid; col < cols; col += kThreads)
    result[col] *= scale;
}

int main(int argc, char **argv) {
  int rows = 101, cols = 777;
  bench::IdiomOptions options("softmax", "softmax of rows by trees in shared memory");
  options.add("rows", &rows, 1, 1000000, "rows");
  options.add("cols", &cols, 1, 1000000, "columns");
  options.parse(argc, argv);

  const size_t count = static_cast<size_t>(rows) * cols;
  const std::vector<float> data = options.floats(0, count, -4.0f, 4.0f);
  const bench::DeviceArray<float> in(data), out(count);
  const auto kernels = [&] {
    softmax<<<rows, kThreads>>>(in.get(), out.get(), cols);
    CHECK_LAUNCH();
  };
  std::vector<float> want(count);
  return bench::judge(
      options, out, kernels, want, [&] { twin::softmax(data.data(), want.data(), rows, cols); }, 1e-4, 1e-5);
}
