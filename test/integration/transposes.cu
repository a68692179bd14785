// Tiles that are read by columns: transposed in registers, with and without guards and loops, at edges, and where threads of a column may not go
// one after another.
// RUN: %regrain -O3 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_THREADS=1 %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

#include <utility>
#include <vector>

constexpr int kTile = 32, kRows = 8;

template <typename T> __global__ void by_rounds(const T *in, T *out, int rows, int cols) {
  __shared__ T tile[kTile][kTile + 1];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int k = 0; k < kTile; k += kRows)
    if (x < cols && y + k < rows)
      tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * cols + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  for (int k = 0; k < kTile; k += kRows)
    if (x < rows && y + k < cols)
      out[(y + k) * rows + x] = tile[threadIdx.x][threadIdx.y + k];
}

template <typename T> __global__ void at_once(const T *in, T *out, int rows, int cols) {
  __shared__ T tile[16][17];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < cols && y < rows)
    tile[threadIdx.y][threadIdx.x] = in[y * cols + x];
  __syncthreads();
  x = blockIdx.y * 16 + threadIdx.x;
  y = blockIdx.x * 16 + threadIdx.y;
  if (x < rows && y < cols)
    out[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}

// The tile is stored by columns, in place, and part of it is read where a guard keeps threads within it.
__global__ void in_place(int *data, int size) {
  __shared__ int tile[16][16];
  int x = threadIdx.x, y = threadIdx.y, at = blockIdx.x * 256 + y * 16 + x;
  tile[x][y] = data[at];
  __syncthreads();
  int own = tile[y][x];
  __syncthreads();
  tile[y][x] = own + tile[y][x] * 2;
  __syncthreads();
  if (x + size < 16)
    own += tile[x + size][y];
  data[at] = own;
}

// Every thread of a column reads what the one above it would write, were there no barrier.
__global__ void between_barriers(int *data) {
  __shared__ int tile[8][9];
  int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = data[y * 8 + x];
  for (int k = 1; k < 8; ++k) {
    __syncthreads();
    int other = tile[x][(y + k) % 8];
    __syncthreads();
    tile[y][x] += other;
  }
  __syncthreads();
  data[y * 8 + x] = tile[x][y];
}

template <typename T, typename F> void transposed(int rows, int cols, F &&launch) {
  std::vector<T> in(rows * cols), out(rows * cols, T(-1)), want(rows * cols);
  for (int k = 0; k < rows * cols; ++k)
    want[k % cols * rows + k / cols] = in[k] = T(k * 7 % 1009);
  T *from, *to;
  OK(cudaMalloc(&from, in.size() * sizeof(T)));
  OK(cudaMalloc(&to, in.size() * sizeof(T)));
  OK(cudaMemcpy(from, in.data(), in.size() * sizeof(T), cudaMemcpyHostToDevice));
  OK(cudaMemcpy(to, out.data(), in.size() * sizeof(T), cudaMemcpyHostToDevice));
  launch(from, to);
  OK(cudaMemcpy(out.data(), to, in.size() * sizeof(T), cudaMemcpyDeviceToHost));
  EXPECT(out == want);
  OK(cudaFree(from));
  OK(cudaFree(to));
}

template <typename T> void sizes() {
  for (auto [rows, cols] : {std::pair{64, 96}, {65, 95}, {7, 33}, {128, 128}, {1, 40}})
    for (int tile : {kTile, 16}) {
      dim3 grid((cols + tile - 1) / tile, (rows + tile - 1) / tile);
      transposed<T>(rows, cols, [&](const T *in, T *out) {
        if (tile == kTile)
          by_rounds<<<grid, dim3(kTile, kRows)>>>(in, out, rows, cols);
        else
          at_once<<<grid, dim3(16, 16)>>>(in, out, rows, cols);
      });
    }
}

int main() {
  sizes<float>();
  sizes<double>();
  sizes<unsigned char>();

  std::vector<int> data(512), want(512);
  for (int size : {0, 3, 16}) {
    for (int k = 0; k < 512; ++k)
      data[k] = k * k % 251;
    for (int k = 0; k < 512; ++k) {
      int block = k / 256 * 256, y = k / 16 % 16, x = k % 16;
      auto first = [&](int row, int column) { return data[block + column * 16 + row]; };
      want[k] = first(y, x) + (x + size < 16 ? 3 * first(x + size, y) : 0);
    }
    int *device;
    OK(cudaMalloc(&device, sizeof(int) * 512));
    OK(cudaMemcpy(device, data.data(), sizeof(int) * 512, cudaMemcpyHostToDevice));
    in_place<<<2, dim3(16, 16)>>>(device, size);
    OK(cudaMemcpy(data.data(), device, sizeof(int) * 512, cudaMemcpyDeviceToHost));
    EXPECT(data == want);
    OK(cudaFree(device));
  }

  int tile[8][8], next[8][8];
  for (int k = 0; k < 64; ++k)
    data[k] = tile[k / 8][k % 8] = k * 5 % 23;
  for (int k = 1; k < 8; ++k) {
    for (int y = 0; y < 8; ++y)
      for (int x = 0; x < 8; ++x)
        next[y][x] = tile[y][x] + tile[x][(y + k) % 8];
    std::copy(&next[0][0], &next[0][0] + 64, &tile[0][0]);
  }
  int *device;
  OK(cudaMalloc(&device, sizeof(int) * 64));
  OK(cudaMemcpy(device, data.data(), sizeof(int) * 64, cudaMemcpyHostToDevice));
  between_barriers<<<1, dim3(8, 8)>>>(device);
  OK(cudaMemcpy(data.data(), device, sizeof(int) * 64, cudaMemcpyDeviceToHost));
  for (int k = 0; k < 64; ++k)
    EXPECT(data[k] == tile[k % 8][k / 8]);
  return result();
}
