// What the CUDA program and its host reference share: a network with one hidden
// layer and one output, trained on one pattern.
#pragma once

#include <cstddef>
#include <vector>

// Hidden units, and inputs that a block takes.
constexpr int kTile = 16;
// A row of weights: that of the bias unit (not used), then the hidden units'.
constexpr int kStride = kTile + 1;

constexpr float kRate = 0.3f;
constexpr float kMomentum = 0.3f;

struct Network {
  int inputs;                 // a multiple of kTile
  float target;               // the output wanted
  std::vector<float> input;   // inputs + 1 values, the first the bias, 1
  std::vector<float> weights; // (inputs + 1) rows of kStride: input to hidden
  std::vector<float> changes; // the last change of each of these
  std::vector<float> output_weights; // kStride: bias and hidden units to the output
  std::vector<float> output_changes;
};

// What the hidden layer's weights are to be adjusted by: kStride values.
using HiddenDelta = std::vector<float>;

// The small part that stays on the host: from the hidden units' partial sums
// (blocks x kTile) to output, errors, and adjusted weights of the output layer.
HiddenDelta train_output_layer(Network &network, const std::vector<float> &partial_sums);

// Trains for `epochs` on the host alone.
void backprop_reference(Network &network, int epochs);
