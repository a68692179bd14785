// What the CUDA program and its host reference share.
#pragma once

#include <vector>

// Cheapest way from any cell of the first row to each cell of the last, going
// down one row and at most one column aside at a time. `cost` is rows x cols,
// row major; the result has one entry for each column.
std::vector<int> pathfinder_reference(const std::vector<int> &cost, int rows, int cols);
