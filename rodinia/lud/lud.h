// What the CUDA program and its host reference share.
#pragma once

#include <vector>

// Rows and columns of the blocks that the matrix is factored in.
constexpr int kTile = 16;

// Factors the size x size matrix in place into a unit lower and an upper
// triangle, without pivoting. `size` is a multiple of kTile.
void lud_reference(std::vector<float> &matrix, int size);
