// Loops over phases whose next round is fetched ahead: a plane after the other with halos, tiles of matrices, bounds in a structure passed
// by value, weights in a constant table, arrays that end where the last round reads.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

struct Box {
  int nx, ny, nz;
  __host__ __device__ size_t row() const { return nx + 2; }
  __host__ __device__ size_t plane() const { return row() * (ny + 2); }
};

__host__ __device__ constexpr int weight(int distance) {
  constexpr int weights[] = {5, 3, 2};
  return weights[distance];
}

__global__ void walk(const int *__restrict__ in, int *__restrict__ out, Box box) {
  __shared__ int tile[6][18];
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  bool loads = x < box.nx + 1 && y < box.ny + 1;
  size_t cell = (y + 1) * box.row() + x + 1;
  int below = 0, centre = 0;
  if (loads)
    below = in[cell], centre = in[cell + box.plane()];
  for (int z = 0; z < box.nz; ++z) {
    cell += box.plane();
    if (loads) {
      tile[ty][tx] = centre;
      if (threadIdx.x < 1) {
        tile[ty][0] = in[cell - 1];
        if (x + 16 < box.nx + 1)
          tile[ty][17] = in[cell + 16];
      }
      if (threadIdx.y < 1) {
        tile[0][tx] = in[cell - box.row()];
        if (y + 4 < box.ny + 1)
          tile[5][tx] = in[cell + 4 * box.row()];
      }
    }
    __syncthreads();
    if (x < box.nx && y < box.ny) {
      int above = in[cell + box.plane()], sum = weight(0) * centre;
#pragma unroll
      for (int i = 1; i < 2; ++i)
        sum += weight(i) * (tile[ty][tx - i] + tile[ty][tx + i]) + weight(i + 1) * (tile[ty - i][tx] + tile[ty + i][tx]);
      out[cell] += sum + below + above;
      below = centre, centre = above;
    } else if (loads) {
      centre = in[cell + box.plane()];
    }
    __syncthreads();
  }
}

// c = a b, tiles of 8.
__global__ void product(const float *a, const float *b, float *c, int n) {
  __shared__ float left[8][8], right[8][8];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 8 + y, col = blockIdx.x * 8 + x;
  float sum = 0;
  for (int k = 0; k < n; k += 8) {
    left[y][x] = row < n && k + x < n ? a[row * n + k + x] : 0;
    right[y][x] = col < n && k + y < n ? b[(k + y) * n + col] : 0;
    __syncthreads();
    for (int i = 0; i < 8; ++i)
      sum += left[y][i] * right[i][x];
    __syncthreads();
  }
  if (row < n && col < n)
    c[row * n + col] = sum;
}

void planes(Box box) {
  size_t cells = box.plane() * (box.nz + 2);
  int *in = managed<int>(cells), *out = managed<int>(cells);
  for (size_t i = 0; i < cells; ++i)
    in[i] = i * 7919 % 1009, out[i] = i % 5;
  walk<<<dim3((box.nx + 15) / 16, (box.ny + 3) / 4), dim3(16, 4)>>>(in, out, box);
  finish_kernel();
  for (int z = 0; z < box.nz + 2; ++z)
    for (int y = 0; y < box.ny + 2; ++y)
      for (int x = 0; x < box.nx + 2; ++x) {
        size_t at = z * box.plane() + y * box.row() + x;
        int wanted = at % 5;
        if (x > 0 && x <= box.nx && y > 0 && y <= box.ny && z > 0 && z <= box.nz)
          wanted += 5 * in[at] + 3 * (in[at - 1] + in[at + 1]) + 2 * (in[at - box.row()] + in[at + box.row()]) +
                    in[at - box.plane()] + in[at + box.plane()];
        EXPECT_AT(at, out[at], wanted);
      }
}

void products(int n) {
  float *a = managed<float>(n * n), *b = managed<float>(n * n), *c = managed<float>(n * n);
  for (int i = 0; i < n * n; ++i)
    a[i] = i % 7 - 3, b[i] = i % 5 - 2;
  product<<<dim3((n + 7) / 8, (n + 7) / 8), dim3(8, 8)>>>(a, b, c, n);
  finish_kernel();
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      float sum = 0;
      for (int k = 0; k < n; ++k)
        sum += a[y * n + k] * b[k * n + x];
      EXPECT_AT(y * n + x, c[y * n + x], sum);
    }
}

int main() {
  planes({1, 1, 1}), planes({16, 4, 3}), planes({37, 9, 5}), planes({40, 8, 0});
  for (int n : {1, 8, 17, 64})
    products(n);
  return result();
}
