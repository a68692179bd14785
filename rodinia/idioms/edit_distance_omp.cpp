// Edit distances: pairs of strings in parallel, the table row by row with one row kept.
#include "twins.h"

#include <algorithm>
#include <vector>

namespace {

int distance(const char *a, int rows, const char *b, int cols, int *row) {
  for (int j = 0; j <= cols; ++j)
    row[j] = j;
  for (int i = 0; i < rows; ++i) {
    int across = row[0];
    row[0] = i + 1;
    for (int j = 0; j < cols; ++j) {
      const int above = row[j + 1];
      row[j + 1] = std::min(std::min(above, row[j]) + 1, across + (a[i] == b[j] ? 0 : 1));
      across = above;
    }
  }
  return row[cols];
}

} // namespace

void twin::edit_distance(const char *left, const char *right, const int *left_lengths,
                         const int *right_lengths, int *distances, int pairs, int longest) {
#pragma omp parallel
  {
    std::vector<int> row(longest + 1);
#pragma omp for schedule(dynamic, 16)
    for (int pair = 0; pair < pairs; ++pair) {
      const std::size_t at = static_cast<std::size_t>(pair) * longest;
      distances[pair] = distance(left + at, left_lengths[pair], right + at, right_lengths[pair], row.data());
    }
  }
}
