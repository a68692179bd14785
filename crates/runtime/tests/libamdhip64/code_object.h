// AMD's code objects as the stand-in reads them.
#pragma once
#include "record.h"
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

struct Kernel {
  std::vector<uint32_t> sizes; // of the parameters, without the hidden ones
  uint32_t threads = 1024, shared = 0, local = 0, registers = 0;
};
struct Variable {
  size_t size = 0;
  std::string initial; // empty where it is all zero
  bool managed = false;
};
struct CodeObject {
  std::string arch; // as in "gfx90a", empty where it is not known
  std::map<std::string, Kernel> kernels;
  std::map<std::string, Variable> variables;
};

// Reads a code object, or the short form of tests (record.h) behind ELF's magic. Returns whether it is one.
bool read_code_object(const void *bytes, CodeObject &to);
