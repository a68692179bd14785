// Particles in a box: shares of the array in parallel, step by step as a simulation asks for.
#include "particle.h"
#include "twins.h"

namespace {

inline void bounce(float &at, float &velocity, float &bounces) {
  const bool below = at < 0.0f, outside = below || at > 1.0f;
  const float inside = below ? -at : 2.0f - at;
  at = outside ? inside : at;
  velocity = outside ? -0.9f * velocity : velocity;
  bounces += outside ? 1.0f : 0.0f;
}

} // namespace

void twin::particles_aos(Particle *particles, int count, int steps, float step) {
#pragma omp parallel
  for (int done = 0; done < steps; ++done) {
#pragma omp for simd schedule(static)
    for (int i = 0; i < count; ++i) {
      Particle &p = particles[i];
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
    }
  }
}
