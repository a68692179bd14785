// Host reference: one row at a time, its columns in parallel and in vectors.
// Integers throughout: equal to the kernel's result in every bit.
#include "pathfinder.h"

#include <algorithm>
#include <cstddef>

namespace {

// Columns a thread takes at once: enough to outweigh the loop's start.
constexpr int kStrip = 4096;

void advance_strip(const int *__restrict cost, const int *__restrict from, int *__restrict to,
                   int first, int last, int cols) {
  const int inner_first = std::max(first, 1);
  const int inner_last = std::min(last, cols - 1);
  if (first == 0)
    to[0] = cost[0] + std::min(from[0], from[std::min(1, cols - 1)]);
#pragma omp simd
  for (int x = inner_first; x < inner_last; ++x)
    to[x] = cost[x] + std::min(from[x], std::min(from[x - 1], from[x + 1]));
  if (last == cols && cols > 1)
    to[cols - 1] = cost[cols - 1] + std::min(from[cols - 2], from[cols - 1]);
}

} // namespace

std::vector<int> pathfinder_reference(const std::vector<int> &cost, int rows, int cols) {
  std::vector<int> first(cost.begin(), cost.begin() + cols);
  std::vector<int> second(cols);
  int *from = first.data();
  int *to = second.data();
#pragma omp parallel firstprivate(from, to)
  for (int row = 1; row < rows; ++row) {
#pragma omp for schedule(static)
    for (int start = 0; start < cols; start += kStrip)
      advance_strip(cost.data() + static_cast<std::size_t>(row) * cols, from, to, start,
                    std::min(start + kStrip, cols), cols);
    std::swap(from, to);
  }
  return rows % 2 ? first : second;
}
