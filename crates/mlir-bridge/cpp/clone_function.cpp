//===- clone_function.cpp - copies of LLVM functions -----------------------------===//
//
// LLVM's C API can clone modules, not functions, and inlines nothing.
//
//===--------------------------------------------------------------------------===//

#include "bridge.h"

#include "llvm-c/Core.h"
#include "llvm/IR/Function.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

LLVMValueRef regrainCloneFunction(LLVMValueRef function) {
  ValueToValueMapTy map;
  return wrap(CloneFunction(cast<Function>(unwrap(function)), map));
}

void regrainForgetBody(LLVMValueRef function) {
  unwrap<Function>(function)->deleteBody();
}

bool regrainInlineCall(LLVMValueRef call) {
  InlineFunctionInfo info;
  return InlineFunction(*unwrap<CallBase>(call), info).isSuccess();
}
