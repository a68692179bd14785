// Bounds of points: six reductions in one loop.
#include "points.h"
#include "twins.h"

#include <algorithm>
#include <cstdlib>

Bounds twin::bounds_atomic(const int *points, int count) {
  int west = INT_MAX, east = INT_MIN, south = INT_MAX, north = INT_MIN, near = 0, distances = 0;
#pragma omp parallel for simd schedule(static) reduction(min : west, south) reduction(max : east, north) \
    reduction(+ : near, distances)
  for (int i = 0; i < count; ++i) {
    const int x = points[2 * i], y = points[2 * i + 1];
    west = std::min(west, x);
    east = std::max(east, x);
    south = std::min(south, y);
    north = std::max(north, y);
    const int distance = std::abs(x - kSide / 2) + std::abs(y - kSide / 2);
    near += distance < kRadius;
    distances += distance < kRadius ? distance : 0;
  }
  return {west, east, south, north, near, distances};
}
