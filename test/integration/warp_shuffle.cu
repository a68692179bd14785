// All shuffles, at all widths.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

constexpr int T = 96;
constexpr unsigned ALL = 0xffffffffu;

enum Kind { IDX, UP, DOWN, XOR };

template <typename V> __global__ void shuffle(V *out, int kind, int arg, int width) {
  int t = threadIdx.x;
  V v = V(t * 3 + 1), r = V(0);
  if (kind == IDX)
    r = __shfl_sync(ALL, v, arg, width);
  else if (kind == UP)
    r = __shfl_up_sync(ALL, v, arg, width);
  else if (kind == DOWN)
    r = __shfl_down_sync(ALL, v, arg, width);
  else
    r = __shfl_xor_sync(ALL, v, arg, width);
  out[t] = r;
}

static int source(int lane, int kind, int arg, int width) {
  int base = lane & ~(width - 1), from = lane;
  if (kind == IDX)
    from = base + (arg & (width - 1));
  if (kind == UP && lane - arg >= base)
    from = lane - arg;
  if (kind == DOWN && lane + arg < base + width)
    from = lane + arg;
  if (kind == XOR && (lane ^ arg) < base + width)
    from = lane ^ arg;
  return from;
}

template <typename V> void sweep() {
  V *out = managed<V>(T);
  for (int kind = IDX; kind <= XOR; ++kind)
    for (int width : {32, 16, 8, 4, 2, 1})
      for (int arg : {0, 1, 5, 31}) {
        shuffle<<<1, T>>>(out, kind, arg, width);
        finish_kernel();
        for (int t = 0; t < T; ++t)
          EXPECT_AT(t, out[t], V(((t & ~31) + source(t & 31, kind, arg, width)) * 3 + 1));
      }
}

// A different source for each lane; sums over the warp; a scan.
__global__ void idioms(int *out) {
  int lane = threadIdx.x & 31;
  int v = threadIdx.x * threadIdx.x;
  out[threadIdx.x] = __shfl_sync(ALL, v, 31 - lane);
  int sum = v;
  for (int d = 16; d > 0; d /= 2)
    sum += __shfl_xor_sync(ALL, sum, d);
  out[T + threadIdx.x] = sum;
  int scan = v;
  for (int d = 1; d < 32; d *= 2) {
    int below = __shfl_up_sync(ALL, scan, d);
    if (lane >= d)
      scan += below;
  }
  out[2 * T + threadIdx.x] = scan;
}

// Half a warp, and the two halves on different paths.
__global__ void halves(int *out) {
  int lane = threadIdx.x;
  int v = lane + 100;
  if (lane < 16)
    v = __shfl_down_sync(0x0000ffffu, v, 1, 16);
  else
    v = __shfl_sync(0xffff0000u, v, 20);
  out[lane] = v;
}

// A block that ends in half a warp.
__global__ void ragged(int *out) {
  unsigned mask = __ballot_sync(threadIdx.x < 32 ? ALL : 0xffu, true);
  out[threadIdx.x] = __shfl_sync(mask, int(threadIdx.x), 7);
}

int main() {
  sweep<int>();
  sweep<float>();
  sweep<double>();
  sweep<unsigned long long>();
  int *out = managed<int>(3 * T);
  idioms<<<1, T>>>(out);
  finish_kernel();
  for (int t = 0; t < T; ++t) {
    int w = t & ~31, sum = 0, scan = 0;
    for (int i = w; i < w + 32; ++i) {
      sum += i * i;
      scan += i <= t ? i * i : 0;
    }
    EXPECT_AT(t, out[t], (w + 31 - (t & 31)) * (w + 31 - (t & 31)));
    EXPECT_AT(t, out[T + t], sum);
    EXPECT_AT(t, out[2 * T + t], scan);
  }
  halves<<<1, 32>>>(out);
  finish_kernel();
  for (int t = 0; t < 32; ++t)
    EXPECT_AT(t, out[t], t < 15 ? t + 101 : t == 15 ? 115 : 120);
  ragged<<<1, 40>>>(out);
  finish_kernel();
  for (int t = 0; t < 40; ++t)
    EXPECT_AT(t, out[t], t < 32 ? 7 : 39);
  return result();
}
