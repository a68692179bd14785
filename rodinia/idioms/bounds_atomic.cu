// The bounding box of points, how many lie near the middle and the sum of their distances from it: atomics on shared
// memory within a block, then one on global memory for each block.
#include "idiom.h"
#include "points.h"
#include "twins.h"

constexpr int kThreads = 256;
constexpr int kBlocks = 512;

__global__ void clear(Bounds *bounds) { *bounds = empty_bounds(); }

__global__ void find_bounds(const int2 *points, Bounds *bounds, int count) {
  __shared__ Bounds box;
  if (threadIdx.x == 0)
    box = empty_bounds();
  __syncthreads();

  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const int2 point = points[i];
    atomicMin(&box.west, point.x);
    atomicMax(&box.east, point.x);
    atomicMin(&box.south, point.y);
    atomicMax(&box.north, point.y);
    const int distance = abs(point.x - kSide / 2) + abs(point.y - kSide / 2);
    if (distance < kRadius) {
      atomicAdd(&box.near, 1);
      atomicAdd(&box.distance, distance);
    }
  }
  __syncthreads();

  if (threadIdx.x == 0) {
    atomicMin(&bounds->west, box.west);
    atomicMax(&bounds->east, box.east);
    atomicMin(&bounds->south, box.south);
    atomicMax(&bounds->north, box.north);
    atomicAdd(&bounds->near, box.near);
    atomicAdd(&bounds->distance, box.distance);
  }
}

int main(int argc, char **argv) {
  int count = 200001;
  bench::IdiomOptions options("bounds_atomic", "reductions by atomics");
  options.add("count", &count, 1, 100000000, "points");
  options.parse(argc, argv);

  const std::vector<int> data = options.integers(0, 2 * static_cast<size_t>(count), kSide);
  const bench::DeviceArray<int> points(data), result(kFields);
  const auto kernels = [&] {
    Bounds *bounds = reinterpret_cast<Bounds *>(result.get());
    clear<<<1, 1>>>(bounds);
    CHECK_LAUNCH();
    find_bounds<<<kBlocks, kThreads>>>(reinterpret_cast<const int2 *>(points.get()), bounds, count);
    CHECK_LAUNCH();
  };
  std::vector<int> want(kFields);
  return bench::judge(options, result, kernels, want, [&] {
    const Bounds b = twin::bounds_atomic(data.data(), count);
    want = {b.west, b.east, b.south, b.north, b.near, b.distance};
  });
}
