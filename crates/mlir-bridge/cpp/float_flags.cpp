//===- float_flags.cpp - fast-math flags that LLVM's C API cannot take away ----===//
//
// LLVMSetFastMathFlags only adds flags.
//
//===--------------------------------------------------------------------------===//

#include "bridge.h"

#include "llvm-c/Core.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/CBindingWrapping.h"

void regrainForbidContraction(LLVMValueRef value) {
  auto *function = llvm::unwrap<llvm::Function>(value);
  for (llvm::Instruction &instruction : llvm::instructions(*function)) {
    if (!llvm::isa<llvm::FPMathOperator>(instruction))
      continue;
    llvm::FastMathFlags flags = instruction.getFastMathFlags();
    flags.setAllowContract(false);
    instruction.copyFastMathFlags(flags);
  }
}
