//===- regions.h - what regions and groups of them share ------------------------===//

#ifndef REGRAIN_BRIDGE_REGIONS_H
#define REGRAIN_BRIDGE_REGIONS_H

#include "bridge.h"

#include "llvm/IR/Instructions.h"

#include <string>
#include <vector>

namespace regrain_bridge {

/// Lines of the source between `#pragma scop` and `#pragma endscop`.
struct Scop {
  unsigned first, last, regions = 0, refused = 0;
};

/// What the source says of regions.
struct Source {
  std::string path;
  std::vector<Scop> scops;
};

/// A function that was made of a nest.
struct Made {
  llvm::CallInst *call;
  std::string place;
  int scop;
};

/// What is said of nests, a line each.
struct Words {
  RegrainSink sink;
  void *user;
  void say(const llvm::Twine &line) {
    std::string text = (line + "\n").str();
    sink(text.data(), text.size(), user);
  }
};

/// Whether a value may go through a cell.
bool isNumber(const llvm::Type *type);

/// Why an instruction cannot be part of a region: others see what it does, or it may not be done elsewhere. Null if it can.
const char *whyNot(const llvm::Instruction &inst);

/// Hands a value out through memory: a cell is stored to at `inside`, and loaded from at `behind` for all uses for which `isBehind` holds.
void handOut(llvm::Instruction &value, llvm::Instruction &inside, llvm::Instruction &behind,
             llvm::function_ref<bool(const llvm::Use &)> isBehind);

/// Makes a function of blocks; a call of it stands there. Null if that is not possible.
llvm::CallInst *outline(llvm::Function &function, llvm::ArrayRef<llvm::BasicBlock *> blocks, const llvm::Twine &name);

/// Says which function a call is of: "NAME FILE LINE OBJECTS GLOBALS REPEATED", an object's number for each parameter and
/// `NAME=NUMBER` for each variable that has one.
std::string describe(const llvm::CallInst &call, const std::string &place);

/// Finds the rows of calls, with nothing between that others see, and makes groups of them.
void findGroups(llvm::Function &function, llvm::ArrayRef<Made> made, Source &source, Words &words);

} // namespace regrain_bridge

#endif
