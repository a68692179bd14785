// Tiles of shared memory that copy the device's memory, read where they were copied from, and those that must stay.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_THREADS=1 %t
// RUN: env REGRAIN_CPU_THREADS=3 %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

#include <cstdint>
#include <array>
#include <cstdlib>
#include <vector>

constexpr int T = 16;

__host__ __device__ static int held(int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

// Halos by the threads at the edges, the nearest element beyond the problem's edge.
template <class V> __global__ void clamped(const V *in, V *out, int rows, int cols) {
  __shared__ V tile[T + 2][T + 2];
  int tx = threadIdx.x, ty = threadIdx.y, col = blockIdx.x * T + tx, row = blockIdx.y * T + ty;
  auto at = [&](int r, int c) { return in[size_t(min(max(r, 0), rows - 1)) * cols + min(max(c, 0), cols - 1)]; };
  tile[ty + 1][tx + 1] = at(row, col);
  if (tx == 0)
    tile[ty + 1][0] = at(row, col - 1);
  if (tx == T - 1)
    tile[ty + 1][T + 1] = at(row, col + 1);
  if (ty == 0)
    tile[0][tx + 1] = at(row - 1, col);
  if (ty == T - 1)
    tile[T + 1][tx + 1] = at(row + 1, col);
  __syncthreads();
  if (row < rows && col < cols)
    out[size_t(row) * cols + col] =
        5 * tile[ty + 1][tx + 1] + 3 * tile[ty + 1][tx] + 2 * tile[ty + 1][tx + 2] + tile[ty][tx + 1] - tile[ty + 2][tx + 1];
}

// Zeros beyond the edge, and guards around loads and stores; the address is of unsigned numbers.
__global__ void padded(const float *in, float *out, unsigned rows, unsigned cols, unsigned pitch) {
  __shared__ float tile[10][34];
  unsigned tx = threadIdx.x, ty = threadIdx.y, col = blockIdx.x * 32 + tx, row = blockIdx.y * 8 + ty;
  bool here = row < rows && col < cols;
  tile[ty + 1][tx + 1] = here ? in[row * pitch + col] : 0;
  if (tx == 0)
    tile[ty + 1][0] = row < rows && col > 0 ? in[row * pitch + col - 1] : 0;
  if (tx == 31)
    tile[ty + 1][33] = row < rows && col + 1 < cols ? in[row * pitch + col + 1] : 0;
  if (ty == 0)
    tile[0][tx + 1] = row > 0 && col < cols ? in[(row - 1) * pitch + col] : 0;
  if (ty == 7)
    tile[9][tx + 1] = row + 1 < rows && col < cols ? in[(row + 1) * pitch + col] : 0;
  __syncthreads();
  if (!here)
    return;
  out[row * pitch + col] = tile[ty][tx + 1] + 10 * tile[ty + 2][tx + 1] + 100 * tile[ty + 1][tx] + 1000 * tile[ty + 1][tx + 2];
}

// A tile filled by its elements' numbers, and a filter in shared memory that all threads read.
__global__ void filtered(const int *in, const int *weights, int *out, int rows, int cols) {
  constexpr int R = 2, W = T + 2 * R;
  __shared__ int tile[W * W], filter[25];
  int tx = threadIdx.x, ty = threadIdx.y, thread = ty * T + tx;
  if (thread < 25)
    filter[thread] = weights[thread];
  for (int e = thread; e < W * W; e += T * T) {
    int row = int(blockIdx.y) * T + e / W - R, col = int(blockIdx.x) * T + e % W - R;
    tile[e] = row >= 0 && row < rows && col >= 0 && col < cols ? in[row * cols + col] : 0;
  }
  __syncthreads();
  int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx, sum = 0;
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j)
      sum += filter[i * 5 + j] * tile[(ty + i) * W + tx + j];
  if (row < rows && col < cols)
    out[row * cols + col] = sum;
}

// Blocks overlap: the threads at the edges only load.
__global__ void overlapped(const double *in, double *out, long long n) {
  __shared__ double tile[64];
  int tx = threadIdx.x;
  long long i = (long long)blockIdx.x * 62 + tx - 1;
  tile[tx] = i >= 0 && i < n ? in[i] : 0;
  __syncthreads();
  if (tx > 0 && tx < 63 && i < n)
    out[i] = tile[tx - 1] - 2 * tile[tx] + tile[tx + 1];
}

// A tile's halo by the first threads; the wrapped index of a ring; `from` may be `to`, or reach into it.
template <int R> __global__ void line(const int *from, int *to, int n) {
  __shared__ int tile[128 + 2 * R];
  int i = blockIdx.x * 128 + threadIdx.x, t = threadIdx.x + R;
  tile[t] = from[i < n ? i : n - 1];
  if (threadIdx.x < R) {
    tile[t - R] = from[i - R < 0 ? i - R + n : i - R];
    tile[t + 128] = from[i + 128 < n ? i + 128 : (i + 128) % n];
  }
  __syncthreads();
  int sum = 0;
  for (int k = -R; k <= R; ++k)
    sum += (k + R + 1) * tile[t + k];
  if (i < n)
    to[i] = sum;
}

// Each block turns its piece round where it is.
__global__ void turned(int *data) {
  __shared__ int tile[128];
  int first = blockIdx.x * 128, t = threadIdx.x;
  tile[t] = data[first + t];
  __syncthreads();
  data[first + t] = tile[127 - t];
}

// Each block moves its piece by one and adds its neighbour's, where it is; what it writes is what another thread has read.
__global__ void moved(int *data, int shift) {
  __shared__ int tile[128];
  int first = blockIdx.x * 128, t = threadIdx.x;
  tile[t] = data[first + t + shift];
  __syncthreads();
  data[first + t] = tile[t] + (t > 0 ? tile[t - 1] : 0);
}

// The memory changes between the copy and the reading: before the barrier, or behind it.
__global__ void changed(int *data, int *out, int late) {
  __shared__ int tile[130];
  int i = blockIdx.x * 128 + threadIdx.x, t = threadIdx.x;
  tile[t + 1] = data[i];
  if (t == 0)
    tile[0] = -1;
  if (t == 127)
    tile[129] = -2;
  if (!late)
    data[i] = 7;
  __syncthreads();
  if (late)
    data[i] = 9;
  out[i] = tile[t] + 2 * tile[t + 1] + 4 * tile[t + 2];
}

// Filled twice; filled with what is computed; a slot by two threads; a tile read by rows and by columns.
__global__ void kept(const int *in, int *out, int kind) {
  __shared__ int tile[T][T];
  int tx = threadIdx.x, ty = threadIdx.y, i = blockIdx.x * T * T + ty * T + tx;
  tile[ty][tx] = kind == 1 ? in[i] * 2 : in[i];
  __syncthreads();
  int sum = tile[ty][(tx + 1) % T];
  __syncthreads();
  if (kind == 0)
    tile[ty][tx] = in[i] + 1;
  if (kind == 2 && tx < 8)
    tile[ty][tx + (ty % 2) * 8] = in[blockIdx.x * T * T];
  __syncthreads();
  out[i] = sum + 3 * tile[tx][ty];
}

// A thread's condition on data around what is read, and a slot that nobody stored and nobody needs.
__global__ void chosen(const int *in, int *out, int n) {
  __shared__ int tile[T + 2];
  int i = blockIdx.x * T + threadIdx.x, t = threadIdx.x;
  if (i < n)
    tile[t + 1] = in[i];
  __syncthreads();
  if (i >= n)
    return;
  int left = tile[t], right = tile[t + 2], own = tile[t + 1];
  out[i] = own % 3 == 0 && t > 0 ? left : own % 3 == 1 && t < T - 1 && i + 1 < n ? right : own;
}

// Two arrays, three dimensions.
__global__ void volume(const float *a, const float *b, float *out, int nx, int ny, int nz) {
  __shared__ float p[4][8][8], q[4][8][8];
  int tx = threadIdx.x, ty = threadIdx.y, tz = threadIdx.z;
  int x = blockIdx.x * 8 + tx, y = blockIdx.y * 8 + ty, z = blockIdx.z * 4 + tz;
  bool in = x < nx && y < ny && z < nz;
  size_t i = (size_t(z) * ny + y) * nx + x;
  p[tz][ty][tx] = in ? a[i] : 0;
  q[tz][ty][tx] = in ? b[i] : 0;
  __syncthreads();
  float sum = p[tz][ty][tx] * 2 + q[tz][ty][tx];
  if (tx > 0)
    sum += p[tz][ty][tx - 1];
  if (ty < 7 && y + 1 < ny)
    sum += q[tz][ty + 1][tx];
  if (tz > 0)
    sum -= p[tz - 1][ty][tx];
  if (in)
    out[i] = sum;
}

// What a thread finds of a tile lies in another one until it is stored, with a structure of four numbers: three guards alike, a barrier between each.
struct Four {
  float north, south, west, own;
};
__global__ void guarded(const float *in, Four *four, float *out, int rows, int cols) {
  __shared__ float tile[T][T], found[T][T], above[T];
  int tx = threadIdx.x, ty = threadIdx.y, col = blockIdx.x * T + tx, row = blockIdx.y * T + ty;
  bool here = row < rows && col < cols;
  size_t i = size_t(row) * cols + col;
  if (here) {
    tile[ty][tx] = in[i];
    if (ty == 0)
      above[tx] = in[row > 0 ? i - cols : i];
  }
  __syncthreads();
  Four d = {};
  if (here) {
    d.own = tile[ty][tx];
    d.north = (ty == 0 ? above[tx] : tile[ty - 1][tx]) - d.own;
    d.south = ty < T - 1 && row + 1 < rows ? tile[ty + 1][tx] - d.own : 0;
    d.west = tx > 0 ? tile[ty][tx - 1] - d.own : 0;
    found[ty][tx] = d.north + 2 * d.south + 3 * d.west;
  }
  __syncthreads();
  if (here) {
    four[i] = d;
    out[i] = found[ty][tx];
  }
}

static uint64_t state = 1;
static int number(int most) {
  state = state * 6364136223846793005 + 1442695040888963407;
  return int(state >> 33) % most;
}

template <class V> static std::vector<V> numbers(V *data, size_t n) {
  for (size_t i = 0; i < n; ++i)
    data[i] = V(number(100));
  return {data, data + n};
}

template <class V> static void same(const char *what, const V *out, const std::vector<V> &want) {
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT(out[i] == want[i] || !printf("%s: %g at %zu of %zu, expected %g\n", what, double(out[i]), i, want.size(), double(want[i])));
}

static dim3 pieces(int cols, int rows, int width, int height) {
  return dim3((cols + width - 1) / width, (rows + height - 1) / height);
}

template <class V> static void test_clamped(int rows, int cols) {
  size_t n = size_t(rows) * cols;
  V *in = managed<V>(n), *out = managed<V>(n);
  auto a = numbers(in, n);
  clamped<<<pieces(cols, rows, T, T), dim3(T, T)>>>(in, out, rows, cols);
  finish_kernel();
  std::vector<V> want(n);
  auto at = [&](int r, int c) { return a[size_t(held(r, rows)) * cols + held(c, cols)]; };
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c)
      want[size_t(r) * cols + c] = 5 * at(r, c) + 3 * at(r, c - 1) + 2 * at(r, c + 1) + at(r - 1, c) - at(r + 1, c);
  same("clamped", out, want);
}

static void test_padded(int rows, int cols, int pitch) {
  size_t n = size_t(rows) * pitch;
  float *in = managed<float>(n), *out = managed<float>(n);
  auto a = numbers(in, n), want = numbers(out, n);
  padded<<<pieces(cols, rows, 32, 8), dim3(32, 8)>>>(in, out, rows, cols, pitch);
  finish_kernel();
  auto at = [&](int r, int c) { return r < 0 || r >= rows || c < 0 || c >= cols ? 0 : a[size_t(r) * pitch + c]; };
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c)
      want[size_t(r) * pitch + c] = at(r - 1, c) + 10 * at(r + 1, c) + 100 * at(r, c - 1) + 1000 * at(r, c + 1);
  same("padded", out, want);
}

static void test_filtered(int rows, int cols) {
  size_t n = size_t(rows) * cols;
  int *in = managed<int>(n), *out = managed<int>(n), *weights = managed<int>(25);
  auto a = numbers(in, n), w = numbers(weights, 25);
  filtered<<<pieces(cols, rows, T, T), dim3(T, T)>>>(in, weights, out, rows, cols);
  finish_kernel();
  std::vector<int> want(n);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c)
      for (int k = 0; k < 25; ++k)
        if (int y = r + k / 5 - 2, x = c + k % 5 - 2; y >= 0 && y < rows && x >= 0 && x < cols)
          want[size_t(r) * cols + c] += w[k] * a[size_t(y) * cols + x];
  same("filtered", out, want);
}

static void test_overlapped(int n) {
  double *in = managed<double>(n), *out = managed<double>(n);
  auto a = numbers(in, n);
  overlapped<<<(n + 61) / 62, 64>>>(in, out, n);
  finish_kernel();
  std::vector<double> want(n);
  for (int i = 0; i < n; ++i)
    want[i] = (i > 0 ? a[i - 1] : 0) - 2 * a[i] + (i + 1 < n ? a[i + 1] : 0);
  same("overlapped", out, want);
}

// The output `apart` behind the input: far away, or so near that a block's output is among what it or others read. Blocks that
// write what other blocks read race; those run alone, last to first or first to last.
template <int R> static void test_line(int blocks, int rest, int apart) {
  int n = (blocks - 1) * 128 + rest, room = n + std::abs(apart) + 2;
  int *data = managed<int>(room);
  auto a = numbers(data, room);
  int *from = apart < 0 ? data - apart : data, *to = from + apart;
  const int *read = a.data() + (from - data);
  line<R><<<blocks, 128>>>(from, to, n);
  finish_kernel();
  std::vector<int> want(n);
  for (int i = 0; i < n; ++i)
    for (int k = -R; k <= R; ++k) {
      int at = i + k, first = i / 128 * 128;
      at = at < 0 ? at + n : at < n ? at : at >= first + 128 ? at % n : n - 1;
      want[i] += (k + R + 1) * read[at];
    }
  same("line", to, want);
}

static void test_guarded(int rows, int cols) {
  size_t n = size_t(rows) * cols;
  float *in = managed<float>(n), *out = managed<float>(n);
  Four *four = managed<Four>(n);
  auto a = numbers(in, n);
  guarded<<<pieces(cols, rows, T, T), dim3(T, T)>>>(in, four, out, rows, cols);
  finish_kernel();
  std::vector<float> want(n), fields(4 * n);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c) {
      size_t i = size_t(r) * cols + c;
      float north = r > 0 ? a[i - cols] - a[i] : 0, west = c % T ? a[i - 1] - a[i] : 0;
      float south = r % T < T - 1 && r + 1 < rows ? a[i + cols] - a[i] : 0;
      want[i] = north + 2 * south + 3 * west;
      fields[4 * i] = north, fields[4 * i + 1] = south, fields[4 * i + 2] = west, fields[4 * i + 3] = a[i];
    }
  same("guarded", out, want);
  same("fields", &four->north, fields);
}

int main() {
  for (auto [rows, cols] : {std::pair(1, 1), {16, 16}, {48, 160}, {50, 163}, {15, 200}, {200, 15}, {33, 1}, {1, 300}}) {
    test_clamped<float>(rows, cols);
    test_filtered(rows, cols);
    test_guarded(rows, cols);
    for (int pitch : {cols, cols + 5})
      test_padded(rows, cols, pitch);
  }
  test_clamped<short>(64, 130);
  test_clamped<double>(130, 64);
  test_clamped<unsigned char>(70, 70);
  for (int n : {1, 62, 63, 124, 1000, 6200})
    test_overlapped(n);
  for (int blocks : {2, 3, 9, 40})
    for (int rest : {128, 100}) {
      test_line<3>(blocks, rest, 128 * blocks + 8);
      test_line<1>(blocks, rest, -128 * blocks - 8);
    }
  for (int apart : {0, 1, 100, 127, -1, -5, -127})
    test_line<2>(1, 128, apart);
  const int n = 128 * 20;
  int *data = managed<int>(n + 8), *out = managed<int>(n);
  std::vector<int> want(n);
  {
    auto a = numbers(data, n);
    turned<<<20, 128>>>(data);
    finish_kernel();
    for (int i = 0; i < n; ++i)
      want[i] = a[i / 128 * 128 + 127 - i % 128];
    same("turned", data, want);
  }
  {
    auto a = numbers(data, n + 8);
    moved<<<20, 128>>>(data, 0);
    finish_kernel();
    for (int i = 0; i < n; ++i)
      want[i] = a[i] + (i % 128 ? a[i - 1] : 0);
    same("moved", data, want);
  }
  for (int late : {0, 1}) {
    auto a = numbers(data, n);
    changed<<<20, 128>>>(data, out, late);
    finish_kernel();
    for (int i = 0; i < n; ++i)
      want[i] = (i % 128 ? a[i - 1] : -1) + 2 * a[i] + 4 * (i % 128 < 127 ? a[i + 1] : -2);
    same("changed", out, want);
    same("changed to", data, std::vector<int>(n, late ? 9 : 7));
  }
  for (int kind : {0, 1, 2, 3}) {
    auto a = numbers(data, n);
    kept<<<n / 256, dim3(T, T)>>>(data, out, kind);
    finish_kernel();
    for (int i = 0; i < n; ++i) {
      int first = i / 256 * 256, x = i % T, y = i / T % T, times = kind == 1 ? 2 : 1;
      bool again = kind == 2 && y / 8 == x % 2;
      int crossed = again ? a[first] : times * a[first + x * T + y] + (kind == 0);
      want[i] = times * a[first + y * T + (x + 1) % T] + 3 * crossed;
    }
    same("kept", out, want);
  }
  for (int size : {n, n - 5, 3}) {
    auto a = numbers(data, size);
    chosen<<<(size + T - 1) / T, T>>>(data, out, size);
    finish_kernel();
    want.assign(size, 0);
    for (int i = 0; i < size; ++i) {
      int t = i % T, own = a[i];
      want[i] = own % 3 == 0 && t > 0 ? a[i - 1] : own % 3 == 1 && t < T - 1 && i + 1 < size ? a[i + 1] : own;
    }
    same("chosen", out, want);
  }
  for (auto [nx, ny, nz] : {std::array{24, 24, 12}, {25, 17, 5}, {3, 9, 4}, {70, 8, 4}}) {
    size_t cells = size_t(nx) * ny * nz;
    float *p = managed<float>(cells), *q = managed<float>(cells), *r = managed<float>(cells);
    auto a = numbers(p, cells), b = numbers(q, cells);
    volume<<<dim3((nx + 7) / 8, (ny + 7) / 8, (nz + 3) / 4), dim3(8, 8, 4)>>>(p, q, r, nx, ny, nz);
    finish_kernel();
    std::vector<float> sums(cells);
    for (size_t i = 0; i < cells; ++i) {
      int x = i % nx, y = i / nx % ny, z = i / (size_t(nx) * ny);
      sums[i] = 2 * a[i] + b[i] + (x % 8 ? a[i - 1] : 0) + (y % 8 < 7 && y + 1 < ny ? b[i + nx] : 0);
      sums[i] -= z % 4 ? a[i - size_t(nx) * ny] : 0;
    }
    same("volume", r, sums);
  }
  return result();
}
