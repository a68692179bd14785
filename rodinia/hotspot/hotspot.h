// What the CUDA program and its host reference share: the chip's thermal model.
#pragma once

#include <vector>

// One cell's thermal network: capacitance and the resistances to its
// neighbours in x and y and to the ambient, and the time of one Euler step.
struct ThermalModel {
  float capacitance;
  float resistance_x;
  float resistance_y;
  float resistance_z;
  float time_step;
};

constexpr float kAmbientKelvin = 80.0f;

// Advances `temperature` (rows x cols, row major) by `steps` Euler steps.
void hotspot_reference(const ThermalModel &model, const std::vector<float> &power,
                       std::vector<float> &temperature, int rows, int cols, int steps);
