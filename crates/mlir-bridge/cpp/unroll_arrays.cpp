//===- unroll_arrays.cpp - loops over arrays that can become registers ---------===//
//
// SROA makes registers of an array of one function where all addresses in it are constant. An address that a loop
// counts up is constant once the loop is unrolled, so the loops that do so are unrolled first, for arrays that this is
// enough for: nothing but loads, stores and bulk operations of constant size knows their addresses, and each of these
// is the sum of constants and of what such loops count.
//
// All loops of an array are unrolled or none: one access that stays unknown keeps the array in memory. A loop is left
// as it is where its number of rounds is not known exactly, where the program says so, where it waits at a barrier,
// whose phases would be as many as its rounds, and where the result would be longer than the caller allows. So is one
// that goes through other memory element by element from a place that is not the same for all threads, unless threads
// beside one another are at elements beside one another: as a loop its accesses are made by tiles of rounds, one by one
// they would be gathered.
//
// A loop inside of another may have a number of rounds that only the round of the outer one tells, as in a tree:
//
//   for (int i = 1; i < 16; i *= 2)
//     for (int j = 0; j + i < 16; j += 2 * i)
//       items[j] += items[j + i];
//
// The outer one is then unrolled first, and its copies of the inner one are looked at like any other loops.

#include "bridge.h"

#include "llvm-c/Core.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"

using namespace llvm;

namespace {

using Loops = SmallSetVector<Loop *, 8>;

// The rounds of a loop, the last test included where that comes first, as unrolling counts them; 0: not known.
unsigned roundsOf(Loop &loop, ScalarEvolution &se) { return se.getSmallConstantTripCount(&loop); }

// Whether a call is one of those that `texts` names: a function by the start of its name, assembly by a part of its
// text.
bool isNamed(const CallBase &call, ArrayRef<StringRef> texts) {
  if (auto *assembly = dyn_cast<InlineAsm>(call.getCalledOperand()))
    return any_of(texts, [&](StringRef text) { return StringRef(assembly->getAsmString()).contains(text); });
  const Function *callee = call.getCalledFunction();
  return callee && any_of(texts, [&](StringRef text) { return callee->getName().starts_with(text); });
}

// Instructions that a processor does not see.
bool isFree(const Instruction &inst) {
  return isa<PHINode, ExtractValueInst, InsertValueInst, BitCastInst, DbgInfoIntrinsic>(inst) ||
         inst.isLifetimeStartOrEnd();
}

// A pointer, outside of the structures that it was put into and taken from.
Value *unwrapped(Value *pointer) {
  while (auto *taken = dyn_cast_or_null<ExtractValueInst>(pointer)) {
    Value *put = FindInsertedValue(taken->getAggregateOperand(), taken->getIndices());
    if (!put || put == pointer)
      break;
    pointer = put;
  }
  return pointer;
}

class Unroller {
public:
  Unroller(Function &function, FunctionAnalysisManager &analyses, ArrayRef<StringRef> barriers, uint64_t limit)
      : function(function), analyses(analyses), li(analyses.getResult<LoopAnalysis>(function)),
        se(analyses.getResult<ScalarEvolutionAnalysis>(function)), barriers(barriers), limit(limit) {}

  bool run() {
    bool changed = false;
    for (unsigned depth = 0; depth < MOST_DEPTH && sweep(); ++depth)
      changed = true;
    return changed;
  }

private:
  // Loops inside of loops whose rounds an outer one tells.
  static constexpr unsigned MOST_DEPTH = 4;
  // The rounds that are counted for a loop of which only a bound is known.
  static constexpr unsigned MOST_UNKNOWN = 16;

  // Unrolls what can be as the function stands.
  bool sweep() {
    Loops wanted;
    for (Instruction &inst : instructions(function)) {
      auto *array = dyn_cast<AllocaInst>(&inst);
      Loops loops;
      SmallPtrSet<PHINode *, 4> seen;
      if (array && array->isStaticAlloca() && areSettled(*array, *array, loops, seen) &&
          all_of(loops, [&](Loop *l) { return mayUnroll(*l, loops); }))
        wanted.insert_range(loops);
    }
    // Inner loops first: an outer one takes along what became of them.
    bool changed = false;
    auto all = li.getLoopsInPreorder();
    for (Loop *loop : reverse(all))
      if (wanted.contains(loop))
        changed |= unroll(*loop);
    return changed;
  }

  Function &function;
  FunctionAnalysisManager &analyses;
  LoopInfo &li;
  ScalarEvolution &se;
  ArrayRef<StringRef> barriers;
  uint64_t limit;
  // Values that are being looked at.
  SmallPtrSet<PHINode *, 4> evolving;

  // Whether all uses of an address in `array` are accesses at places that become constant; the loops that count them.
  // `seen` are addresses that loops count up.
  bool areSettled(Instruction &address, const AllocaInst &array, Loops &loops, SmallPtrSetImpl<PHINode *> &seen) {
    return all_of(address.uses(), [&](Use &use) {
      auto &user = *cast<Instruction>(use.getUser());
      if (user.isLifetimeStartOrEnd())
        return true;
      if (isa<GetElementPtrInst>(user))
        return use.getOperandNo() == 0 && areSettled(user, array, loops, seen);
      if (auto *counted = dyn_cast<PHINode>(&user))
        return isWithin(counted, array) && isSettled(counted, loops) &&
               (!seen.insert(counted).second || areSettled(*counted, array, loops, seen));
      if (isa<ICmpInst>(user))
        return all_of(user.operands(), [&](Use &side) { return isWithin(side, array) && isSettled(side, loops); });
      if (auto *bulk = dyn_cast<MemIntrinsic>(&user))
        return !bulk->isVolatile() && isa<ConstantInt>(bulk->getLength()) && isSettled(use.get(), loops);
      if (auto *load = dyn_cast<LoadInst>(&user))
        return load->isSimple() && isSettled(use.get(), loops);
      auto *store = dyn_cast<StoreInst>(&user);
      return store && store->isSimple() && use.getOperandNo() == 1 && isSettled(use.get(), loops);
    });
  }

  bool isWithin(Value *address, const AllocaInst &array) {
    auto *base = dyn_cast<SCEVUnknown>(se.getPointerBase(se.getSCEV(address)));
    return base && base->getValue() == &array;
  }

  bool isSettled(Value *address, Loops &loops) {
    const SCEV *place = se.getSCEV(address);
    const SCEV *offset = se.getMinusSCEV(place, se.getPointerBase(place));
    return !isa<SCEVCouldNotCompute>(offset) && isMadeOfRounds(offset, loops);
  }

  // Whether a value is known once the loops are unrolled.
  bool isMadeOfRounds(const SCEV *value, Loops &loops, unsigned depth = 0) {
    return !SCEVExprContains(value, [&](const SCEV *part) {
      if (auto *counted = dyn_cast<SCEVAddRecExpr>(part)) {
        loops.insert(const_cast<Loop *>(counted->getLoop()));
        return false;
      }
      auto *unknown = dyn_cast<SCEVUnknown>(part);
      return unknown && !isArithmetic(unknown->getValue(), loops, depth);
    });
  }

  // What the analysis of loops has no expression for, such as an exclusive or; not deeper than LLVM's own analyses of
  // values go.
  bool isArithmetic(Value *value, Loops &loops, unsigned depth) {
    auto *inst = dyn_cast<Instruction>(value);
    if (!inst || depth == MaxAnalysisRecursionDepth)
      return false;
    if (auto *carried = dyn_cast<PHINode>(inst))
      return isEvolved(*carried, loops, depth);
    if (!isa<BinaryOperator, CastInst, CmpInst, SelectInst>(inst))
      return false;
    return all_of(inst->operands(), [&](Use &operand) {
      return se.isSCEVable(operand->getType()) && isMadeOfRounds(se.getSCEV(operand.get()), loops, depth + 1);
    });
  }

  // Whether a loop makes a value of constants and of itself alone, round by round, as in `i *= 2`.
  bool isEvolved(PHINode &carried, Loops &loops, unsigned depth) {
    Loop *loop = li.getLoopFor(carried.getParent());
    if (!loop || loop->getHeader() != carried.getParent() || roundsOf(*loop, se) == 0)
      return false;
    loops.insert(loop);
    if (!evolving.insert(&carried).second)
      return true;
    bool is = all_of(carried.incoming_values(), [&](Use &value) {
      return isa<ConstantInt>(value) ||
             (se.isSCEVable(value->getType()) && isMadeOfRounds(se.getSCEV(value.get()), loops, depth + 1));
    });
    evolving.erase(&carried);
    return is;
  }

  // Whether a round of the loop around tells how many rounds a loop has.
  bool isToldByOuter(Loop &loop, const Loops &loops) {
    auto *outer = loop.getParentLoop();
    BasicBlock *exiting = loop.getExitingBlock();
    auto *branch = exiting ? dyn_cast<BranchInst>(exiting->getTerminator()) : nullptr;
    auto *test = branch && branch->isConditional() ? dyn_cast<ICmpInst>(branch->getCondition()) : nullptr;
    Loops told;
    return outer && loops.contains(outer) && test && all_of(test->operands(), [&](Use &side) {
      return se.isSCEVable(side->getType()) && isMadeOfRounds(se.getSCEV(side.get()), told);
    }) && all_of(told, [&](Loop *by) { return by == &loop || loops.contains(by); });
  }

  // How far a value goes in a round of `loop`, where that is a constant. An index of fewer bits does not wrap in memory
  // that is there.
  std::optional<int64_t> stepOf(const SCEV *value, const Loop &loop) {
    if (se.isLoopInvariant(value, &loop))
      return 0;
    if (auto *cast = dyn_cast<SCEVCastExpr>(value))
      return stepOf(cast->getOperand(), loop);
    if (auto *counted = dyn_cast<SCEVAddRecExpr>(value)) {
      auto *step = dyn_cast<SCEVConstant>(counted->getStepRecurrence(se));
      return counted->getLoop() == &loop && step ? step->getAPInt().trySExtValue() : std::nullopt;
    }
    // What tells a thread its place, read in each round.
    if (auto *unknown = dyn_cast<SCEVUnknown>(value)) {
      auto *call = dyn_cast<CallBase>(unknown->getValue());
      return call && call->doesNotAccessMemory() && call->arg_empty() ? std::optional<int64_t>(0) : std::nullopt;
    }
    if (auto *product = dyn_cast<SCEVMulExpr>(value)) {
      auto *factor = dyn_cast<SCEVConstant>(product->getOperand(0));
      auto by = factor ? factor->getAPInt().trySExtValue() : std::nullopt;
      auto of = by && product->getNumOperands() == 2 ? stepOf(product->getOperand(1), loop) : std::nullopt;
      int64_t step;
      if (of && !MulOverflow(*of, *by, step))
        return step;
      bool stays = all_of(product->operands(), [&](const SCEV *part) { return stepOf(part, loop) == 0; });
      return stays ? std::optional<int64_t>(0) : std::nullopt;
    }
    auto *terms = dyn_cast<SCEVAddExpr>(value);
    if (!terms)
      return std::nullopt;
    int64_t sum = 0;
    for (const SCEV *term : terms->operands())
      if (auto of = stepOf(term, loop); !of || AddOverflow(sum, *of, sum))
        return std::nullopt;
    return sum;
  }

  // By how much a value grows from a thread to the next along x, as far as sums and products with constants tell.
  static int64_t stepOfThreads(const SCEV *value) {
    if (auto *cast = dyn_cast<SCEVCastExpr>(value))
      return stepOfThreads(cast->getOperand());
    if (auto *counted = dyn_cast<SCEVAddRecExpr>(value))
      return stepOfThreads(counted->getStart());
    if (auto *unknown = dyn_cast<SCEVUnknown>(value)) {
      auto *call = dyn_cast<CallBase>(unknown->getValue());
      return call && call->getIntrinsicID() == Intrinsic::nvvm_read_ptx_sreg_tid_x;
    }
    if (auto *product = dyn_cast<SCEVMulExpr>(value)) {
      auto *factor = dyn_cast<SCEVConstant>(product->getOperand(0));
      auto by = factor && product->getNumOperands() == 2 ? factor->getAPInt().trySExtValue() : std::nullopt;
      int64_t step;
      return by && !MulOverflow(stepOfThreads(product->getOperand(1)), *by, step) ? step : 0;
    }
    int64_t sum = 0;
    if (auto *terms = dyn_cast<SCEVAddExpr>(value))
      for (const SCEV *term : terms->operands())
        if (AddOverflow(sum, stepOfThreads(term), sum))
          return 0;
    return sum;
  }

  // Whether an access goes through memory element by element from round to round, from a place that the program only
  // knows as it runs, and that threads beside one another do not share out element by element.
  bool isConsecutive(Instruction &access, const Loop &loop) {
    Value *pointer = unwrapped(getLoadStorePointerOperand(&access));
    if (!pointer || isa<AllocaInst>(getUnderlyingObject(pointer)))
      return false;
    const SCEV *place = se.getSCEV(pointer);
    const SCEV *offset = se.getMinusSCEV(place, se.getPointerBase(place));
    auto size = int64_t(function.getDataLayout().getTypeStoreSize(getLoadStoreType(&access)).getFixedValue());
    return !isa<SCEVCouldNotCompute>(offset) && stepOf(offset, loop) == size && stepOfThreads(offset) != size &&
           SCEVExprContains(offset, [](const SCEV *part) { return isa<SCEVUnknown>(part); });
  }

  // Whether a loop has as many rounds as a tile (`FEWEST` of the pass that makes them). Its last test is none where it
  // comes first.
  bool isLong(Loop &loop) {
    unsigned rounds = roundsOf(loop, se);
    return rounds >= (loop.isLoopExiting(loop.getHeader()) && !loop.isLoopExiting(loop.getLoopLatch()) ? 5 : 4);
  }

  bool mayUnroll(Loop &loop, const Loops &loops) {
    bool isKnown = roundsOf(loop, se) != 0 || isToldByOuter(loop, loops);
    if (!isKnown || !loop.isLoopSimplifyForm() || !loop.isSafeToClone() ||
        (hasUnrollTransformation(&loop) & TM_Disable))
      return false;
    if (isLong(loop) && any_of(loop.blocks(), [&](BasicBlock *block) {
          return li.getLoopFor(block) == &loop &&
                 any_of(*block, [&](Instruction &inst) { return isConsecutive(inst, loop); });
        }))
      return false;
    for (BasicBlock *block : loop.blocks())
      for (Instruction &inst : *block)
        if (auto *call = dyn_cast<CallBase>(&inst); call && isNamed(*call, barriers))
          return false;
    return sizeOf(loop) <= limit;
  }

  // Instructions of a loop that is unrolled, with the loops inside of it that can be.
  uint64_t sizeOf(Loop &loop) {
    uint64_t size = 0;
    for (BasicBlock *block : loop.blocks()) {
      uint64_t times = 1;
      for (Loop *inner = li.getLoopFor(block); inner != loop.getParentLoop() && times <= limit;
           inner = inner->getParentLoop())
        times *= std::max({1u, roundsOf(*inner, se), std::min(MOST_UNKNOWN, se.getSmallConstantMaxTripCount(inner))});
      size += times * count_if(*block, [](Instruction &inst) { return !isFree(inst); });
    }
    return size;
  }

  bool unroll(Loop &loop) {
    // The rounds are what they were: loops inside that went do not change them.
    unsigned rounds = roundsOf(loop, se);
    if (rounds == 0 || !loop.isLCSSAForm(analyses.getResult<DominatorTreeAnalysis>(function)))
      return false;
    UnrollLoopOptions options{};
    options.Count = rounds;
    return UnrollLoop(&loop, options, &li, &se, &analyses.getResult<DominatorTreeAnalysis>(function),
                      &analyses.getResult<AssumptionAnalysis>(function),
                      &analyses.getResult<TargetIRAnalysis>(function),
                      &analyses.getResult<OptimizationRemarkEmitterAnalysis>(function),
                      /*PreserveLCSSA=*/true) != LoopUnrollResult::Unmodified;
  }
};

} // namespace

bool regrainUnrollArrays(LLVMModuleRef module, const MlirStringRef *barriers, size_t numBarriers, uint64_t limit) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager graph;
  ModuleAnalysisManager modules;
  PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  SmallVector<StringRef> names;
  for (const MlirStringRef &name : ArrayRef(barriers, numBarriers))
    names.push_back(StringRef(name.data, name.length));
  bool changed = false;
  for (Function &function : *unwrap(module))
    if (!function.isDeclaration()) {
      changed |= Unroller(function, functions, names, limit).run();
      functions.clear(function, function.getName());
    }
  return changed;
}
