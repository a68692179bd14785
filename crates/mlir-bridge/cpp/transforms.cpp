//===- transforms.cpp - MLIR's own transformations and sets, as functions ------===//
//
// What MLIR offers as passes runs here on one operation, with our restrictions.
//
//===--------------------------------------------------------------------------===//

#include "bridge.h"

#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;

extern "C" bool regrainEliminateCommonSubexpressions(MlirOperation handle) {
  Operation *op = unwrap(handle);
  IRRewriter rewriter(op->getContext());
  DominanceInfo dominance(op);
  bool changed = false;
  eliminateCommonSubExpressions(rewriter, dominance, op, &changed);
  return changed;
}

/// Whether an operation is a remainder that may trap; MLIR takes those of the llvm dialect for speculatable
/// (test/Upstream/hoist-remainder.mlir).
static bool mayTrap(Operation *op) {
  if (!isa<LLVM::SRemOp, LLVM::URemOp>(op))
    return false;
  APInt divisor;
  return !matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) || divisor.isZero() || divisor.isAllOnes();
}

extern "C" size_t regrainMoveLoopInvariantCode(MlirOperation handle) {
  auto loop = dyn_cast<LoopLikeOpInterface>(unwrap(handle));
  if (!loop)
    return 0;
  return moveLoopInvariantCode(
      loop.getLoopRegions(),
      [&](Value value, Region *) { return loop.isDefinedOutsideOfLoop(value); },
      [&](Operation *op, Region *) {
        if (!isMemoryEffectFree(op) || !isSpeculatable(op))
          return false;
        return !op->walk([](Operation *inner) {
                    return mayTrap(inner) ? WalkResult::interrupt() : WalkResult::advance();
                  }).wasInterrupted();
      },
      [&](Operation *op, Region *) { loop.moveOutOfLoop(op); });
}

extern "C" bool regrainIsIntegerEmpty(size_t variables, const int64_t *inequalities, size_t count) {
  presburger::IntegerPolyhedron set(presburger::PresburgerSpace::getSetSpace(variables));
  for (size_t row = 0; row < count; ++row)
    set.addInequality(ArrayRef<int64_t>(inequalities + row * (variables + 1), variables + 1));
  return set.isIntegerEmpty();
}
