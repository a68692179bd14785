// Shuffles from lanes that take no part: beyond the end of the block, left, in another branch, not named. They give 0, as on NVIDIA's
// chips (where all but the last were seen to); what is out of range by width gives the reader's own value, as PTX says.
// RUN: %regrain -O2 --offload-arch=cpu -Rpass-missed=regrain %s -o %t 2>&1 | FileCheck %s --implicit-check-not='not split' --allow-empty
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-coarsen-threads=2 %s -o %t
// RUN: %t
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-coarsen-blocks=2 %s -o %t
// RUN: %t
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-coarsen-blocks=2 -fregrain-coarsen-threads=2 -fregrain-round-trip %s -o %t
// RUN: %t
#include "check.h"

constexpr unsigned ALL = 0xffffffffu;

enum Kind { IDX, UP, DOWN, XOR, KINDS };

template <typename V> __device__ V shuffle(unsigned mask, V v, int kind, int arg, int width) {
  switch (kind) {
  case IDX:
    return __shfl_sync(mask, v, arg, width);
  case UP:
    return __shfl_up_sync(mask, v, arg, width);
  case DOWN:
    return __shfl_down_sync(mask, v, arg, width);
  default:
    return __shfl_xor_sync(mask, v, arg, width);
  }
}

// All threads of the block; the last warp need not be whole. The block's own size is the stride of `out`.
template <typename V> __global__ void whole(V *out, int kind, int arg, int width) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = shuffle(ALL, V(threadIdx.x + 100), kind, arg, width);
}

// Threads from `stay` on have left.
template <typename V> __global__ void left(V *out, int stay, int kind, int arg, int width) {
  if (threadIdx.x >= stay)
    return;
  out[blockIdx.x * blockDim.x + threadIdx.x] = shuffle(ALL, V(threadIdx.x + 100), kind, arg, width);
}

// Lanes from `stay` on take the other way and are not named.
template <typename V> __global__ void elsewhere(V *out, int stay, int kind, int arg, int width) {
  V v = V(threadIdx.x + 100), r = V(-1);
  if ((threadIdx.x & 31) < stay)
    r = shuffle((1u << stay) - 1, v, kind, arg, width);
  else
    v = V(7);
  out[blockIdx.x * blockDim.x + threadIdx.x] = r + v;
}

// All run; even lanes name even lanes, odd ones odd ones.
template <typename V> __global__ void unnamed(V *out, int kind, int arg, int width) {
  unsigned mask = threadIdx.x & 1 ? 0xaaaaaaaau : 0x55555555u;
  out[blockIdx.x * blockDim.x + threadIdx.x] = shuffle(mask, V(threadIdx.x + 100), kind, arg, width);
}

// What thread t gets where `takes_part` says who takes part in the shuffle that t takes part in.
template <typename P> static int expected(int t, int kind, int arg, int width, P takes_part) {
  int lane = t & 31, base = lane & ~(width - 1), from = lane;
  if (kind == IDX)
    from = base + (arg & (width - 1));
  if (kind == UP && lane - arg >= base)
    from = lane - arg;
  if (kind == DOWN && lane + arg < base + width)
    from = lane + arg;
  if (kind == XOR && (lane ^ arg) < base + width)
    from = lane ^ arg;
  int source = (t & ~31) + from;
  return source == t || takes_part(source) ? source + 100 : 0;
}

constexpr int BLOCKS = 3, MOST = 96;

// NVIDIA's chips read a lane that is not named where it runs the same instruction; PTX does not say.
static bool reads_unnamed;

template <typename V> struct Check {
  V *out = managed<V>(BLOCKS * MOST);
  int kind, arg, width;

  template <typename E> void operator()(const char *kernel, int threads, E want) {
    const int before = failures;
    finish_kernel();
    for (int b = 0; b < BLOCKS; ++b)
      for (int t = 0; t < threads; ++t)
        if (out[b * threads + t] != V(want(t)) && ++failures == before + 1)
          std::printf("%s: block %d, thread %d of %d: %g, expected %g\n", kernel, b, t, threads, double(out[b * threads + t]), double(V(want(t))));
    std::fill(out, out + BLOCKS * MOST, V(0));
    if (failures > before)
      std::printf("  %d of %d with kind %d, argument %d, width %d\n", failures - before, BLOCKS * threads, kind, arg, width);
  }
};

template <typename V> void sweep() {
  Check<V> check;
  for (int kind = IDX; kind < KINDS; ++kind)
    for (int width : {32, 16, 4, 1})
      for (int arg : {0, 1, 3, 16, 31}) {
        check.kind = kind, check.arg = arg, check.width = width;
        for (int threads : {1, 20, 33, 64, 90}) {
          whole<<<BLOCKS, threads>>>(check.out, kind, arg, width);
          check("whole", threads, [=](int t) { return expected(t, kind, arg, width, [=](int s) { return s < threads; }); });
        }
        for (int stay : {5, 40}) {
          left<<<BLOCKS, 64>>>(check.out, stay, kind, arg, width);
          check("left", 64, [=](int t) {
            return t < stay ? expected(t, kind, arg, width, [=](int s) { return s < stay; }) : 0;
          });
        }
        elsewhere<<<BLOCKS, 64>>>(check.out, 11, kind, arg, width);
        check("elsewhere", 64, [=](int t) {
          if ((t & 31) >= 11)
            return 6;
          return t + 100 + expected(t, kind, arg, width, [](int s) { return (s & 31) < 11; });
        });
        unnamed<<<BLOCKS, 50>>>(check.out, kind, arg, width);
        check("unnamed", 50, [=](int t) {
          return expected(t, kind, arg, width, [=](int s) { return s < 50 && (reads_unnamed || (s & 1) == (t & 1)); });
        });
      }
}

// The reduction that programs rely on: a block whose size is no multiple of 32.
__global__ void sum(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = i < n ? in[i] : 0;
  for (int d = 16; d > 0; d /= 2)
    v += __shfl_down_sync(ALL, v, d);
  if (threadIdx.x % 32 == 0)
    atomicAdd(out, v);
}

__global__ void sum_of_those_who_stay(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int v = in[i];
  for (int d = 16; d > 0; d /= 2)
    v += __shfl_xor_sync(__activemask(), v, d);
  if (threadIdx.x % 32 == 0)
    atomicAdd(out, v);
}

static void reductions() {
  int *in = managed<int>(1000), *out = managed<int>(2), want = 0;
  for (int i = 0; i < 1000; ++i)
    want += in[i] = i % 17 + 1;
  sum<<<25, 40>>>(in, out, 1000);
  sum_of_those_who_stay<<<16, 64>>>(in, out + 1, 1000);
  finish_kernel();
  EXPECT(out[0] == want);
  EXPECT(out[1] == want);
}

int main() {
  reads_unnamed = on_nvidia();
  sweep<int>();
  sweep<float>();
  sweep<double>();
  reductions();
  return result();
}
