//===- clone_function.cpp - a copy of an LLVM function --------------------------===//
//
// LLVM's C API can clone modules, not functions.
//
//===--------------------------------------------------------------------------===//

#include "llvm-c/Core.h"
#include "llvm/IR/Function.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

/// A copy of a function definition in the same module, with its attributes and metadata.
extern "C" LLVMValueRef regrainCloneFunction(LLVMValueRef function) {
  ValueToValueMapTy map;
  return wrap(CloneFunction(cast<Function>(unwrap(function)), map));
}
