// What bounds_atomic finds out about its points.
#pragma once

#include "sides.h"

#include <climits>

constexpr int kSide = 1024;
// Nearer to the middle than this, a point counts; so small that no sum of distances overflows.
constexpr int kRadius = 24;

struct Bounds {
  int west, east, south, north;
  int near, distance;
};
constexpr int kFields = sizeof(Bounds) / sizeof(int);

BOTH_SIDES inline Bounds empty_bounds() { return {INT_MAX, INT_MIN, INT_MAX, INT_MIN, 0, 0}; }
