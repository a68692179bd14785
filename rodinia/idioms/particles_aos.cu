// Particles that fall, slow down in air and bounce in a box: an array of structures, a thread for each.
#include "idiom.h"
#include "particle.h"
#include "twins.h"

constexpr int kThreads = 256;

// Keeps a coordinate in [0, 1].
__device__ static void bounce(float &at, float &velocity, float &bounces) {
  if (at < 0.0f || at > 1.0f) {
    at = at < 0.0f ? -at : 2.0f - at;
    velocity = -0.9f * velocity;
    bounces += 1.0f;
  }
}

__global__ void move(Particle *particles, int count, float step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  Particle p = particles[i];
  const float drag = 1.0f - 0.1f * step / p.mass;
  p.vx *= drag;
  p.vy *= drag;
  p.vz = p.vz * drag - 9.81f * step;
  p.x += step * p.vx;
  p.y += step * p.vy;
  p.z += step * p.vz;
  bounce(p.x, p.vx, p.bounces);
  bounce(p.y, p.vy, p.bounces);
  bounce(p.z, p.vz, p.bounces);
  particles[i] = p;
}

int main(int argc, char **argv) {
  int count = 10001, steps = 8;
  bench::IdiomOptions options("particles_aos", "an array of structures");
  options.add("count", &count, 1, 10000000, "particles");
  options.add("steps", &steps, 1, 10000, "time steps");
  options.parse(argc, argv);

  constexpr int kFields = sizeof(Particle) / sizeof(float);
  const float step = 0.01f;
  std::vector<float> initial = options.floats(0, kFields * static_cast<size_t>(count), 0.1f, 0.9f);
  for (size_t i = 0; i < initial.size(); ++i)
    if (i % kFields == 7)
      initial[i] = 0.0f;

  const bench::DeviceArray<float> start(initial), particles(initial.size());
  const auto kernels = [&] {
    bench::copy_on_device(particles, start, initial.size());
    for (int done = 0; done < steps; ++done) {
      move<<<bench::pieces(count, kThreads), kThreads>>>(reinterpret_cast<Particle *>(particles.get()), count,
                                                         step);
      CHECK_LAUNCH();
    }
  };
  std::vector<float> want(initial.size());
  const auto reference = [&] {
    want = initial;
    twin::particles_aos(reinterpret_cast<Particle *>(want.data()), count, steps, step);
  };
  return bench::judge(options, particles, kernels, want, reference, 1e-4, 1.0);
}
