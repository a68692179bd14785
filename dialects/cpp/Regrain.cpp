//===- Regrain.cpp - registration and verifiers of the dialect ----------------===//

#include "Regrain.h"

#include "mlir/CAPI/Registration.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace regrain;

#include "RegrainDialect.cpp.inc"
#include "RegrainEnums.cpp.inc"

#define GET_OP_CLASSES
#include "RegrainOps.cpp.inc"

void RegrainDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "RegrainOps.cpp.inc"
      >();
}

extern "C" {
MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Regrain, regrain, ::regrain::RegrainDialect)
}

/// The loop that an operation belongs to is named by its induction variables, all and in order.
static LogicalResult verifyIvs(Operation *op, ValueRange ivs) {
  if (ivs.empty())
    return op->emitOpError("has no induction variables, expected those of an enclosing "
                           "parallel loop");
  auto first = dyn_cast<BlockArgument>(ivs.front());
  auto loop = first ? dyn_cast_or_null<scf::ParallelOp>(first.getOwner()->getParentOp()) : nullptr;
  if (!loop)
    return op->emitOpError("operand #0 is not an induction variable of an scf.parallel");
  SmallVector<Value> expected = loop.getInductionVars();
  if (ivs.size() != expected.size()) {
    InFlightDiagnostic diag = op->emitOpError("has ")
                              << ivs.size() << " induction variables, expected "
                              << expected.size() << " of its parallel loop";
    diag.attachNote(loop.getLoc()) << "the loop is here";
    return diag;
  }
  for (auto [index, actual, wanted] : llvm::enumerate(ivs, expected)) {
    if (actual == wanted)
      continue;
    InFlightDiagnostic diag =
        op->emitOpError("operand #")
        << index << " is not induction variable #" << index
        << " of the parallel loop of operand #0";
    diag.attachNote(loop.getLoc()) << "the loop is here";
    return diag;
  }
  return success();
}

/// Alignments are powers of two.
static LogicalResult verifyAlignment(Operation *op, std::optional<uint64_t> alignment) {
  if (alignment && !llvm::isPowerOf2_64(*alignment))
    return op->emitOpError("alignment is ")
           << static_cast<int64_t>(*alignment) << ", expected a power of two";
  return success();
}

/// Shared memory belongs to a block: not inside the block loop.
static LogicalResult verifyInGridLoop(Operation *op) {
  Operation *wrapper = op->getParentOfType<GpuWrapperOp>();
  unsigned loops = 0;
  for (Operation *at = op->getParentOp(); at && at != wrapper; at = at->getParentOp())
    loops += isa<scf::ParallelOp>(at);
  if (wrapper && loops != 1)
    return op->emitOpError("is inside ") << loops << " parallel loops of its gpu_wrapper, "
                                         << "expected 1, the grid loop";
  return success();
}

LogicalResult GpuWrapperOp::verify() {
  if (getGrid().size() != 3)
    return emitOpError("has ") << getGrid().size() << " grid sizes, expected 3";
  if (getBlock().size() != 3)
    return emitOpError("has ") << getBlock().size() << " block sizes, expected 3";
  if (getBody().front().getNumArguments() != 0)
    return emitOpError("body has ")
           << getBody().front().getNumArguments() << " arguments, expected none";
  if ((*this)->getParentOfType<GpuWrapperOp>())
    return emitOpError("is nested in another gpu_wrapper");
  return success();
}

LogicalResult BarrierOp::verify() {
  if (getCount() && !getId())
    return emitOpError("has a count without an id");
  if (getGrid() && getId())
    return emitOpError("is of the grid and has an id");
  return verifyIvs(*this, getIvs());
}

LogicalResult BarrierReduceOp::verify() {
  unsigned wanted = getKind() == ReduceKind::Popc ? 32 : 1;
  if (!getResult().getType().isInteger(wanted))
    return emitOpError("result has type ")
           << getResult().getType() << ", expected i" << wanted << " for "
           << stringifyReduceKind(getKind());
  return verifyIvs(*this, getIvs());
}

LogicalResult SharedOp::verify() {
  if (!LLVM::isCompatibleType(getType()))
    return emitOpError("has type ") << getType() << ", expected an LLVM compatible type";
  if (failed(verifyAlignment(*this, getAlignment())))
    return failure();
  return verifyInGridLoop(*this);
}

LogicalResult DynamicSharedOp::verify() {
  if (failed(verifyAlignment(*this, getAlignment())))
    return failure();
  return verifyInGridLoop(*this);
}

LogicalResult TakeBlocksOp::verify() {
  if (getCount() < 2)
    return emitOpError("takes ") << static_cast<int64_t>(getCount()) << " blocks, expected at least 2";
  return verifyInGridLoop(*this);
}

LogicalResult AlternativesOp::verify() {
  if (getChoices().empty())
    return emitOpError("has no regions, expected at least 1");
  if (getDescriptions().size() != getChoices().size())
    return emitOpError("has ") << getDescriptions().size() << " descriptions, expected "
                               << getChoices().size() << ", one for each region";
  for (Region &choice : getChoices()) {
    Operation *yield = choice.front().getTerminator();
    if (yield->getOperandTypes() != getResultTypes())
      return yield->emitOpError("gives ")
             << yield->getOperandTypes() << ", expected " << getResultTypes()
             << ", the results of the alternatives";
  }
  return success();
}

LogicalResult VoteOp::verify() {
  unsigned wanted = getKind() == VoteKind::Ballot ? 32 : 1;
  if (!getResult().getType().isInteger(wanted))
    return emitOpError("result has type ")
           << getResult().getType() << ", expected i" << wanted << " for "
           << stringifyVoteKind(getKind());
  return verifyIvs(*this, getIvs());
}

LogicalResult ShuffleOp::verify() { return verifyIvs(*this, getIvs()); }
LogicalResult MatchOp::verify() { return verifyIvs(*this, getIvs()); }
LogicalResult WarpReduceOp::verify() { return verifyIvs(*this, getIvs()); }
LogicalResult WarpCallOp::verify() {
  if (getValues().empty() || getResults().empty())
    return emitOpError("has no values or no results, expected at least 1 of each");
  Type word = getResult(0).getType();
  for (TypeRange types : {TypeRange(getValues()), TypeRange(getResults())})
    for (Type type : types)
      if (type != word)
        return emitOpError("has a word of type ") << type << ", expected " << word << " as its first result";
  return verifyIvs(*this, getIvs());
}
LogicalResult ActiveMaskOp::verify() { return verifyIvs(*this, getIvs()); }
LogicalResult WarpBarrierOp::verify() { return verifyIvs(*this, getIvs()); }
LogicalResult LaneIdOp::verify() { return verifyIvs(*this, getIvs()); }
LogicalResult WarpIdOp::verify() { return verifyIvs(*this, getIvs()); }
