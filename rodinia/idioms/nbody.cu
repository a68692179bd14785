// Bodies that attract each other, all pairs: a thread for each body, tiles of 256 bodies in shared memory.
#include "idiom.h"
#include "twins.h"

constexpr int kThreads = 256;

// Bodies are x, y, z and mass. Moves each by the attraction of all bodies in `from`.
__global__ void advance(const float4 *from, float4 *to, float4 *velocities, int count, float softening,
                        float step) {
  __shared__ float4 tile[kThreads];

  const int i = blockIdx.x * kThreads + threadIdx.x;
  const float4 own = i < count ? from[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int first = 0; first < count; first += kThreads) {
    const int other = first + threadIdx.x;
    tile[threadIdx.x] = other < count ? from[other] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < kThreads; ++j) {
      const float dx = tile[j].x - own.x, dy = tile[j].y - own.y, dz = tile[j].z - own.z;
      const float near = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
      const float pull = tile[j].w * near * near * near;
      ax += pull * dx;
      ay += pull * dy;
      az += pull * dz;
    }
    __syncthreads();
  }
  if (i < count) {
    float4 v = velocities[i];
    v.x += step * ax;
    v.y += step * ay;
    v.z += step * az;
    velocities[i] = v;
    to[i] = make_float4(own.x + step * v.x, own.y + step * v.y, own.z + step * v.z, own.w);
  }
}

int main(int argc, char **argv) {
  int count = 601, sweeps = 1;
  bench::IdiomOptions options("nbody", "attraction of all pairs of bodies: their velocities");
  options.add("count", &count, 1, 1000000, "bodies");
  options.add("sweeps", &sweeps, 1, 100000, "pairs of time steps");
  options.parse(argc, argv);

  const float softening = 0.01f, step = 0.001f;
  const std::vector<float> initial = options.floats(0, 4 * static_cast<size_t>(count), 0.0f, 1.0f);
  const bench::DeviceArray<float> start(initial), bodies(initial.size()), moved(initial.size());
  bench::DeviceArray<float> velocities(initial.size());
  const auto advance_all = [&](const bench::DeviceArray<float> &from, const bench::DeviceArray<float> &to) {
    advance<<<bench::pieces(count, kThreads), kThreads>>>(
        reinterpret_cast<const float4 *>(from.get()), reinterpret_cast<float4 *>(to.get()),
        reinterpret_cast<float4 *>(velocities.get()), count, softening, step);
    CHECK_LAUNCH();
  };
  const auto kernels = [&] {
    bench::copy_on_device(bodies, start, initial.size());
    velocities.fill_bytes(0);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      advance_all(bodies, moved);
      advance_all(moved, bodies);
    }
  };
  std::vector<float> want(initial.size());
  const auto reference = [&] {
    twin::nbody(initial.data(), want.data(), count, 2 * sweeps, softening, step);
  };
  return bench::judge(options, velocities, kernels, want, reference, 1e-4, 0.1);
}
