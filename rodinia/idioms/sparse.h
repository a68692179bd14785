// Sparse matrices and graphs: made here, read by several programs and their twins.
#pragma once

#include "../common/random.h"

#include <algorithm>
#include <cstddef>
#include <vector>

// Compressed rows; a graph has no values.
struct Csr {
  int rows = 0;
  std::vector<int> start, cols;
  std::vector<float> values;
};

// Row r has between `least` and `most` entries. Half of a row's columns lie near the diagonal, half anywhere.
inline Csr random_csr(const bench::CounterRandom &random, int rows, int least, int most) {
  Csr matrix;
  matrix.rows = rows;
  matrix.start.push_back(0);
  for (int r = 0; r < rows; ++r) {
    const int entries = least + random.below(r, most - least + 1);
    const std::size_t first = matrix.cols.size();
    for (int e = 0; e < entries; ++e) {
      const std::uint64_t at = (1ull << 40) + 2 * (first + e);
      const int near = r - 64 + static_cast<int>(random.below(at, 129));
      const int far = random.below(at, rows);
      matrix.cols.push_back(random.bits(at + 1) % 2 ? far : std::min(std::max(near, 0), rows - 1));
    }
    std::sort(matrix.cols.begin() + first, matrix.cols.end());
    matrix.start.push_back(static_cast<int>(matrix.cols.size()));
  }
  matrix.values.resize(matrix.cols.size());
  for (std::size_t i = 0; i < matrix.values.size(); ++i)
    matrix.values[i] = random.uniform((1ull << 41) + i, 0.0f, 1.0f);
  return matrix;
}
