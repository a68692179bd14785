// What the CUDA program and its host reference share: the model of the image and its noise.
#pragma once

#include <vector>

// An image and the part of it that shows noise alone, rows and columns from the
// first to before the last.
struct Image {
  int rows, cols;
  int first_row, last_row;
  int first_col, last_col;
};

// Four differences to the neighbours enter each step.
constexpr float kQuarter = 0.25f;

// Squared coefficient of variation: how strong the speckle is.
inline float speckle_scale(double sum, double squares, double count) {
  const double mean = sum / count;
  const double variance = squares / count - mean * mean;
  return static_cast<float>(variance / (mean * mean));
}

// Diffuses `pixels` (rows x cols, row major) by `steps` steps of size `lambda`.
void srad_reference(const Image &image, std::vector<float> &pixels, float lambda, int steps);
