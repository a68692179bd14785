// The CPU's forms of kernels, from shared objects.
#pragma once
#include "../programs/abi.h"
#include <string>
#include <vector>

// The table of one translation unit, and what its variables were when it was loaded.
struct Emulated {
  std::string file;
  const regrain_cpu_image *image;
  std::vector<std::string> initial; // by variable
  bool holds(const std::string &kernel) const;
};

// All tables of the folder that STANDIN_HIP_MODULES names, loaded at the first call; empty where it is not set.
const std::vector<Emulated> &emulated();
