// Clamped neighbours in every shape that the versions of thread loops without clamps know: both modes give the same.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t > %t.split
// RUN: env REGRAIN_CPU_MODE=coroutine %t > %t.coroutine
// RUN: cmp %t.split %t.coroutine
#include <climits>
#include <cstdio>
#include <cuda_runtime.h>

__device__ int hold(int v, int low, int high) { return v < low ? low : (v > high ? high : v); }

// Rows of a grid: most blocks meet no clamp, those at the border do.
__global__ void rows(int *out, const int *in, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h)
    out[y * w + x] = in[y * w + max(x - 1, 0)] + 3 * in[y * w + min(x + 1, w - 1)] + 5 * in[y * w + hold(x + 2, 0, w - 1)];
}

// A branch keeps the threads out that would meet a clamp, in some rounds.
__global__ void tile(int *out, const int *in, int n, int rounds) {
  __shared__ int a[64], b[64];
  int t = threadIdx.x, first = 40 * static_cast<int>(blockIdx.x) - 12, i = first + t;
  bool in_range = i >= 0 && i < n;
  int west = hold(t - 1, max(0, -first), min(63, n - 1 - first)), east = min(t + 1, min(63, n - 1 - first));
  a[t] = in_range ? in[i] : 7 * t;
  __syncthreads();
  for (int r = 0; r < rounds; ++r) {
    bool mine = in_range && t > r - 2 && t < 66 - r;
    if (mine)
      b[t] = a[t] + 3 * a[hold(west, 0, 63)] + 5 * a[hold(east, 0, 63)];
    __syncthreads();
    if (mine)
      a[t] = b[t];
    else
      a[t] += a[t] / 3 + t;
    __syncthreads();
  }
  out[blockIdx.x * 64 + t] = a[t];
}

// Bounds that are no bounds: the wrong way round, beyond the block, at the ends of int.
__global__ void odd(int *out, const int *in, int low, int high, int offset, int limit) {
  int t = threadIdx.x, sum = 0;
  if (t + offset < limit)
    sum = in[hold(hold(t - 3, low, high), 0, 63)];
  if (!(t >= limit || t < low))
    sum += 3 * in[min(max(max(t - 1, low), 0), 63)];
  else
    sum += 5 * in[max(min(min(t + 1, high), 63), 0)];
  unsigned u = threadIdx.x + static_cast<unsigned>(offset);
  if (static_cast<int>(u) > limit)
    sum += 7 * in[min(max(static_cast<int>(u - offset) - 2, 0), 63)];
  sum += 11 * in[63 & static_cast<unsigned>(max(static_cast<int>(u), limit))];
  out[blockIdx.x * 64 + t] = sum;
}

int *data, *result;

void show(const char *name, int count) {
  static int host[1 << 16];
  if (cudaMemcpy(host, result, count * sizeof(int), cudaMemcpyDeviceToHost) != cudaSuccess)
    printf("failed: ");
  unsigned hash = 1;
  for (int i = 0; i < count; ++i)
    hash = (hash ^ static_cast<unsigned>(host[i])) * 16777619u + 1;
  printf("%s %08x\n", name, hash);
  cudaMemset(result, 0, sizeof host);
}

int main() {
  static int host[1 << 16];
  for (int i = 0; i < 1 << 16; ++i)
    host[i] = static_cast<int>((i * 2654435761u) >> 16);
  cudaMalloc(&data, sizeof host);
  cudaMalloc(&result, sizeof host);
  cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(result, 0, sizeof host);
  for (int w : {1, 2, 31, 32, 33, 64, 97, 200}) {
    rows<<<dim3((w + 31) / 32, 3), dim3(32, 8)>>>(result, data, w, 20);
    show("rows", 1 << 16);
    rows<<<dim3(w / 7 + 1, 7), dim3(7, 3)>>>(result, data, w, 20);
    show("rows", 1 << 16);
  }
  for (int n : {1, 5, 28, 29, 52, 64, 300})
    for (int rounds : {0, 1, 2, 3, 9, 40}) {
      tile<<<8, 64>>>(result, data, n, rounds);
      show("tile", 8 * 64);
    }
  const int values[] = {0, 1, -1, 5, 62, 63, 64, 1000, -1000, INT_MAX, INT_MIN};
  for (int low : values)
    for (int high : values)
      for (int limit : values) {
        odd<<<1, 64>>>(result, data, low, high, 3, limit == INT_MIN ? 0 : limit);
        show("odd", 64);
        odd<<<1, 50>>>(result, data, low, high, INT_MAX - 100, limit);
        show("odd", 64);
      }
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
