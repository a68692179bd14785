//===- reached.h - what functions and variables refer to ------------------------===//

#ifndef REGRAIN_BRIDGE_REACHED_H
#define REGRAIN_BRIDGE_REACHED_H

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Constant.h"
#include "llvm/Support/Error.h"

namespace regrain_bridge {

/// The globals that values refer to, each given once.
class Reached {
public:
  void add(llvm::Value *value) {
    if (llvm::isa<llvm::Constant>(value) && seen.insert(value).second)
      work.push_back(llvm::cast<llvm::Constant>(value));
  }
  llvm::Constant *next() { return work.empty() ? nullptr : work.pop_back_val(); }
  bool contains(const llvm::Value *value) const { return seen.contains(value); }

private:
  llvm::DenseSet<const llvm::Value *> seen;
  llvm::SmallVector<llvm::Constant *> work;
};

/// Reads the bodies of what `reached` holds and of what they reach, from the bitcode that their module is read from.
llvm::Error readBodies(Reached &reached);

/// Takes internal functions and variables out of a module that nothing refers to.
void removeUnreferenced(llvm::Module &module);

} // namespace regrain_bridge

#endif
