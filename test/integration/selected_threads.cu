// Threads that a guard selects by their own number: from the first one on, to a last one, in two dimensions; none, fewer than a row, all.
// What differs between threads and is carried through loops with barriers, computed of what all threads have.
// RUN: %regrain -O2 --offload-arch=cpu,sm_80 %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
// RUN: %regrain -O2 --offload-arch=cpu -march=x86-64-v4 -fregrain-alternatives=none -c %s -o %t.o
#include "check.h"

constexpr int W = 40, H = 12, N = 300, T = 17;

// Steps of a stencil that is right in fewer and fewer cells.
__global__ void pyramid(const int *from, int *to, int cols, int halo, int steps) {
  __shared__ int now[T][T], next[T][T];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int core = T - 2 * halo, col = core * int(blockIdx.x) - halo + tx, row = core * int(blockIdx.y) - halo + ty;
  const bool inside = row >= 0 && row < cols && col >= 0 && col < cols;
  const int west = max(tx - 1, max(0, halo - core * int(blockIdx.x)));
  const int east = min(tx + 1, min(T - 1, tx + cols - 1 - col));
  now[ty][tx] = next[ty][tx] = 0;
  if (inside)
    now[ty][tx] = from[row * cols + col];
  __syncthreads();
  bool computed = false;
  for (int step = 0; step < steps; ++step) {
    computed = inside && tx > step && tx < T - 1 - step && ty > step && ty < T - 1 - step;
    if (computed)
      next[ty][tx] = 3 * now[ty][tx] + now[ty][west] - 2 * now[ty][east] + now[ty - 1][tx] + 5 * now[ty + 1][tx];
    __syncthreads();
    if (step == steps - 1)
      break;
    if (computed)
      now[ty][tx] = next[ty][tx];
    __syncthreads();
  }
  if (computed && tx >= halo && tx < T - halo && ty >= halo && ty < T - halo)
    to[row * cols + col] = next[ty][tx];
}

// From a thread to a thread; what is written is read by the same threads, so that none may go twice.
__global__ void between(int *values, int first, int last) {
  const int x = threadIdx.x, i = blockIdx.x * blockDim.x + x;
  if (x >= first && x <= last)
    values[i] = 2 * values[i] + x;
}

// Guards as C writes them the other way round, and rows.
__global__ void outside(int *out, const int *in, int left, int top, int right) {
  const int x = threadIdx.x, y = threadIdx.y, i = y * W + x;
  if (x < left || y <= top || x > right)
    return;
  out[i] = in[i] + 100 * y + x;
}

// A choice that is carried: what the last round of each kind said, or that there was none.
__global__ void carried(int *out, const int *rounds, int count) {
  __shared__ int sum;
  const int x = threadIdx.x;
  bool chosen = false;
  int half = -1;
  if (x == 0)
    sum = 0;
  __syncthreads();
  for (int round = 0; round < count; ++round) {
    const int limit = rounds[round];
    if (limit > 5)
      chosen = x > limit && x < 60 - limit;
    half = x / 2 + limit;
    __syncthreads();
    if (chosen)
      atomicAdd(&sum, x);
    __syncthreads();
    if (sum > 100000)
      break;
  }
  out[blockIdx.x * blockDim.x + x] = (chosen ? 1000 : 0) + half + sum;
}

static int cell(const int *v, int cols, int row, int col) {
  return row < 0 || row >= cols || col < 0 || col >= cols ? 0 : v[row * cols + col];
}

static void check_pyramid(int cols, int halo, int steps) {
  const int count = cols * cols, core = T - 2 * halo, blocks = (cols + core - 1) / core;
  int *from = managed<int>(count), *to = managed<int>(count);
  for (int i = 0; i < count; ++i)
    from[i] = i * 7919 % 101 - 50;
  pyramid<<<dim3(blocks, blocks), dim3(T, T)>>>(from, to, cols, halo, steps);
  finish_kernel();
  int *now = managed<int>(count), *next = managed<int>(count);
  std::copy(from, from + count, now);
  for (int step = 0; step < steps; ++step) {
    for (int r = 0; r < cols; ++r)
      for (int c = 0; c < cols; ++c)
        next[r * cols + c] = 3 * cell(now, cols, r, c) + cell(now, cols, r, std::max(c - 1, 0)) -
                             2 * cell(now, cols, r, std::min(c + 1, cols - 1)) + cell(now, cols, r - 1, c) +
                             5 * cell(now, cols, r + 1, c);
    std::swap(now, next);
  }
  for (int i = 0; i < count; ++i)
    EXPECT_AT(i, to[i], now[i]);
  for (int *memory : {from, to, now, next})
    OK(cudaFree(memory));
}

static void check_between(int first, int last) {
  int *values = managed<int>(N);
  for (int i = 0; i < N; ++i)
    values[i] = i;
  between<<<3, N / 3>>>(values, first, last);
  finish_kernel();
  for (int i = 0; i < N; ++i) {
    const int x = i % (N / 3);
    EXPECT_AT(i, values[i], x >= first && x <= last ? 2 * i + x : i);
  }
  OK(cudaFree(values));
}

static void check_outside(int left, int top, int right) {
  int *out = managed<int>(W * H), *in = managed<int>(W * H);
  for (int i = 0; i < W * H; ++i)
    in[i] = 3 * i, out[i] = -1;
  outside<<<1, dim3(W, H)>>>(out, in, left, top, right);
  finish_kernel();
  for (int i = 0; i < W * H; ++i) {
    const int x = i % W, y = i / W;
    EXPECT_AT(i, out[i], x < left || y <= top || x > right ? -1 : 3 * i + 100 * y + x);
  }
  OK(cudaFree(out));
  OK(cudaFree(in));
}

static void check_carried(const int (&given)[5], int count) {
  constexpr int kThreads = 64;
  int *out = managed<int>(2 * kThreads), *rounds = managed<int>(5);
  std::copy(given, given + 5, rounds);
  carried<<<2, kThreads>>>(out, rounds, count);
  finish_kernel();
  int sum = 0, last = -1, chosen = -1;
  for (int round = 0; round < count; ++round) {
    last = given[round];
    if (last > 5)
      chosen = last;
    for (int x = 0; x < kThreads; ++x)
      sum += chosen >= 0 && x > chosen && x < 60 - chosen ? x : 0;
  }
  for (int i = 0; i < 2 * kThreads; ++i) {
    const int x = i % kThreads, half = count > 0 ? x / 2 + last : -1;
    EXPECT_AT(i, out[i], (chosen >= 0 && x > chosen && x < 60 - chosen ? 1000 : 0) + half + sum);
  }
  OK(cudaFree(out));
  OK(cudaFree(rounds));
}

int main() {
  for (int cols : {1, 5, 23, 48})
    for (int halo = 1; halo <= 7; ++halo)
      for (int steps : {1, halo})
        check_pyramid(cols, halo, steps);
  const int ends[][2] = {{0, 99}, {1, 98}, {3, 12}, {5, 5}, {7, 6}, {-4, 3}, {90, 200}, {-2147483647 - 1, 2147483647}};
  for (const auto &end : ends)
    check_between(end[0], end[1]);
  const int sides[][3] = {{0, 0, 39}, {1, 2, 38}, {13, 5, 17}, {30, 10, 29}, {-3, -1, 50}, {39, 11, 39}};
  for (const auto &side : sides)
    check_outside(side[0], side[1], side[2]);
  const int limits[][5] = {{1, 6, 7, 2, 9}, {1, 2, 3, 4, 5}, {29, 30, 6, 1, 40}};
  for (const auto &limit : limits)
    for (int count : {0, 1, 2, 5})
      check_carried(limit, count);
  return result();
}
