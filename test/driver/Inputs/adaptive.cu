// A kernel that exists as it is and four blocks at once, where launches of one of the two are delayed: of the one that is named. Says which
// ran, and whether every launch ran once.
#include <cstdio>
#include <cstring>
#include <thread>
#include <unistd.h>

__global__ void increment(int *out) { out[blockIdx.x * blockDim.x + threadIdx.x] += 1; }

static const int blocks = 12, threads = 32, launches = 60;
static bool slow_is_coarse;
static thread_local bool last_is_coarse;
static thread_local int coarse_launches;

extern "C" cudaError_t __real_cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);

extern "C" cudaError_t __wrap_cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **args, size_t shared,
                                               cudaStream_t stream) {
  last_is_coarse = grid.x < blocks;
  coarse_launches += last_is_coarse;
  if (last_is_coarse == slow_is_coarse)
    usleep(2000);
  return __real_cudaLaunchKernel(kernel, grid, block, args, shared, stream);
}

// What ran in the last launch.
static const char *launch_all(int *out, cudaStream_t stream) {
  for (int i = 0; i < launches; ++i)
    increment<<<blocks, threads, 0, stream>>>(out);
  return last_is_coarse ? "b4x1x1" : "original";
}

int main(int argc, char **argv) {
  slow_is_coarse = !strcmp(argv[1], "coarse");
  int *out, host[blocks * threads];
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMalloc(&out, sizeof host);
  cudaMemset(out, 0, sizeof host);
  int expected = launches;
  if (argc > 2) {
    // Another thread has launched as many on memory of its own.
    int *other;
    cudaMalloc(&other, sizeof host);
    std::thread thread(launch_all, other, stream);
    launch_all(out, stream);
    expected += launches;
    thread.join();
  }
  const char *last = launch_all(out, stream);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  bool once = true, never = true;
  for (int value : host) {
    once &= value == expected;
    never &= value == 0;
  }
  printf("%d of %d launches ran b4x1x1\n", coarse_launches, launches);
  printf("settled on %s, %s, %s\n", last, once ? "each launch ran once" : never ? "nothing ran" : "WRONG",
         cudaGetErrorString(cudaGetLastError()));
}
