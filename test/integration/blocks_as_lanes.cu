// Blocks that go through a kernel together, each as a lane: trees over shared memory of both directions, guarded at the end of the array,
// and diagonals of a tile that is filled row by row, in grids that are and are not multiples of the lanes, and along y.
// RUN: %regrain -O3 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_THREADS=1 %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

#include <algorithm>
#include <vector>

constexpr int kThreads = 128, kPart = 2 * kThreads;

template <typename T> __global__ void by_halves(const T *in, T *out, T *sums, int n) {
  __shared__ T tree[kPart];
  int t = threadIdx.x, first = (blockIdx.y * gridDim.x + blockIdx.x) * kPart + 2 * t, step = 1;
  tree[2 * t] = first < n ? in[first] : T(0);
  tree[2 * t + 1] = first + 1 < n ? in[first + 1] : T(0);
  for (int active = kThreads; active > 0; active /= 2) {
    __syncthreads();
    if (t < active)
      tree[step * (2 * t + 2) - 1] += tree[step * (2 * t + 1) - 1];
    step *= 2;
  }
  if (t == 0) {
    sums[blockIdx.y * gridDim.x + blockIdx.x] = tree[kPart - 1];
    tree[kPart - 1] = 0;
  }
  for (int active = 1; active <= kThreads; active *= 2) {
    step /= 2;
    __syncthreads();
    if (t < active) {
      int left = step * (2 * t + 1) - 1, right = step * (2 * t + 2) - 1;
      T before = tree[left];
      tree[left] = tree[right];
      tree[right] += before;
    }
  }
  __syncthreads();
  if (first < n)
    out[first] = tree[2 * t];
  if (first + 1 < n)
    out[first + 1] = tree[2 * t + 1];
}

__global__ void in_dynamic(const unsigned *in, unsigned *out, unsigned *sums, int part, int n) {
  extern __shared__ unsigned tree[];
  int t = threadIdx.x, half = part / 2, base = blockIdx.x * part, step = 1;
  auto padded = [](int i) { return i + (i >> 5); };
  tree[padded(t)] = base + t < n ? in[base + t] : 0;
  tree[padded(t + half)] = base + t + half < n ? in[base + t + half] : 0;
  for (int active = half; active > 0; active >>= 1) {
    __syncthreads();
    if (t < active)
      tree[padded(step * (2 * t + 2) - 1)] += tree[padded(step * (2 * t + 1) - 1)];
    step *= 2;
  }
  __syncthreads();
  if (t == 0) {
    sums[blockIdx.x] = tree[padded(part - 1)];
    tree[padded(part - 1)] = 0;
  }
  for (int active = 1; active < part; active *= 2) {
    step >>= 1;
    __syncthreads();
    if (t < active) {
      int left = padded(step * (2 * t + 1) - 1), right = padded(step * (2 * t + 2) - 1);
      unsigned before = tree[left];
      tree[left] = tree[right];
      tree[right] += before;
    }
  }
  __syncthreads();
  if (base + t < n)
    out[base + t] = tree[padded(t)];
  if (base + t + half < n)
    out[base + t + half] = tree[padded(t + half)];
}

// Values that threads keep over the tree, positions of 64 bits, and a total that one thread alone reads beside what all store.
__global__ void with_kept(const int *in, int *out, int *sums, size_t n) {
  __shared__ int tree[kPart + kPart / 32], total;
  auto padded = [](int i) { return i + (i >> 5); };
  int t = threadIdx.x, step = 1;
  size_t first = size_t(blockIdx.x) * kPart;
  int a = first + t < n ? in[first + t] : 0, b = first + kThreads + t < n ? in[first + kThreads + t] : 0;
  tree[padded(t)] = a;
  tree[padded(t + kThreads)] = b;
  for (int active = kThreads; active > 0; active /= 2) {
    __syncthreads();
    if (t < active)
      tree[padded(step * (2 * t + 2) - 1)] += tree[padded(step * (2 * t + 1) - 1)];
    step *= 2;
  }
  if (t == 0) {
    total = tree[padded(kPart - 1)];
    tree[padded(kPart - 1)] = 0;
  }
  for (int active = 1; active <= kThreads; active *= 2) {
    step /= 2;
    __syncthreads();
    if (t < active) {
      int left = padded(step * (2 * t + 1) - 1), right = padded(step * (2 * t + 2) - 1), before = tree[left];
      tree[left] = tree[right];
      tree[right] += before;
    }
  }
  __syncthreads();
  int all = total;
  if (first + t < n)
    out[first + t] = tree[padded(t)];
  if (first + kThreads + t < n)
    out[first + kThreads + t] = tree[padded(t + kThreads)] + b - in[first + kThreads + t];
  if (t == 0 && sums)
    sums[blockIdx.x] = all;
}

// Rows of a matrix are loaded in rounds of a loop, neighbours by neighbours, and stored so.
constexpr int kSide = 16;
__global__ void along_rows(const int *in, int *out, int width) {
  __shared__ int cells[kSide + 1][kSide + 1];
  __shared__ int pairs[kSide][kSide];
  int x = threadIdx.x, first = blockIdx.x * kSide;
  cells[0][x + 1] = x;
  cells[x + 1][0] = -x;
  if (x == 0)
    cells[0][0] = 1;
  for (int y = 0; y < kSide; ++y)
    pairs[y][x] = in[y * width + first + x];
  __syncthreads();
  auto fill = [&](int y, int x) {
    cells[y][x] = max(cells[y - 1][x - 1] + pairs[y - 1][x - 1], max(cells[y][x - 1], cells[y - 1][x]) - 2);
  };
  for (int wave = 0; wave < kSide; ++wave) {
    if (x <= wave)
      fill(wave - x + 1, x + 1);
    __syncthreads();
  }
  for (int wave = kSide - 2; wave >= 0; --wave) {
    if (x <= wave)
      fill(kSide - x, x + kSide - wave);
    __syncthreads();
  }
  for (int y = 0; y < kSide; ++y)
    out[y * width + first + x] = cells[y + 1][x + 1];
}

void run_along_rows(int blocks) {
  int width = blocks * kSide, n = kSide * width;
  int *in = managed<int>(n), *out = managed<int>(n);
  unsigned state = 7;
  for (int i = 0; i < n; ++i)
    in[i] = int((state = state * 1664525u + 1013904223u) >> 28) - 8;
  along_rows<<<blocks, kSide>>>(in, out, width);
  finish_kernel();
  std::vector<int> cells((kSide + 1) * (kSide + 1));
  auto at = [&](int y, int x) -> int & { return cells[y * (kSide + 1) + x]; };
  for (int block = 0; block < blocks; ++block) {
    for (int i = 0; i < kSide; ++i)
      at(0, i + 1) = i, at(i + 1, 0) = -i;
    at(0, 0) = 1;
    for (int y = 0; y < kSide; ++y)
      for (int x = 0; x < kSide; ++x) {
        int i = y * width + block * kSide + x;
        at(y + 1, x + 1) = std::max(at(y, x) + in[i], std::max(at(y + 1, x), at(y, x + 1)) - 2);
        EXPECT_AT(i, out[i], at(y + 1, x + 1));
      }
  }
  cudaFree(in);
  cudaFree(out);
}

template <typename T> void compare(const std::vector<T> &in, const T *out, const T *sums, int part) {
  T sum = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    if (i % part == 0)
      sum = 0;
    EXPECT_AT(i, out[i], sum);
    sum += in[i];
    if ((i + 1) % part == 0 || i + 1 == in.size())
      EXPECT_AT(i, sums[i / part], sum);
  }
}

template <typename T, typename Launch> void run(int n, int part, Launch launch) {
  int blocks = (n + part - 1) / part;
  std::vector<T> values(n);
  unsigned state = 1;
  for (T &value : values)
    value = T((state = state * 1664525u + 1013904223u) >> 24);
  T *in = managed<T>(n), *out = managed<T>(n + 1), *sums = managed<T>(blocks + 1);
  for (int i = 0; i < n; ++i)
    in[i] = values[i];
  out[n] = sums[blocks] = 77;
  launch(blocks, in, out, sums);
  finish_kernel();
  compare(values, out, sums, part);
  EXPECT(out[n] == T(77) && sums[blocks] == T(77));
  cudaFree(in);
  cudaFree(out);
  cudaFree(sums);
}

int main() {
  for (int n : {1, 300, 7 * kPart, 8 * kPart, 8 * kPart - 1, 29 * kPart + 3, 64 * kPart}) {
    run<int>(n, kPart, [=](int blocks, int *in, int *out, int *sums) {
      by_halves<<<blocks, kThreads>>>(in, out, sums, n);
    });
    run<float>(n, kPart, [=](int blocks, float *in, float *out, float *sums) {
      by_halves<<<blocks, kThreads>>>(in, out, sums, n);
    });
    run<double>(n, kPart, [=](int blocks, double *in, double *out, double *sums) {
      by_halves<<<blocks, kThreads>>>(in, out, sums, n);
    });
    run<unsigned>(n, kPart, [=](int blocks, unsigned *in, unsigned *out, unsigned *sums) {
      in_dynamic<<<blocks, kThreads, (kPart + kPart / 32) * 4>>>(in, out, sums, kPart, n);
    });
    run<int>(n, kPart, [=](int blocks, int *in, int *out, int *sums) {
      with_kept<<<blocks, kThreads>>>(in, out, sums, n);
    });
    // So much that only one block has room.
    run<unsigned>(n, kPart, [=](int blocks, unsigned *in, unsigned *out, unsigned *sums) {
      in_dynamic<<<blocks, kThreads, 40000>>>(in, out, sums, kPart, n);
    });
  }
  // Rows of blocks of 11.
  run<int>(33 * kPart, kPart, [](int, int *in, int *out, int *sums) {
    by_halves<<<dim3(11, 3), kThreads>>>(in, out, sums, 33 * kPart);
  });
  for (int blocks : {1, 7, 8, 9, 31, 64, 200, 200})
    run_along_rows(blocks);
  return result();
}
