// idioms/softmax.cu in OpenCL.
#include "idiom.h"

const char *const kSource = R"cl(
kernel void softmax(global const float *in, global float *out, int cols) {
  local float shared[256];

  const int tid = get_local_id(0);
  global const float *row = in + (size_t)get_group_id(0) * cols;
  global float *result = out + (size_t)get_group_id(0) * cols;

  float largest = -FLT_MAX;
  for (int col = tid; col < cols; col += 256)
    largest = fmax(largest, row[col]);
  shared[tid] = largest;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_size = 128; half_size > 0; half_size /= 2) {
    if (tid < half_size)
      shared[tid] = fmax(shared[tid], shared[tid + half_size]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  largest = shared[0];
  barrier(CLK_LOCAL_MEM_FENCE);

  float sum = 0.0f;
  for (int col = tid; col < cols; col += 256) {
    const float power = exp(row[col] - largest);
    result[col] = power;
    sum += power;
  }
  shared[tid] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_size = 128; half_size > 0; half_size /= 2) {
    if (tid < half_size)
      shared[tid] += shared[tid + half_size];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const float scale = 1.0f / shared[0];

  for (int col = tid; col < cols; col += 256)
    result[col] *= scale;
}
)cl";

int main(int argc, char **argv) {
  int rows = 101, cols = 777;
  bench::IdiomOptions options("softmax", "softmax of rows by trees in shared memory");
  options.add("rows", &rows, 1, 1000000, "rows");
  options.add("cols", &cols, 1, 1000000, "columns");
  options.parse(argc, argv);

  const size_t count = static_cast<size_t>(rows) * cols;
  const std::vector<float> data = options.floats(0, count, -4.0f, 4.0f);
  const bench::DeviceArray<float> in(data), out(count);
  const bench::Kernel softmax(kSource, "softmax");
  const auto kernels = [&] {
    softmax.launch({static_cast<size_t>(rows), 1, 1}, {256, 1, 1}, in, out, cols);
  };
  std::vector<float> want(count);
  return bench::judge(
      options, out, kernels, want, [&] { twin::softmax(data.data(), want.data(), rows, cols); }, 1e-4, 1e-5);
}
