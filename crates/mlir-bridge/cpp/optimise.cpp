// A pass pipeline for the host processor, with repairs around LLVM 22.
//
// The vectoriser takes a check that an induction variable of a wide type does not wrap for a check of a narrower one
// (SCEVWrapPredicate::implies compares start and step, not widths). A loop that reads `a[i & 63]` and `b[i & 7]` is
// then vectorised as if `i & 7` went on counting. An index that is masked or truncated is frozen, which hides from the
// vectoriser that it counts; such an access is gathered.
//
// A division under a condition gets the divisor 1 in lanes where the condition is false. Where only the first lane's
// quotient is used, as in an address that is the same for all lanes, the condition of that one lane decides for all of
// them. A division of invariant values is moved before the loop, with a divisor that cannot trap.
//
// InstCombine makes `select(mask, masked.load(p, mask, _), x)` a masked load with `x`, but where the select stands: a store to `p` between
// the two is then read back (llvm-project issue 215453, in all of LLVM 22.1). The value that a masked load gives is frozen, which the fold
// does not look through.

#include "bridge.h"
#include "cheap.h"
#include "dots.h"
#include "gathers.h"
#include "llvm_options.h"
#include "narrow.h"
#include "sink.h"
#include "streams.h"
#include "timing.h"

#include "llvm-c/Core.h"
#include "llvm-c/TargetMachine.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/StandardInstrumentations.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

#include <mutex>

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

// Whether the value wraps around in fewer bits than 32, which are those of ordinary indices.
bool wrapsEarly(Instruction &inst) {
  if (!inst.getType()->isIntegerTy())
    return false;
  const APInt *number;
  if (match(&inst, m_And(m_Value(), m_APInt(number))))
    return number->isMask() && number->countr_one() != 32 && !number->isAllOnes();
  if (match(&inst, m_URem(m_Value(), m_APInt(number))))
    return number->isPowerOf2();
  unsigned bits = inst.getType()->getIntegerBitWidth();
  return isa<TruncInst>(inst) && bits > 1 && bits != 32;
}

// Whether an address is computed from the value.
bool isIndex(Value &value, unsigned depth = 0) {
  return any_of(value.users(), [&](User *user) {
    if (isa<GetElementPtrInst>(user))
      return true;
    return depth < 8 && (isa<CastInst>(user) || isa<BinaryOperator>(user)) && isIndex(*user, depth + 1);
  });
}

void hide(Instruction &inst) {
  IRBuilder<> builder(inst.getNextNode());
  Value *frozen = builder.CreateFreeze(&inst);
  inst.replaceUsesWithIf(frozen, [&](Use &use) { return use.getUser() != frozen; });
}

bool isInvariantDivision(Instruction &inst, const Loop &loop) {
  return inst.isIntDivRem() && inst.getType()->isIntegerTy() && !isa<Constant>(inst.getOperand(1)) &&
         loop.hasLoopInvariantOperands(&inst) && loop.getLoopPreheader();
}

// Where the loop divides by 0, or overflows, the program has no meaning; before the loop neither must trap.
void hoist(Instruction &inst, const Loop &loop) {
  IRBuilder<> builder(loop.getLoopPreheader()->getTerminator());
  Value *number = inst.getOperand(0);
  Value *divisor = builder.CreateFreeze(inst.getOperand(1));
  Value *unsafe = builder.CreateIsNull(divisor);
  bool isSigned = inst.getOpcode() == Instruction::SDiv || inst.getOpcode() == Instruction::SRem;
  Value *minusOne = isSigned ? builder.CreateICmpEQ(divisor, Constant::getAllOnesValue(inst.getType())) : nullptr;
  if (isSigned)
    unsafe = builder.CreateOr(unsafe, minusOne);
  Value *safe = builder.CreateSelect(unsafe, ConstantInt::get(inst.getType(), 1), divisor);
  Value *made = builder.CreateBinOp(cast<BinaryOperator>(inst).getOpcode(), number, safe);
  if (inst.getOpcode() == Instruction::SDiv)
    made = builder.CreateSelect(minusOne, builder.CreateNeg(number), made);
  inst.replaceAllUsesWith(made);
  inst.eraseFromParent();
}

struct SpareTheVectoriser : PassInfoMixin<SpareTheVectoriser> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    LoopInfo &loops = analyses.getResult<LoopAnalysis>(function);
    bool changed = false;
    // In reverse post-order, operands are hoisted before what is computed from them.
    for (BasicBlock *block : ReversePostOrderTraversal<Function *>(&function)) {
      Loop *loop = loops.getLoopFor(block);
      if (!loop)
        continue;
      for (Instruction &inst : make_early_inc_range(*block)) {
        if (isInvariantDivision(inst, *loop))
          hoist(inst, *loop);
        else if (wrapsEarly(inst) && isIndex(inst))
          hide(inst);
        else
          continue;
        changed = true;
      }
    }
    if (!changed)
      return PreservedAnalyses::all();
    PreservedAnalyses preserved;
    preserved.preserveSet<CFGAnalyses>();
    return preserved;
  }
};

// Copies of a loop body that is not small make a loop of an unknown number of rounds no faster, but several times as much code to
// compile: LLVM's models of some processors would have bodies of hundreds of instructions. Nor do those of small ones where there are dozens of
// them: loops over a block's threads, in versions for many shapes, of which few run.
struct KeepLoopsShort : PassInfoMixin<KeepLoopsShort> {
  static constexpr unsigned MOST_INSTRUCTIONS = 16;
  static constexpr unsigned MOST_OF_ALL = 256;

  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    SmallVector<Loop *, 4> loops = analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder();
    auto isSmall = [](const Loop *loop) { return loop->isInnermost() && size(*loop) <= MOST_INSTRUCTIONS; };
    unsigned all = 0;
    for (const Loop *loop : loops)
      all += isSmall(loop) ? size(*loop) : 0;
    for (Loop *loop : loops)
      if (!isSmall(loop) || all > MOST_OF_ALL)
        addStringMetadataToLoop(loop, "llvm.loop.unroll.runtime.disable");
    return PreservedAnalyses::all();
  }

  static unsigned size(const Loop &loop) {
    unsigned found = 0;
    for (const BasicBlock *block : loop.blocks())
      found += block->size();
    return found;
  }
};

// A loop that the program wants unrolled stays one where more instructions would come of it than this. Each serves a row of threads, so there
// is little to gain, and a kernel with one such loop around another takes seconds to compile.
struct BoundUnrolling : PassInfoMixin<BoundUnrolling> {
  static constexpr uint64_t MOST_INSTRUCTIONS = 4000;

  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    LoopInfo &loops = analyses.getResult<LoopAnalysis>(function);
    ScalarEvolution &evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
    // Instructions of a loop once it is unrolled as it asks, with what is in it.
    DenseMap<const Loop *, uint64_t> sizes;
    SmallVector<Loop *, 4> outerFirst = loops.getLoopsInPreorder();
    for (Loop *loop : reverse(outerFirst)) {
      uint64_t size = 0;
      for (const BasicBlock *block : loop->blocks())
        if (loops.getLoopFor(block) == loop)
          size += block->size();
      for (const Loop *inner : *loop)
        size += sizes[inner];
      uint64_t copies = hasUnrollTransformation(loop) & TM_Enable ? copiesOf(*loop, evolution) : 1;
      if (copies > 1 && size * copies > MOST_INSTRUCTIONS) {
        MDNode *kept = makePostTransformationMetadata(function.getContext(), loop->getLoopID(), {"llvm.loop.unroll."}, {});
        loop->setLoopID(kept);
        copies = 1;
      }
      sizes[loop] = size * copies;
    }
    return PreservedAnalyses::all();
  }

private:
  // How often a loop would stand there.
  static uint64_t copiesOf(const Loop &loop, ScalarEvolution &evolution) {
    if (std::optional<int> count = getOptionalIntLoopAttribute(&loop, "llvm.loop.unroll.count"))
      return *count;
    return evolution.getSmallConstantTripCount(&loop);
  }
};

// Freezes what masked loads of a function give, once.
bool freezeMaskedLoads(Function &function) {
  bool changed = false;
  for (Instruction &inst : instructions(function)) {
    auto *call = dyn_cast<IntrinsicInst>(&inst);
    if (!call || call->getIntrinsicID() != Intrinsic::masked_load)
      continue;
    if (all_of(call->users(), [](User *user) { return isa<FreezeInst>(user); }))
      continue;
    hide(inst);
    changed = true;
  }
  return changed;
}

struct FreezeMaskedLoads : PassInfoMixin<FreezeMaskedLoads> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &) {
    if (!freezeMaskedLoads(function))
      return PreservedAnalyses::all();
    PreservedAnalyses preserved;
    preserved.preserveSet<CFGAnalyses>();
    return preserved;
  }
  static bool isRequired() { return true; }
};

// No pass of ours can stand between a vectoriser and the InstCombine behind it.
void freezeMaskedLoadsOfVectorisers(PassInstrumentationCallbacks &callbacks) {
  callbacks.registerAfterPassCallback([](StringRef pass, Any ir, const PreservedAnalyses &) {
    if (pass != "LoopVectorizePass" && pass != "SLPVectorizerPass")
      return;
    if (const auto *function = any_cast<const Function *>(&ir))
      freezeMaskedLoads(const_cast<Function &>(**function));
  });
}

void setOptionsOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    // In a loop whose accesses are said to be independent between iterations, the vectoriser's groups of strided accesses
    // move a load before an earlier store of the same iteration to the same address. Such accesses are gathered instead.
    regrain_bridge::setLLVMOption("enable-interleaved-mem-accesses", "false");
    // CodeGenPrepare goes over a function again and again until nothing changes, over one of more blocks than this only where
    // something has: for kernels of many copies that is a third of the whole compilation.
    regrain_bridge::setLLVMOption("cgpp-huge-func", "200");
    // Scheduling once more after register allocation, which LLVM does for some processors that reorder by themselves, takes time
    // that grows with the square of a block's length.
    regrain_bridge::setLLVMOption("post-RA-scheduler", "false");
    // Before register allocation every memory access of a block is compared with those before it, up to so many (LLVM: 1000); beyond,
    // old ones are taken together. What lies further apart does not change places to any profit.
    regrain_bridge::setLLVMOption("dag-maps-huge-region", "128");
    // Chains of memory accesses that meet are made one, up to so many (LLVM: 2048), and gone through again for each that changes: in
    // straight code with hundreds of accesses that is most of instruction selection.
    regrain_bridge::setLLVMOption("combiner-tokenfactor-inline-limit", "4");
    // Packing straight code into vectors looks at so many instructions of a block for where one may go (LLVM: 100000); rows are vectors before.
    regrain_bridge::setLLVMOption("slp-schedule-budget", "10000");
  });
}

} // namespace

RegrainVectorRegisters regrainVectorRegisters(LLVMTargetMachineRef machine) {
  auto *target = reinterpret_cast<TargetMachine *>(machine);
  LLVMContext context;
  Module module("", context);
  module.setDataLayout(target->createDataLayout());
  auto *type = FunctionType::get(Type::getVoidTy(context), false);
  auto *function = Function::Create(type, GlobalValue::ExternalLinkage, "f", module);
  TargetTransformInfo info = target->getTargetTransformInfo(*function);
  return {static_cast<unsigned>(info.getRegisterBitWidth(TargetTransformInfo::RGK_FixedWidthVector).getFixedValue()),
          info.getNumberOfRegisters(info.getRegisterClassForType(/*Vector=*/true))};
}

bool regrainHasFeature(LLVMTargetMachineRef machine, MlirStringRef feature) {
  const MCSubtargetInfo *known = reinterpret_cast<TargetMachine *>(machine)->getMCSubtargetInfo();
  return known->checkFeatures(("+" + StringRef(feature.data, feature.length)).str());
}

bool regrainOptimiseForHost(LLVMModuleRef moduleRef, MlirStringRef passes, LLVMTargetMachineRef machine,
                            RegrainSink sink, void *user) {
  setOptionsOnce();
  Module &module = *unwrap(moduleRef);
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopInterleaving = tuning.LoopUnrolling = true;
  tuning.MergeFunctions = false;
  PassInstrumentationCallbacks callbacks;
  regrain_bridge::timePasses(callbacks);
  OptNoneInstrumentation leaveOut(/*DebugLogging=*/false);
  leaveOut.registerCallbacks(callbacks);
  regrain_bridge::SpareWhatIsDoubtful spare;
  spare.registerCallbacks(callbacks);
  freezeMaskedLoadsOfVectorisers(callbacks);
  PassBuilder builder(reinterpret_cast<TargetMachine *>(machine), tuning, std::nullopt, &callbacks);
  builder.registerPipelineStartEPCallback([](ModulePassManager &manager, OptimizationLevel) {
    manager.addPass(createModuleToFunctionPassAdaptor(FreezeMaskedLoads()));
    manager.addPass(createModuleToFunctionPassAdaptor(BoundUnrolling()));
  });
  builder.registerVectorizerStartEPCallback(
      [](FunctionPassManager &manager, OptimizationLevel) {
        manager.addPass(regrain_bridge::NarrowVectors());
        manager.addPass(SpareTheVectoriser());
        manager.addPass(KeepLoopsShort());
      });
  builder.registerPipelineParsingCallback(
      [&](StringRef name, ModulePassManager &manager, ArrayRef<PassBuilder::PipelineElement>) {
        if (name.consume_front("regrain-scalarise-gathers<") && name.consume_back(">")) {
          regrain_bridge::ScalariseGathers pass(reinterpret_cast<TargetMachine *>(machine), name.str());
          manager.addPass(createModuleToFunctionPassAdaptor(std::move(pass)));
          return true;
        }
        if (name == "regrain-dot-products") {
          regrain_bridge::DotProducts pass(reinterpret_cast<TargetMachine *>(machine));
          manager.addPass(createModuleToFunctionPassAdaptor(std::move(pass)));
          return true;
        }
        if (name == "regrain-scalarise-scatters") {
          manager.addPass(createModuleToFunctionPassAdaptor(regrain_bridge::ScalariseScatters()));
          return true;
        }
        if (name == "regrain-stream-stores") {
          manager.addPass(createModuleToFunctionPassAdaptor(regrain_bridge::StreamStores()));
          return true;
        }
        if (name != "regrain-compile-cheaply")
          return false;
        manager.addPass(regrain_bridge::CompileCheaply());
        return true;
      });
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  ModulePassManager manager;
  if (Error error = builder.parsePassPipeline(manager, StringRef(passes.data, passes.length)))
    return regrain_bridge::fail(toString(std::move(error)), sink, user);
  manager.run(module, modules);
  return true;
}
