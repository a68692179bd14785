//! Lifting of the control-flow graph of an `llvm.func` to structured control flow.
//!
//! Before:                                   After:
//!   llvm.br ^head(%c0 : i32)                  %r = scf.while (%i = %c0) : (i32) -> i32 {
//! ^head(%i: i32):                               %c = llvm.icmp "slt" %i, %n : i32
//!   %c = llvm.icmp "slt" %i, %n : i32           scf.condition(%c) %i : i32
//!   llvm.cond_br %c, ^body, ^exit             } do { ... scf.yield %next : i32 }
//!
//! The work is done on a clone: when the lifting is not possible (a terminator that is no plain branch, a switch wider
//! than an index, a barrier that got lost or doubled) the function stays exactly as it was and the reason is reported.

#include "bridge.h"
#include "sink.h"

#include "mlir/Analysis/CFGLoopInfo.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CFGToSCF.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace {

constexpr StringLiteral kLoopAnnotation = "llvm.loop_annotation";
constexpr StringLiteral kBranchLoopAnnotation = "loop_annotation";
constexpr StringLiteral kMarker = "llvm.regrain.loop";

/// The annotation of each loop of the control-flow graph, by its header.
using LoopAnnotations = DenseMap<Block *, Attribute>;

/// Simplification replaces loops and forgets their attributes, so the annotation waits on a marker in the loop.
void mark(scf::WhileOp loop, Attribute annotation) {
  OpBuilder builder = OpBuilder::atBlockBegin(loop.getBeforeBody());
  auto marker = LLVM::CallIntrinsicOp::create(
      builder, loop.getLoc(), builder.getStringAttr(kMarker), ValueRange());
  marker->setAttr(kLoopAnnotation, annotation);
}

/// The structured operations that the lifting makes out of LLVM's branches.
class LlvmToScf : public CFGToSCFInterface {
public:
  explicit LlvmToScf(LoopAnnotations annotations)
      : annotations(std::move(annotations)) {}

  FailureOr<Operation *> createStructuredBranchRegionOp(
      OpBuilder &builder, Operation *branch, TypeRange resultTypes,
      MutableArrayRef<Region> regions) override {
    Location loc = branch->getLoc();
    if (auto condBr = dyn_cast<LLVM::CondBrOp>(branch)) {
      auto ifOp =
          scf::IfOp::create(builder, loc, resultTypes, condBr.getCondition());
      ifOp.getThenRegion().takeBody(regions[0]);
      ifOp.getElseRegion().takeBody(regions[1]);
      return ifOp.getOperation();
    }
    auto switchOp = dyn_cast<LLVM::SwitchOp>(branch);
    if (!switchOp)
      return failure();
    SmallVector<int64_t> cases;
    if (auto values = switchOp.getCaseValues())
      for (const APInt &value : values->getValues<APInt>())
        cases.push_back(value.getSExtValue());
    auto index = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                            switchOp.getValue());
    auto indexSwitch = scf::IndexSwitchOp::create(builder, loc, resultTypes,
                                                  index, cases, cases.size());
    indexSwitch.getDefaultRegion().takeBody(regions[0]);
    for (auto &&[target, source] :
         llvm::zip(indexSwitch.getCaseRegions(), llvm::drop_begin(regions)))
      target.takeBody(source);
    return indexSwitch.getOperation();
  }

  LogicalResult
  createStructuredBranchRegionTerminatorOp(Location loc, OpBuilder &builder,
                                           Operation *, Operation *,
                                           ValueRange results) override {
    scf::YieldOp::create(builder, loc, results);
    return success();
  }

  FailureOr<Operation *>
  createStructuredDoWhileLoopOp(OpBuilder &builder, Operation *replaced,
                                ValueRange init, Value condition,
                                ValueRange next, Region &&body) override {
    Location loc = replaced->getLoc();
    auto loop = scf::WhileOp::create(builder, loc, init.getTypes(), init);
    auto annotation = annotations.find(&body.front());
    loop.getBefore().takeBody(body);
    if (annotation != annotations.end()) {
      mark(loop, annotation->second);
      annotations.erase(annotation);
    }
    builder.setInsertionPointToEnd(&loop.getBefore().back());
    auto flag = arith::TruncIOp::create(builder, loc, builder.getI1Type(),
                                        condition);
    scf::ConditionOp::create(builder, loc, flag, next);
    Block *after = builder.createBlock(&loop.getAfter());
    after->addArguments(init.getTypes(),
                        SmallVector<Location>(init.size(), loc));
    scf::YieldOp::create(builder, loc, after->getArguments());
    return loop.getOperation();
  }

  Value getCFGSwitchValue(Location loc, OpBuilder &builder,
                          unsigned value) override {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(value));
  }

  void createCFGSwitchOp(Location loc, OpBuilder &builder, Value flag,
                         ArrayRef<unsigned> caseValues,
                         BlockRange caseDestinations,
                         ArrayRef<ValueRange> caseArguments,
                         Block *defaultDest,
                         ValueRange defaultArgs) override {
    SmallVector<int32_t> values(caseValues.begin(), caseValues.end());
    LLVM::SwitchOp::create(builder, loc, flag, defaultDest, defaultArgs,
                           ArrayRef<int32_t>(values), caseDestinations,
                           caseArguments);
  }

  Value getUndefValue(Location loc, OpBuilder &builder, Type type) override {
    return ub::PoisonOp::create(builder, loc, type);
  }

  /// Nothing comes after a loop without exit; a return keeps one kind of exit.
  FailureOr<Operation *>
  createUnreachableTerminator(Location loc, OpBuilder &builder,
                              Region &region) override {
    auto func = dyn_cast<LLVM::LLVMFuncOp>(region.getParentOp());
    if (!func)
      return failure();
    return createReturn(loc, builder, func);
  }

  static Operation *createReturn(Location loc, OpBuilder &builder,
                                 LLVM::LLVMFuncOp func) {
    Type type = func.getFunctionType().getReturnType();
    SmallVector<Value, 1> results;
    if (!isa<LLVM::LLVMVoidType>(type))
      results.push_back(ub::PoisonOp::create(builder, loc, type));
    return LLVM::ReturnOp::create(builder, loc, results);
  }

private:
  LoopAnnotations annotations;
};

/// Moves the annotations from their markers to the loops.
void resolveMarkers(Operation *root) {
  SmallVector<Operation *> markers;
  root->walk([&](LLVM::CallIntrinsicOp call) {
    if (call.getIntrin() == kMarker)
      markers.push_back(call);
  });
  for (Operation *marker : markers) {
    if (isa<scf::WhileOp>(marker->getParentOp()))
      marker->getParentOp()->setAttr(kLoopAnnotation,
                                     marker->getAttr(kLoopAnnotation));
    marker->erase();
  }
}

/// Why the function cannot be lifted, or empty.
std::string whyNot(LLVM::LLVMFuncOp func) {
  for (Block &block : func.getBody()) {
    Operation *last = block.getTerminator();
    if (auto switchOp = dyn_cast<LLVM::SwitchOp>(last)) {
      if (switchOp.getValue().getType().getIntOrFloatBitWidth() > 64)
        return "a switch over an integer wider than 64 bits";
      continue;
    }
    if (!isa<LLVM::BrOp, LLVM::CondBrOp, LLVM::ReturnOp, LLVM::UnreachableOp>(
            last))
      return ("a terminator " + last->getName().getStringRef() +
              " that is no plain branch")
          .str();
  }
  return "";
}

/// The blocks that hold `llvm.unreachable` return instead, so that the function has one kind of exit.
void returnInsteadOfUnreachable(LLVM::LLVMFuncOp func) {
  for (Block &block : func.getBody()) {
    auto unreachable = dyn_cast<LLVM::UnreachableOp>(block.getTerminator());
    if (!unreachable)
      continue;
    OpBuilder builder(unreachable);
    LlvmToScf::createReturn(unreachable.getLoc(), builder, func);
    unreachable.erase();
  }
}

/// PTX's `exit`, as inline assembly or intrinsic.
bool isExit(Operation &op) {
  if (auto assembly = dyn_cast<LLVM::InlineAsmOp>(op))
    return assembly.getAsmString().trim() == "exit;";
  auto call = dyn_cast<LLVM::CallIntrinsicOp>(op);
  return call && call.getIntrin() == "llvm.nvvm.exit";
}

/// In a kernel the end of the thread is a return.
void returnInsteadOfExit(LLVM::LLVMFuncOp func) {
  if (func.getCConv() != LLVM::CConv::PTX_Kernel)
    return;
  SmallVector<Operation *> exits;
  for (Block &block : func.getBody())
    if (auto exit = llvm::find_if(block, isExit); exit != block.end())
      exits.push_back(&*exit);
  for (Operation *exit : exits) {
    Block *block = exit->getBlock();
    block->splitBlock(exit);
    OpBuilder builder = OpBuilder::atBlockEnd(block);
    LlvmToScf::createReturn(exit->getLoc(), builder, func);
  }
}

LLVM::ICmpPredicate inverse(LLVM::ICmpPredicate predicate) {
  using P = LLVM::ICmpPredicate;
  switch (predicate) {
  case P::eq:
    return P::ne;
  case P::ne:
    return P::eq;
  case P::slt:
    return P::sge;
  case P::sle:
    return P::sgt;
  case P::sgt:
    return P::sle;
  case P::sge:
    return P::slt;
  case P::ult:
    return P::uge;
  case P::ule:
    return P::ugt;
  case P::ugt:
    return P::ule;
  case P::uge:
    return P::ult;
  }
  llvm_unreachable("all predicates are covered");
}

/// The negation of a branch condition: an inverted comparison where there is one, else an exclusive or.
Value negate(OpBuilder &builder, Value condition) {
  Location loc = condition.getLoc();
  if (auto compare = condition.getDefiningOp<LLVM::ICmpOp>())
    return LLVM::ICmpOp::create(builder, loc, inverse(compare.getPredicate()),
                                compare.getLhs(), compare.getRhs());
  auto one = LLVM::ConstantOp::create(builder, loc,
                                      builder.getIntegerAttr(
                                          condition.getType(), 1));
  return LLVM::XOrOp::create(builder, loc, condition, one);
}

/// Makes the true edge of each exiting branch the one that stays in the loop.
void invertLoopExits(Region &region, const CFGLoopInfo &loops) {
  for (Block &block : region) {
    auto branch = dyn_cast<LLVM::CondBrOp>(block.getTerminator());
    CFGLoop *loop = loops.getLoopFor(&block);
    if (!branch || !loop || loop->contains(branch.getTrueDest()) ||
        !loop->contains(branch.getFalseDest()))
      continue;
    OpBuilder builder(branch);
    auto inverted = LLVM::CondBrOp::create(
        builder, branch.getLoc(), negate(builder, branch.getCondition()),
        branch.getFalseDest(), branch.getFalseDestOperands(),
        branch.getTrueDest(), branch.getTrueDestOperands());
    if (auto annotation = branch.getLoopAnnotationAttr())
      inverted.setLoopAnnotationAttr(annotation);
    branch.erase();
  }
}

/// An annotation without source positions: those name a subprogram that the loop may leave.
Attribute withoutPositions(LLVM::LoopAnnotationAttr a) {
  return LLVM::LoopAnnotationAttr::get(
      a.getContext(), a.getDisableNonforced(), a.getVectorize(),
      a.getInterleave(), a.getUnroll(), a.getUnrollAndJam(), a.getLicm(),
      a.getDistribute(), a.getPipeline(), a.getPeeled(), a.getUnswitch(),
      a.getMustProgress(), a.getIsVectorized(), FusedLoc(), FusedLoc(),
      a.getParallelAccesses());
}

LoopAnnotations collectAnnotations(Region &region, const CFGLoopInfo &loops) {
  LoopAnnotations result;
  for (Block &block : region) {
    auto annotation =
        dyn_cast_or_null<LLVM::LoopAnnotationAttr>(
            block.getTerminator()->getAttr(kBranchLoopAnnotation));
    if (!annotation)
      continue;
    // The loop of a latch is the one whose header it branches to.
    for (Block *successor : block.getSuccessors())
      for (CFGLoop *loop = loops.getLoopFor(&block); loop;
           loop = loop->getParentLoop())
        if (loop->getHeader() == successor)
          result.try_emplace(successor, withoutPositions(annotation));
  }
  return result;
}

/// Whether the operation synchronises threads and so must neither be lost nor doubled.
bool isSynchronising(Operation *op) {
  StringRef name;
  if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op))
    name = call.getIntrin();
  else
    name = op->getName().getStringRef();
  return name.contains("barrier") || name.contains(".bar.") ||
         name.contains("shfl") || name.contains("vote") ||
         name.contains("match.") || name.contains("activemask") ||
         isa<LLVM::InlineAsmOp>(op);
}

size_t countSynchronising(Operation *root) {
  size_t count = 0;
  root->walk([&](Operation *op) { count += isSynchronising(op); });
  return count;
}

/// Lifts the body of `func` in place; returns why it failed, or empty.
std::string liftBody(LLVM::LLVMFuncOp func) {
  Region &body = func.getBody();
  IRRewriter rewriter(func.getContext());
  returnInsteadOfExit(func);
  (void)eraseUnreachableBlocks(rewriter, body);
  returnInsteadOfUnreachable(func);
  LoopAnnotations annotations;
  if (!body.hasOneBlock()) {
    DominanceInfo dominance(func);
    CFGLoopInfo loops(dominance.getDomTree(&body));
    invertLoopExits(body, loops);
    annotations = collectAnnotations(body, loops);
  }
  size_t before = countSynchronising(func);
  LlvmToScf interface(std::move(annotations));
  DominanceInfo dominance(func);
  if (failed(transformCFGToSCF(body, interface, dominance)))
    return "its control flow has no structured form";
  if (countSynchronising(func) != before)
    return "lifting changed the number of synchronising operations";
  if (!body.hasOneBlock())
    return "it leaves in more than one way";
  return "";
}

/// A loop that passes a value on twice passes it on once. MLIR 22 has this pattern too; it must come before the one that
/// moves a branch down into the loop's second region (WhileMoveIfDown), which loses all but the first of such values.
struct PassOnOnce : OpRewritePattern<scf::WhileOp> {
  explicit PassOnOnce(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/100) {}

  LogicalResult matchAndRewrite(scf::WhileOp loop, PatternRewriter &rewriter) const override {
    scf::ConditionOp condition = loop.getConditionOp();
    llvm::SetVector<Value> passed(condition.getArgs().begin(), condition.getArgs().end());
    if (passed.size() == condition.getArgs().size())
      return failure();
    SmallVector<unsigned> places;
    for (Value value : condition.getArgs())
      places.push_back(llvm::find(passed, value) - passed.begin());
    auto made = scf::WhileOp::create(rewriter, loop.getLoc(),
                                     ValueRange(passed.getArrayRef()).getTypes(), loop.getInits());
    Block &after = loop.getAfter().front();
    llvm::BitVector doubled(after.getNumArguments());
    SmallVector<Value> first(passed.size());
    for (auto [number, place] : llvm::enumerate(places)) {
      if (!first[place]) {
        first[place] = after.getArgument(number);
        continue;
      }
      rewriter.replaceAllUsesWith(after.getArgument(number), first[place]);
      doubled.set(number);
    }
    after.eraseArguments(doubled);
    rewriter.modifyOpInPlace(condition, [&] { condition.getArgsMutable().assign(passed.getArrayRef()); });
    rewriter.inlineRegionBefore(loop.getBefore(), made.getBefore(), made.getBefore().end());
    rewriter.inlineRegionBefore(loop.getAfter(), made.getAfter(), made.getAfter().end());
    SmallVector<Value> results;
    for (unsigned place : places)
      results.push_back(made.getResult(place));
    rewriter.replaceOp(loop, results);
    return success();
  }
};

/// Simplifies what lifting left behind: flags, poison, do-while loops that test first.
void simplify(Operation *root) {
  MLIRContext *context = root->getContext();
  RewritePatternSet patterns(context);
  patterns.add<PassOnOnce>(context);
  for (StringRef dialect : {"scf", "arith", "ub"})
    if (Dialect *loaded = context->getLoadedDialect(dialect))
      loaded->getCanonicalizationPatterns(patterns);
  for (RegisteredOperationName op : context->getRegisteredOperations())
    if (StringRef name = op.getDialectNamespace();
        name == "scf" || name == "arith" || name == "ub")
      op.getCanonicalizationPatterns(patterns, context);
  FrozenRewritePatternSet frozen(std::move(patterns));
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Normal);
  IRRewriter rewriter(context);
  for (int round = 0; round < 3; ++round) {
    for (Region &region : root->getRegions())
      (void)applyPatternsGreedily(region, frozen, config);
    DominanceInfo dominance(root);
    bool changed = false;
    eliminateCommonSubExpressions(rewriter, dominance, root, &changed);
    if (!changed)
      break;
  }
  resolveMarkers(root);
}

} // namespace

bool regrainLiftControlFlow(MlirOperation op, RegrainSink reason, void *user) {
  auto func = dyn_cast<LLVM::LLVMFuncOp>(unwrap(op));
  if (!func || func.isExternal())
    return false;
  std::string why = whyNot(func);
  if (why.empty()) {
    auto clone = cast<LLVM::LLVMFuncOp>(func->clone());
    why = liftBody(clone);
    if (why.empty()) {
      size_t before = countSynchronising(clone);
      simplify(clone);
      if (countSynchronising(clone) > before)
        why = "simplifying doubled a synchronising operation";
    }
    if (why.empty())
      func.getBody().takeBody(clone.getBody());
    clone->erase();
  }
  return why.empty() || regrain_bridge::fail(why, reason, user);
}

/// They are properties, which the C API does not show.
uint32_t regrainOverflowFlags(MlirOperation op) {
  bool nsw = false, nuw = false;
  if (auto llvm = dyn_cast<LLVM::IntegerOverflowFlagsInterface>(unwrap(op))) {
    nsw = llvm.hasNoSignedWrap();
    nuw = llvm.hasNoUnsignedWrap();
  } else if (auto arith =
                 dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(
                     unwrap(op))) {
    nsw = arith.hasNoSignedWrap();
    nuw = arith.hasNoUnsignedWrap();
  }
  return (nsw ? 1 : 0) | (nuw ? 2 : 0);
}

template <typename Flags> static uint32_t fastMathFlags(Flags flags) {
  bool contract = bitEnumContainsAny(flags, Flags::contract);
  bool other = (flags & ~Flags::contract) != Flags::none;
  bool reorder = bitEnumContainsAny(flags, Flags::reassoc);
  bool plain = bitEnumContainsAll(flags, Flags::nnan | Flags::nsz);
  bool close = bitEnumContainsAny(flags, Flags::afn);
  return (contract ? 1 : 0) | (other ? 2 : 0) | (reorder ? 4 : 0) | (plain ? 8 : 0) | (close ? 16 : 0);
}

uint32_t regrainFastMathFlags(MlirOperation op) {
  if (auto llvm = dyn_cast<LLVM::FastmathFlagsInterface>(unwrap(op)))
    return fastMathFlags(llvm.getFastmathAttr().getValue());
  if (auto arith = dyn_cast<arith::ArithFastMathInterface>(unwrap(op)))
    return fastMathFlags(arith.getFastMathFlagsAttr().getValue());
  return 0;
}

int64_t regrainCallingConvention(MlirAttribute attr) {
  auto convention = dyn_cast<LLVM::CConvAttr>(unwrap(attr));
  return convention ? static_cast<int64_t>(convention.getCallingConv()) : -1;
}
