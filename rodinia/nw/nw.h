// What the CUDA program and its host reference share.
#pragma once

#include <vector>

// Cells of a tile's side.
constexpr int kTile = 16;

// Fills the score matrix of a global alignment. `score` is (size+1) x (size+1),
// row major, with its first row and column given; `similarity` is size x size;
// a gap costs `penalty`. `size` is a multiple of kTile.
void nw_reference(const std::vector<int> &similarity, std::vector<int> &score, int size,
                  int penalty);
