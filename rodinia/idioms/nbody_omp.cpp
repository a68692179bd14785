// Bodies that attract each other: an array for each component, bodies in parallel, what attracts them in vectors.
#include "twins.h"

#include <cmath>
#include <vector>

void twin::nbody(const float *bodies, float *velocities, int count, int steps, float softening, float step) {
  std::vector<float> x(count), y(count), z(count), mass(count), vx(count), vy(count), vz(count);
  for (int i = 0; i < count; ++i) {
    x[i] = bodies[4 * i];
    y[i] = bodies[4 * i + 1];
    z[i] = bodies[4 * i + 2];
    mass[i] = bodies[4 * i + 3];
  }
#pragma omp parallel
  for (int s = 0; s < steps; ++s) {
#pragma omp for schedule(static)
    for (int i = 0; i < count; ++i) {
      float ax = 0.0f, ay = 0.0f, az = 0.0f;
#pragma omp simd reduction(+ : ax, ay, az)
      for (int j = 0; j < count; ++j) {
        const float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
        const float near = 1.0f / std::sqrt(dx * dx + dy * dy + dz * dz + softening);
        const float pull = mass[j] * near * near * near;
        ax += pull * dx;
        ay += pull * dy;
        az += pull * dz;
      }
      vx[i] += step * ax;
      vy[i] += step * ay;
      vz[i] += step * az;
    }
#pragma omp for simd schedule(static)
    for (int i = 0; i < count; ++i) {
      x[i] += step * vx[i];
      y[i] += step * vy[i];
      z[i] += step * vz[i];
    }
  }
  for (int i = 0; i < count; ++i) {
    velocities[4 * i] = vx[i];
    velocities[4 * i + 1] = vy[i];
    velocities[4 * i + 2] = vz[i];
  }
}
