// Blocks that follow one another in x go as one where threads ask for their place in the grid alone: narrow and wide blocks, grids that
// do not fill the problem, places in 32 and 64 bits, from the right, and kernels that ask for more.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

__global__ void stencil(float *out, const float *in, int rows, int cols) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && x < cols - 1 && y > 0 && y < rows - 1)
    out[y * cols + x] = 0.25f * (in[y * cols + x - 1] + in[y * cols + x + 1] + in[(y - 1) * cols + x] + in[(y + 1) * cols + x]);
}

__global__ void from_the_right(int *out, int n) {
  int i = n - 1 - (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= 0)
    out[i] = i * 3;
}

__global__ void wide(long long *out, long long n) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = i << 33;
}

// Beyond the edge the nearest cell counts: only the blocks at the ends of a row meet that.
__global__ void held(int *out, const int *in, int rows, int cols, int reach) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= cols || y >= rows)
    return;
  size_t row = static_cast<size_t>(min(y + 1, rows - 1)) * cols;
  int west = min(max(x - reach, 0), cols - 1), east = max(min(x + reach, cols - 1), 0), middle = min(max(x - 1, 2), cols / 2);
  out[static_cast<size_t>(y) * cols + x] = in[row + west] + 3 * in[row + east] + 5 * in[row + min(middle, cols - 1)];
}

// The same with neighbours that loops count, constant ones and some of unknown number, to be added and to be subtracted.
__global__ void blurred(int *out, const int *in, int rows, int cols) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= cols || y >= rows)
    return;
  unsigned sum = 0;
  for (int i = -1; i < 2; ++i)
    for (int j = -3; j < 2; ++j)
      sum = 3 * sum + in[min(max(y + i, 0), rows - 1) * cols + min(max(x - j, 0), cols - 1)] +
            7 * in[y * cols + max(min(x + j, cols - 1), 0)];
  for (int k = 0; k < rows; ++k)
    sum = 5 * sum + in[k * cols + min(x + k, cols - 1)];
  out[y * cols + x] = static_cast<int>(sum);
}

struct Box {
  int nx, ny, nz;
};

// A small loop and an array of the thread.
__global__ void sorted(int *out, const int *in, Box box) {
  unsigned x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y, z = threadIdx.z + blockIdx.z * blockDim.z;
  if (x >= box.nx || y >= box.ny || z >= box.nz)
    return;
  int at = (z * box.ny + y) * box.nx + x, last[4];
  for (int k = 0; k < 4; ++k)
    last[k] = in[at] * (k + 1) % 7;
  for (int k = 0; k < 3; ++k)
    if (last[k] > last[k + 1]) {
      int t = last[k];
      last[k] = last[k + 1], last[k + 1] = t;
    }
  out[at] = last[0] + 10 * last[1] + 100 * last[2] + 1000 * last[3];
}

// These ask for the thread's number in its block, or of the block, by itself.
__global__ void numbers(int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = threadIdx.x * 10000 + blockIdx.x;
}

__global__ void apart(int *out, int n) {
  int i = blockIdx.x * 2 * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] += 1;
  if (i + (int)blockDim.x < n)
    out[i + blockDim.x] += 2;
}

template <int X> __global__ void constant(int *out, int n) {
  int i = blockIdx.x * X + threadIdx.x;
  if (i < n)
    out[i] = i ^ 5;
}

void lines(int n) {
  int *out = managed<int>(n);
  long long *far = managed<long long>(n);
  for (int threads : {1, 7, 16, 32, 100, 256}) {
    int blocks = (n + threads - 1) / threads;
    from_the_right<<<blocks, threads>>>(out, n);
    wide<<<blocks, threads>>>(far, n);
    finish_kernel();
    for (int i = 0; i < n; ++i)
      EXPECT(out[i] == i * 3 && far[i] == (long long)i << 33);
    numbers<<<blocks, threads>>>(out, n);
    finish_kernel();
    for (int i = 0; i < n; ++i)
      EXPECT(out[i] == i % threads * 10000 + i / threads);
    for (int i = 0; i < n; ++i)
      out[i] = 0;
    apart<<<(blocks + 1) / 2, threads>>>(out, n);
    finish_kernel();
    for (int i = 0; i < n; ++i)
      EXPECT(out[i] == 1 + i / threads % 2);
  }
  constant<16><<<(n + 15) / 16, 16>>>(out, n);
  finish_kernel();
  for (int i = 0; i < n; ++i)
    EXPECT(out[i] == (i ^ 5));
  // Blocks of another size than the kernel's constant.
  for (int i = 0; i < n; ++i)
    out[i] = -1;
  constant<16><<<(n + 15) / 16, 8>>>(out, n);
  finish_kernel();
  for (int i = 0; i < n; ++i)
    EXPECT(out[i] == (i % 16 < 8 ? i ^ 5 : -1));
}

void planes(int rows, int cols) {
  float *in = managed<float>(rows * cols), *out = managed<float>(rows * cols);
  for (int i = 0; i < rows * cols; ++i)
    in[i] = i * 37 % 101;
  for (dim3 shape : {dim3(16, 16), dim3(32, 8), dim3(5, 3), dim3(64, 1), dim3(1, 9)}) {
    for (int i = 0; i < rows * cols; ++i)
      out[i] = -1;
    stencil<<<dim3((cols + shape.x - 1) / shape.x, (rows + shape.y - 1) / shape.y), shape>>>(out, in, rows, cols);
    finish_kernel();
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < cols; ++x) {
        int at = y * cols + x;
        bool inside = x > 0 && x < cols - 1 && y > 0 && y < rows - 1;
        EXPECT(out[at] == (inside ? 0.25f * (in[at - 1] + in[at + 1] + in[at - cols] + in[at + cols]) : -1));
      }
  }
}

int blur(const int *in, int rows, int cols, int y, int x) {
  const auto held = [](int at, int count) { return std::min(std::max(at, 0), count - 1); };
  unsigned sum = 0;
  for (int i = -1; i < 2; ++i)
    for (int j = -3; j < 2; ++j)
      sum = 3 * sum + in[held(y + i, rows) * cols + held(x - j, cols)] + 7 * in[y * cols + held(x + j, cols)];
  for (int k = 0; k < rows; ++k)
    sum = 5 * sum + in[k * cols + held(x + k, cols)];
  return static_cast<int>(sum);
}

void edges(int rows, int cols) {
  int *in = managed<int>(rows * cols), *out = managed<int>(rows * cols);
  for (int i = 0; i < rows * cols; ++i)
    in[i] = i * 37 % 1009;
  for (dim3 shape : {dim3(16, 4), dim3(32, 8), dim3(5, 3), dim3(64, 1)}) {
    blurred<<<dim3((cols + shape.x - 1) / shape.x, (rows + shape.y - 1) / shape.y), shape>>>(out, in, rows, cols);
    finish_kernel();
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < cols; ++x)
        EXPECT(out[y * cols + x] == blur(in, rows, cols, y, x));
    for (int reach : {1, 0, 16, 100, -3}) {
      held<<<dim3((cols + shape.x - 1) / shape.x + 1, (rows + shape.y - 1) / shape.y), shape>>>(out, in, rows, cols, reach);
      finish_kernel();
      for (int y = 0; y < rows; ++y)
        for (int x = 0; x < cols; ++x) {
          int row = std::min(y + 1, rows - 1) * cols, west = std::min(std::max(x - reach, 0), cols - 1);
          int east = std::max(std::min(x + reach, cols - 1), 0);
          int middle = std::min(std::min(std::max(x - 1, 2), cols / 2), cols - 1);
          EXPECT(out[y * cols + x] == in[row + west] + 3 * in[row + east] + 5 * in[row + middle]);
        }
    }
  }
}

void boxes(Box box) {
  int n = box.nx * box.ny * box.nz;
  int *in = managed<int>(n), *out = managed<int>(n);
  for (int i = 0; i < n; ++i)
    in[i] = i * 11 % 13;
  for (dim3 shape : {dim3(8, 8, 4), dim3(32, 2, 2), dim3(3, 5, 2)}) {
    sorted<<<dim3((box.nx + shape.x - 1) / shape.x, (box.ny + shape.y - 1) / shape.y, (box.nz + shape.z - 1) / shape.z), shape>>>(out, in, box);
    finish_kernel();
    for (int i = 0; i < n; ++i) {
      int last[4];
      for (int k = 0; k < 4; ++k)
        last[k] = in[i] * (k + 1) % 7;
      for (int k = 0; k < 3; ++k)
        if (last[k] > last[k + 1])
          std::swap(last[k], last[k + 1]);
      EXPECT(out[i] == last[0] + 10 * last[1] + 100 * last[2] + 1000 * last[3]);
    }
  }
}

int main() {
  for (int n : {1, 15, 16, 17, 1000, 70001})
    lines(n);
  planes(3, 3), planes(33, 130), planes(100, 1000);
  edges(1, 1), edges(7, 40), edges(9, 1000), edges(33, 2500);
  boxes({1, 1, 1}), boxes({37, 9, 6}), boxes({200, 10, 3});
  return result();
}
