// A particle as particles_aos keeps them, one behind the other.
#pragma once

struct Particle {
  float x, y, z;
  float vx, vy, vz;
  float mass, bounces;
};
