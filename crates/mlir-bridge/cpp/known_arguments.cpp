//===- known_arguments.cpp - numbers that the branches before a call know -----===//

#include "bridge.h"

#include "llvm-c/Core.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Analysis/LazyValueInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CBindingWrapping.h"
#include "mlir/CAPI/Support.h"

using namespace llvm;

namespace {

// What values are where a call stands. LLVM asks what a branch says of the very value, or of what the value is computed of at once; here
// that is asked of all that it is computed of, however far away.
class Place {
public:
  Place(LazyValueInfo &branches, const DominatorTree &order, Instruction &at)
      : branches(branches), order(order), at(at), layout(at.getDataLayout()) {}

  Constant *constantOf(Value *value) {
    if (auto *constant = dyn_cast<Constant>(value))
      return constant;
    if (!value->getType()->isIntegerTy())
      return nullptr;
    // Each is looked at once; a value that is computed of itself, round by round, is not known.
    auto [known, isNew] = seen.try_emplace(value, nullptr);
    if (!isNew)
      return known->second;
    Constant *found = branches.getConstant(value, &at);
    if (!found)
      found = powerOfTwo(*value);
    if (!found)
      found = folded(value);
    return seen[value] = found;
  }

private:
  // LLVM makes of a switch over powers of two one over their exponents, behind a branch that asks whether one bit is set.
  Constant *powerOfTwo(Value &value) {
    bool isPower = false;
    ConstantInt *exponent = nullptr;
    for (User *user : value.users()) {
      auto *call = dyn_cast<IntrinsicInst>(user);
      if (!call || !order.dominates(call, &at))
        continue;
      if (call->getIntrinsicID() != Intrinsic::ctpop && call->getIntrinsicID() != Intrinsic::cttz)
        continue;
      auto *known = dyn_cast_or_null<ConstantInt>(branches.getConstant(call, &at));
      if (known && call->getIntrinsicID() == Intrinsic::cttz)
        exponent = known;
      else if (known)
        isPower |= known->isOne();
    }
    unsigned bits = value.getType()->getIntegerBitWidth();
    if (!isPower || !exponent || exponent->getValue().uge(bits))
      return nullptr;
    return ConstantInt::get(value.getType(), APInt::getOneBitSet(bits, exponent->getZExtValue()));
  }

  Constant *folded(Value *value) {
    if (!isa<BinaryOperator>(value) && !isa<CastInst>(value))
      return nullptr;
    auto *inst = cast<Instruction>(value);
    SmallVector<Constant *> operands;
    for (Value *operand : inst->operands()) {
      Constant *constant = constantOf(operand);
      if (!constant)
        return nullptr;
      operands.push_back(constant);
    }
    return dyn_cast_or_null<ConstantInt>(ConstantFoldInstOperands(inst, operands, layout));
  }

  LazyValueInfo &branches;
  const DominatorTree &order;
  Instruction &at;
  const DataLayout &layout;
  DenseMap<Value *, Constant *> seen;
};

} // namespace

void regrainKnowArguments(LLVMModuleRef module, MlirStringRef name) {
  Function *callee = unwrap(module)->getFunction(unwrap(name));
  if (!callee)
    return;
  MapVector<Function *, SmallVector<CallBase *>> calls;
  for (User *user : callee->users())
    if (auto *call = dyn_cast<CallBase>(user); call && call->getCalledFunction() == callee)
      calls[call->getFunction()].push_back(call);
  for (auto &[function, inside] : calls) {
    AssumptionCache assumptions(*function);
    DominatorTree order(*function);
    LazyValueInfo branches(&assumptions, &unwrap(module)->getDataLayout());
    for (CallBase *call : inside) {
      Place place(branches, order, *call);
      for (Use &argument : call->args())
        if (argument->getType()->isIntegerTy())
          if (Constant *known = place.constantOf(argument))
            argument.set(known);
    }
  }
}
