// Launches by `cudaLaunchKernel` and `<<<>>>` while objects with destructors live: they have ways out that must stay.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-coarsen-blocks=2 %s -o %t
// RUN: %t
// RUN: %regrain -O0 --offload-arch=cpu -fregrain-coarsen-threads=2 %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
// RUN: %regrain -O2 --offload-arch=sm_80 -fregrain-specialize -fregrain-coarsen-blocks=2 -c %s -o %t.o
#include "check.h"

#include <stdexcept>
#include <vector>

__global__ void add(int *to, int n, int what) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    to[i] += what;
}

static int alive;

struct Guard {
  Guard() { ++alive; }
  Guard(const Guard &) { ++alive; }
  ~Guard() { --alive; }
};

// The pointer to the kernel is known where it is launched.
static cudaError_t by_hand(int *to, int n, int what) {
  Guard guard;
  std::vector<int> live(3, what);
  void *arguments[] = {&to, &n, &live[1]};
  return cudaLaunchKernel((const void *)add, dim3((n + 63) / 64), dim3(64), arguments, 0, nullptr);
}

static int value_or_throw(int what) {
  Guard guard;
  if (what < 0)
    throw std::runtime_error("a negative argument");
  return what;
}

// An argument that may throw stands between the configuration and the launch.
static void with_argument(int *to, int n, int what) {
  Guard guard;
  add<<<(n + 31) / 32, 32>>>(to, n, value_or_throw(what));
}

int main() {
  constexpr int N = 1000;
  int *a = managed<int>(N);
  OK(by_hand(a, N, 5));
  with_argument(a, N, 7);
  finish_kernel();
  for (int i = 0; i < N; ++i)
    EXPECT_AT(i, a[i], 12);
  EXPECT(alive == 0);
  bool caught = false;
  try {
    with_argument(a, N, -1);
  } catch (const std::runtime_error &) {
    caught = true;
  }
  EXPECT(caught && alive == 0);
  with_argument(a, N, 1);
  finish_kernel();
  EXPECT(a[0] == 13 && a[N - 1] == 13);
  return result();
}
