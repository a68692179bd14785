// Rows of threads as vectors: what each thread computes is what the host computes for it, in rows that are whole, partial, and too
// short, with block sizes that the compiler knows and that it does not.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

#include <vector>

struct Point {
  float x, y, z;
};

struct Memory {
  const int *numbers;
  const float4 *quads;
  const Point *points;
  int count;
};

#define EACH __host__ __device__ static long long of(int i, const Memory &m)

struct Guarded { // lanes that take no part must not divide by zero
  EACH {
    long long r = -1;
    if (m.numbers[i % m.count] % 5 != 0)
      r = 1000000 / m.numbers[i % m.count] + 7 % m.numbers[i % m.count];
    return r;
  }
};

struct Collatz { // each lane leaves in its own round
  EACH {
    int rounds = 0;
    for (unsigned v = i + 1; v != 1; ++rounds)
      v = v % 2 ? 3 * v + 1 : v / 2;
    return rounds;
  }
};

struct Strided { // lanes begin one after the other and end at the same number
  EACH {
    long long sum = 0;
    for (int k = i; k < m.count; k += 37)
      sum = sum * 3 + m.numbers[k];
    return sum;
  }
};

struct Downwards { // memory from the last lane to the first, and numbers below zero
  EACH {
    int back = m.count - 1 - i % m.count;
    long long sum = 0;
    for (int k = back; k >= 0; k -= 50)
      sum += m.numbers[k] * (back - 100);
    return sum;
  }
};

struct Wrapping { // unsigned numbers that wrap along the row
  EACH {
    unsigned w = 0xfffffff0u + i;
    return m.numbers[(w + 40u) % m.count] + static_cast<long long>(w) + (w >> 4);
  }
};

struct Private { // an array of the thread, read at places that differ
  EACH {
    int own[8];
    for (int k = 0; k < 8; ++k)
      own[k] = m.numbers[(i + k) % m.count] * k;
    int sum = 0;
    for (int k = 0; k < 8; ++k)
      sum += own[(i + k * 3) % 8] * (k + 1);
    return sum;
  }
};

struct Switched { // lanes go different ways, some of which are empty
  EACH {
    switch (i % 7) {
    case 0: return m.numbers[i % m.count];
    case 2: return i * 11;
    case 3:
    case 5: return -i;
    default: return 4;
    }
  }
};

struct Structs { // structs and vectors, taken apart
  EACH {
    float4 q = m.quads[i % m.count];
    Point p = m.points[(i * 3) % m.count];
    float best = q.x > p.y ? q.x : p.y;
    return static_cast<long long>(best * 4 + q.w - p.z + q.y * p.x);
  }
};

struct Nested { // loops whose bounds differ between lanes, in one another
  EACH {
    long long sum = 0;
    for (int a = 0; a < i % 5; ++a)
      for (int b = a; b < i % 9; b += 2) {
        if ((a + b) % 3 == 1)
          continue;
        if (b == 7)
          break;
        sum += a * 10 + b + m.numbers[(a + b + i) % m.count];
      }
    return sum;
  }
};

template <class What> __global__ void rows(Memory m, long long *out) {
  int i = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[i] = What::of(i, m);
}

// A warp that a branch leaves some threads of, in the middle of a larger block.
__global__ void parts(int *out, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t * 3;
  __syncthreads();
  if (t < 16) {
    int v = s[t];
    for (int d = 8; d > 0; d /= 2)
      v += __shfl_down_sync(0xffff, v, d);
    if (t == 0)
      out[64] = v;
  }
  int found = 0;
  if (t < n)
    found = __ballot_sync(0xffffffffu >> (32 - n), s[t] & 1);
  out[t] = found;
}

// Warps in a loop of which the compiler does not know that it counts.
__global__ void warps(const int *numbers, int count, int *out) {
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    sum += numbers[i];
  for (int d = 16; d > 0; d /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, d);
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Counters in shared memory that several lanes meet at, and what was there before.
__global__ void counters(const int *numbers, int *out) {
  __shared__ int bins[8], order[128];
  int t = threadIdx.x;
  if (t < 8)
    bins[t] = 0;
  __syncthreads();
  order[t] = atomicAdd(&bins[numbers[t] & 7], 1);
  atomicMax(&bins[7], 1000 + t);
  __syncthreads();
  out[t] = order[t];
  if (t < 8)
    out[128 + t] = bins[t];
}

static Memory host, device;

template <class What> void check(const char *name, dim3 grid, dim3 block) {
  size_t threads = static_cast<size_t>(grid.x) * block.x * block.y;
  std::vector<long long> got(threads);
  long long *out;
  cudaMalloc(&out, threads * sizeof(long long));
  rows<What><<<grid, block>>>(device, out);
  cudaMemcpy(got.data(), out, threads * sizeof(long long), cudaMemcpyDeviceToHost);
  cudaFree(out);
  for (size_t i = 0; i < threads; ++i)
    if (got[i] != What::of(i, host)) {
      printf("%s, blocks of %ux%u, thread %zu: %lld, expected %lld\n", name, block.x, block.y, i, got[i], What::of(i, host));
      ++failures;
      return;
    }
}

template <class What> void check_all(const char *name, int unknown) {
  check<What>(name, 3, 64);
  check<What>(name, 3, 20);
  check<What>(name, 2, dim3(2, 9));
  check<What>(name, 2, dim3(8, 4));
  check<What>(name, 4, unknown);
  check<What>(name, 4, unknown + 19);
}

int main(int argc, char **) {
  const int count = 211;
  std::vector<int> numbers(count);
  std::vector<float4> quads(count);
  std::vector<Point> points(count);
  for (int i = 0; i < count; ++i) {
    numbers[i] = (i * 7919) % 101 - 20;
    quads[i] = make_float4(i % 13, i % 5, i % 7, i % 11);
    points[i] = {float(i % 3), float(i % 17), float(i % 4)};
  }
  host = {numbers.data(), quads.data(), points.data(), count};
  int *n;
  float4 *q;
  Point *p;
  cudaMalloc(&n, count * sizeof(int));
  cudaMalloc(&q, count * sizeof(float4));
  cudaMalloc(&p, count * sizeof(Point));
  cudaMemcpy(n, host.numbers, count * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(q, host.quads, count * sizeof(float4), cudaMemcpyHostToDevice);
  cudaMemcpy(p, host.points, count * sizeof(Point), cudaMemcpyHostToDevice);
  device = {n, q, p, count};

  const int unknown = 32 * argc;
  check_all<Guarded>("guarded", unknown);
  check_all<Collatz>("collatz", unknown);
  check_all<Strided>("strided", unknown);
  check_all<Downwards>("downwards", unknown);
  check_all<Wrapping>("wrapping", unknown);
  check_all<Private>("private", unknown);
  check_all<Switched>("switched", unknown);
  check_all<Structs>("structs", unknown);
  check_all<Nested>("nested", unknown);

  int *out, got[136];
  cudaMalloc(&out, sizeof(got));
  for (int width = 1; width <= 32; width += 5) {
    parts<<<1, 64>>>(out, width);
    cudaMemcpy(got, out, 65 * sizeof(int), cudaMemcpyDeviceToHost);
    for (int t = 0; t < 64; ++t)
      EXPECT_AT(t, static_cast<unsigned>(got[t]), t < width ? 0xaaaaaaaau & (0xffffffffu >> (32 - width)) : 0u);
    EXPECT_AT(width, got[64], 360);
  }

  warps<<<2, 64>>>(n, count, out);
  cudaMemcpy(got, out, sizeof(got), cudaMemcpyDeviceToHost);
  for (int t = 0; t < 128; ++t) {
    int sum = 0;
    for (int i = 0; i < count; ++i)
      if ((i % 128) / 32 == t / 32)
        sum += numbers[i];
    EXPECT_AT(t, got[t], sum);
  }

  counters<<<1, 128>>>(n, out);
  cudaMemcpy(got, out, sizeof(got), cudaMemcpyDeviceToHost);
  int bins[8] = {}, seen[8] = {};
  for (int t = 0; t < 128; ++t) {
    int bin = numbers[t] & 7;
    if (bin != 7) {
      EXPECT(got[t] < 128 && got[t] >= 0);
      seen[bin] += got[t];
      ++bins[bin];
    }
  }
  for (int bin = 0; bin < 7; ++bin) {
    EXPECT_AT(bin, got[128 + bin], bins[bin]);
    EXPECT_AT(bin, seen[bin], bins[bin] * (bins[bin] - 1) / 2);
  }
  return failures != 0;
}
