// Planes of a tile, one in each round of a loop, with what threads hand on from plane to plane; and loops where neither may be read again.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_THREADS=1 %t
// RUN: env REGRAIN_CPU_THREADS=3 %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

#include <vector>

constexpr int TX = 16, TY = 8, R = 2;

struct Grid {
  int nx, ny, nz;
  __host__ __device__ size_t row() const { return nx + 2 * R; }
  __host__ __device__ size_t plane() const { return row() * (ny + 2 * R); }
  __host__ __device__ size_t cells() const { return plane() * (nz + 2 * R); }
};

// A star of 6 R + 1 points; the column is a queue of registers, the plane a tile with halos by edge threads. The border of R cells stays.
__global__ void star(const float *now, float *next, Grid g) {
  __shared__ float tile[TY + 2 * R][TX + 2 * R];
  int tx = threadIdx.x + R, ty = threadIdx.y + R, col = blockIdx.x * TX + threadIdx.x, row = blockIdx.y * TY + threadIdx.y;
  bool inside = col < g.nx && row < g.ny, loads = col < g.nx + R && row < g.ny + R;
  size_t at = (row + R) * g.row() + col + R;
  float behind[R], ahead[R], here = 0;
  if (loads) {
    for (int i = 0; i < R; ++i)
      behind[R - 1 - i] = now[at + i * g.plane()];
    here = now[at + R * g.plane()];
    for (int i = 0; i < R; ++i)
      ahead[i] = now[at + (R + 1 + i) * g.plane()];
  }
  at += R * g.plane();
  for (int z = 0; z < g.nz; ++z) {
    if (loads) {
      tile[ty][tx] = here;
      if (threadIdx.x < R) {
        tile[ty][tx - R] = now[at - R];
        if (col + TX < g.nx + R)
          tile[ty][tx + TX] = now[at + TX];
      }
      if (threadIdx.y < R) {
        tile[ty - R][tx] = now[at - R * g.row()];
        if (row + TY < g.ny + R)
          tile[ty + TY][tx] = now[at + TY * g.row()];
      }
    }
    __syncthreads();
    if (inside) {
      float sum = 3 * here;
#pragma unroll
      for (int i = 1; i <= R; ++i)
        sum += (tile[ty][tx - i] - tile[ty][tx + i] + 2 * tile[ty - i][tx] + tile[ty + i][tx] - behind[i - 1] + 4 * ahead[i - 1]) / i;
      next[at] = sum - next[at];
    }
    __syncthreads();
    if (loads && z + 1 < g.nz) {
#pragma unroll
      for (int i = R - 1; i > 0; --i)
        behind[i] = behind[i - 1];
      behind[0] = here;
      here = ahead[0];
#pragma unroll
      for (int i = 0; i < R - 1; ++i)
        ahead[i] = ahead[i + 1];
      ahead[R - 1] = now[at + (R + 1) * g.plane()];
    }
    at += g.plane();
  }
}

static void star_reference(const float *now, float *next, Grid g) {
  const ptrdiff_t row = g.row(), plane = g.plane();
  for (int z = 0; z < g.nz; ++z)
    for (int y = 0; y < g.ny; ++y)
      for (int x = 0; x < g.nx; ++x) {
        size_t at = (z + R) * plane + (y + R) * row + x + R;
        float sum = 3 * now[at];
        for (int i = 1; i <= R; ++i)
          sum += (now[at - i] - now[at + i] + 2 * now[at - i * row] + now[at + i * row] - now[at - i * plane] + 4 * now[at + i * plane]) / i;
        next[at] = sum - next[at];
      }
}

// Three planes handed on; each round writes into the array that it reads, two planes behind what is read: nothing of it may be read again.
__global__ void in_place(float *data, int nx, int ny, int nz) {
  __shared__ float tile[TY][TX + 2];
  int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * TX + tx, y = blockIdx.y * TY + ty;
  size_t plane = size_t(nx) * ny, at = size_t(y) * nx + x;
  float below = data[at], here = data[at + plane];
  for (int z = 1; z < nz - 1; ++z) {
    float above = data[at + (z + 1) * plane];
    tile[ty][tx + 1] = here;
    __syncthreads();
    float left = tx > 0 ? tile[ty][tx] : 1, right = tx < TX - 1 ? tile[ty][tx + 2] : 2;
    data[at + z * plane] = below + 2 * here - above + 3 * left - right;
    __syncthreads();
    below = here;
    here = above;
  }
}

static void in_place_reference(float *data, int nx, int ny, int nz) {
  const size_t plane = size_t(nx) * ny;
  const std::vector<float> old(data, data + plane * nz);
  for (int z = 1; z < nz - 1; ++z)
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x) {
        size_t at = z * plane + size_t(y) * nx + x;
        float left = x % TX > 0 ? old[at - 1] : 1, right = x % TX < TX - 1 ? old[at + 1] : 2;
        data[at] = old[at - plane] + 2 * old[at] - old[at + plane] + 3 * left - right;
      }
}

// What is handed on is not what is a plane ahead: the step changes with the round.
__global__ void uneven(const int *in, int *out, int planes, int plane) {
  __shared__ int tile[64];
  int t = threadIdx.x, base = blockIdx.x * 64, here = in[base + t], at = base + t;
  for (int z = 0; z < planes; ++z) {
    tile[t] = here;
    __syncthreads();
    out[z * plane + base + t] = tile[63 - t] + here;
    __syncthreads();
    at += (z & 1) ? plane : 2 * plane;
    if (z + 1 < planes)
      here = in[at];
  }
}

// The first value is none that the others follow on, and the last is used behind the loop.
__global__ void begins_elsewhere(const int *in, int *out, int planes, int plane) {
  __shared__ int tile[64];
  int t = threadIdx.x, base = blockIdx.x * 64, here = 7 * t, last = in[base + t];
  for (int z = 0; z < planes; ++z) {
    tile[t] = last;
    __syncthreads();
    out[z * plane + base + t] = tile[63 - t] + here;
    __syncthreads();
    here = last;
    if (z + 1 < planes)
      last = in[(z + 1) * plane + base + t];
  }
  out[planes * plane + base + t] = here - 3 * last;
}

// Rounds from one number to another; each reads what other threads wrote in the round before.
__global__ void relay(const int *in, int *state, int *out, int first, int end, int plane) {
  __shared__ int tile[64];
  int t = threadIdx.x, base = blockIdx.x * 64;
  for (int z = first; z < end; ++z) {
    tile[t] = in[z * plane + base + t];
    __syncthreads();
    int before = state[base + (t + 1) % 64];
    out[z * plane + base + t] = tile[63 - t] + before;
    __syncthreads();
    state[base + t] = before + tile[63 - t];
    __syncthreads();
  }
}

template <class T> static T *on_device(const std::vector<T> &values) {
  T *made = managed<T>(values.size() + 1);
  std::copy(values.begin(), values.end(), made);
  return made;
}

template <class T> static void expect(const std::vector<T> &want, const T *got) {
  finish_kernel();
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_AT(i, got[i], want[i]);
}

int main() {
  for (Grid g : {Grid{48, 24, 9}, Grid{50, 21, 5}, Grid{16, 8, 1}, Grid{15, 7, 2}, Grid{600, 9, 3}, Grid{16, 8, 0}}) {
    std::vector<float> now(g.cells()), next(g.cells());
    for (size_t i = 0; i < now.size(); ++i) {
      now[i] = float(int(i * 2654435761u % 2003) - 1000) / 8;
      next[i] = float(i % 13);
    }
    float *a = on_device(now), *b = on_device(next);
    star<<<dim3((g.nx + TX - 1) / TX, (g.ny + TY - 1) / TY), dim3(TX, TY)>>>(a, b, g);
    star_reference(now.data(), next.data(), g);
    expect(next, b);
    OK(cudaFree(a));
    OK(cudaFree(b));
  }
  {
    int nx = 4 * TX, ny = 2 * TY, nz = 7;
    std::vector<float> data(size_t(nx) * ny * nz);
    for (size_t i = 0; i < data.size(); ++i)
      data[i] = float(i * 7 % 101);
    float *a = on_device(data);
    in_place<<<dim3(4, 2), dim3(TX, TY)>>>(a, nx, ny, nz);
    in_place_reference(data.data(), nx, ny, nz);
    expect(data, a);
    OK(cudaFree(a));
  }
  const int blocks = 5, plane = 64 * blocks;
  for (int planes : {0, 1, 2, 6}) {
    std::vector<int> in(size_t(2 * planes + 2) * plane), out(size_t(planes + 1) * plane, -1), want = out;
    for (size_t i = 0; i < in.size(); ++i)
      in[i] = int(i * 31 % 1009);
    int *a = on_device(in), *b = on_device(out);
    uneven<<<blocks, 64>>>(a, b, planes, plane);
    for (int i = 0; i < plane; ++i)
      for (int z = 0, from = 0; z < planes; from += (z & 1) ? plane : 2 * plane, ++z)
        want[z * plane + i] = in[from + i / 64 * 64 + 63 - i % 64] + in[from + i];
    expect(want, b);
    begins_elsewhere<<<blocks, 64>>>(a, b, planes, plane);
    for (int i = 0; i < plane; ++i) {
      int here = 7 * (i % 64), last = 0;
      for (int z = 0; z < planes; ++z) {
        want[z * plane + i] = in[z * plane + i / 64 * 64 + 63 - i % 64] + here;
        here = in[z * plane + i];
      }
      last = in[(planes ? planes - 1 : 0) * plane + i];
      want[planes * plane + i] = here - 3 * last;
    }
    expect(want, b);
    for (int first : {0, 1}) {
      std::vector<int> state(plane);
      for (int i = 0; i < plane; ++i)
        state[i] = i % 17;
      int *s = on_device(state);
      relay<<<blocks, 64>>>(a, s, b, first, planes, plane);
        for (int z = first; z < planes; ++z) {
        std::vector<int> after(state);
        for (int i = 0; i < plane; ++i) {
          int base = i / 64 * 64, before = state[base + (i + 1) % 64];
          want[z * plane + i] = in[z * plane + base + 63 - i % 64] + before;
          after[i] = before + in[z * plane + base + 63 - i % 64];
        }
        state = after;
      }
      expect(want, b);
      expect(state, s);
      OK(cudaFree(s));
    }
    OK(cudaFree(a));
    OK(cudaFree(b));
  }
  return result();
}
