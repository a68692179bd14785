//===- float_flags.cpp - contraction of products and sums ----------------------===//
//
// LLVM's C API only adds fast-math flags, and instruction selection contracts what optimisation has left side by side: other products in each
// form of a kernel. So the products of an expression are contracted as they come from clang, by the rule of its `-ffp-contract=on`
// (CGExprScalar.cpp, tryEmitFMulAdd).
//
//===--------------------------------------------------------------------------===//

#include "bridge.h"

#include "llvm-c/Core.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
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

/// What a sum adds that nobody else asks for, if it is such an operation of the same block.
template <typename Kind> static Kind *ownOperand(llvm::Instruction &of, unsigned operand, unsigned opcode) {
  auto *found = llvm::dyn_cast<Kind>(of.getOperand(operand));
  bool isOwn = found && found->getOpcode() == opcode && found->hasOneUse() && found->getParent() == of.getParent();
  return isOwn ? found : nullptr;
}

/// Makes one operation of a sum or difference and a product in it, which may be negated.
static void contract(llvm::Instruction &sum) {
  bool isSum = sum.getOpcode() == llvm::Instruction::FAdd, isDifference = sum.getOpcode() == llvm::Instruction::FSub;
  llvm::Type *type = sum.getType();
  if (!(isSum || isDifference) || !(type->isFloatTy() || type->isDoubleTy()) || !sum.hasAllowContract())
    return;
  for (unsigned operand : {0u, 1u}) {
    auto *negation = ownOperand<llvm::UnaryOperator>(sum, operand, llvm::Instruction::FNeg);
    auto *product = negation ? ownOperand<llvm::BinaryOperator>(*negation, 0, llvm::Instruction::FMul)
                             : ownOperand<llvm::BinaryOperator>(sum, operand, llvm::Instruction::FMul);
    if (!product || !product->hasAllowContract())
      continue;
    llvm::IRBuilder<> builder(&sum);
    llvm::Value *first = product->getOperand(0), *other = sum.getOperand(1 - operand);
    if ((negation != nullptr) != (isDifference && operand == 1))
      first = builder.CreateFNeg(first);
    if (isDifference && operand == 0)
      other = builder.CreateFNeg(other);
    llvm::Value *made = builder.CreateIntrinsic(llvm::Intrinsic::fmuladd, {type}, {first, product->getOperand(1), other});
    sum.replaceAllUsesWith(made);
    sum.eraseFromParent();
    if (negation)
      negation->eraseFromParent();
    product->eraseFromParent();
    return;
  }
}

void regrainWidenConversions(LLVMModuleRef module, bool saturates) {
  for (llvm::Function &function : *llvm::unwrap(module))
    for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      if (!llvm::isa<llvm::FPToUIInst, llvm::FPToSIInst>(instruction) || instruction.getType()->getScalarSizeInBits() >= 32)
        continue;
      llvm::IRBuilder<> builder(&instruction);
      llvm::Type *wide = instruction.getType()->getWithNewBitWidth(32);
      llvm::Value *number = instruction.getOperand(0), *zero = llvm::Constant::getNullValue(number->getType());
      bool hasSign = llvm::isa<llvm::FPToSIInst>(instruction);
      if (!hasSign && !saturates)
        number = builder.CreateSelect(builder.CreateFCmpOGT(number, zero), number, zero);
      llvm::Value *whole = hasSign || !saturates ? builder.CreateFPToSI(number, wide) : builder.CreateFPToUI(number, wide);
      instruction.replaceAllUsesWith(builder.CreateTrunc(whole, instruction.getType()));
      instruction.eraseFromParent();
    }
}

void regrainContractExpressions(LLVMModuleRef module) {
  for (llvm::Function &function : *llvm::unwrap(module))
    for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function)))
      contract(instruction);
}
