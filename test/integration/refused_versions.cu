// RUN: %regrain --offload-arch=cpu -O2 -fregrain-coarsen-blocks=4 -Wl,--wrap=cudaLaunchKernel %s -o %t && %t
// RUN: %regrain --offload-arch=cpu -O2 -fregrain-coarsen-blocks=4 -fregrain-round-trip -Wl,--wrap=cudaLaunchKernel %s -o %t && %t
// RUN: %regrain --offload-arch=cpu -O2 -fregrain-profile-generate -fregrain-alternatives=blocks=1,4 -Wl,--wrap=cudaLaunchKernel %s -o %t
// RUN: rm -f %t.db && env REGRAIN_TUNING_DB=%t.db %t profiled && %regrain-tune show %t.db | FileCheck %s --check-prefix=SHOW
// NOT-HIP: profiles are not made of emulated code

// Where the device cannot launch a version of a kernel, the original runs and the program sees no error; an error after some of the
// blocks have run is the program's to see.

// SHOW: increment
// SHOW: b4x1x1{{.*}}cannot be launched

#include "check.h"

__global__ void increment(int *out) { out[blockIdx.x * blockDim.x + threadIdx.x] += 1; }

static const int blocks = 11, threads = 32;
static bool profiled;
static int begun, refuse_from = 1, refuse_to = 0;

extern "C" cudaError_t __real_cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);

// Refuses the launches from number `refuse_from` to number `refuse_to`, when profiling those of coarse blocks; the error is
// remembered as by the real one.
extern "C" cudaError_t __wrap_cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **args, size_t shared,
                                               cudaStream_t stream) {
  ++begun;
  const bool refused = profiled ? grid.x < blocks : begun >= refuse_from && begun <= refuse_to;
  return __real_cudaLaunchKernel(kernel, grid, refused ? dim3(2048) : block, args, shared, stream);
}

int main(int argc, char **) {
  profiled = argc > 1;
  int *out = managed<int>(blocks * threads);
  int times = 0;
  auto launch = [&](int from, int to) {
    begun = 0;
    refuse_from = from;
    refuse_to = to;
    increment<<<blocks, threads>>>(out);
    return cudaGetLastError();
  };
  auto all_ran = [&] {
    OK(cudaDeviceSynchronize());
    ++times;
    for (int i = 0; i < blocks * threads; ++i)
      EXPECT_AT(i, out[i], times);
  };

  if (profiled) {
    // Coarse blocks are tried once, and never again.
    int attempts = 0;
    for (int i = 0; i < 6; ++i) {
      OK(launch(1, 0));
      all_ran();
      attempts += begun;
    }
    EXPECT_AT(0, attempts, 7);
    return result();
  }

  // Two launches in place of one: coarse blocks and what they leave over.
  OK(launch(1, 0));
  EXPECT_AT(0, begun, 2);
  all_ran();

  // The first is refused: nothing more is launched but the original.
  OK(launch(1, 1));
  EXPECT_AT(0, begun, 2);
  all_ran();

  // The second is refused: what has run must not run again.
  EXPECT_ERROR(launch(2, 2), cudaErrorInvalidConfiguration);
  EXPECT_AT(0, begun, 2);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < blocks * threads; ++i)
    EXPECT_AT(i, out[i], times + (i < 8 * threads));
  for (int i = 0; i < blocks * threads; ++i)
    out[i] = times;

  // The original is refused too: the error is CUDA's own.
  EXPECT_ERROR(launch(1, 2), cudaErrorInvalidConfiguration);
  EXPECT_AT(0, begun, 2);
  return result();
}
