// A pass pipeline for the host processor, with one repair right before the vectoriser.
//
// LLVM 22 takes a check that an induction variable of a wide type does not wrap for a check of a narrower one
// (SCEVWrapPredicate::implies compares start and step, not widths). A loop that reads `a[i & 63]` and `b[i & 7]` is
// then vectorised as if `i & 7` went on counting. An index that is masked or truncated is frozen, which hides from the
// vectoriser that it counts; such an access is gathered.

#include "llvm-c/Core.h"
#include "llvm-c/TargetMachine.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;
using namespace llvm::PatternMatch;

extern "C" {
// Gives null, or a message to be freed with LLVMDisposeMessage.
char *regrainOptimiseForHost(LLVMModuleRef module, const char *passes, LLVMTargetMachineRef machine);
}

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

struct HideWrappedIndices : PassInfoMixin<HideWrappedIndices> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    LoopInfo &loops = analyses.getResult<LoopAnalysis>(function);
    SmallVector<Instruction *> found;
    for (BasicBlock &block : function)
      if (loops.getLoopFor(&block))
        for (Instruction &inst : block)
          if (wrapsEarly(inst) && isIndex(inst))
            found.push_back(&inst);
    for (Instruction *inst : found) {
      IRBuilder<> builder(inst->getNextNode());
      Value *frozen = builder.CreateFreeze(inst);
      inst->replaceUsesWithIf(frozen, [&](Use &use) { return use.getUser() != frozen; });
    }
    if (found.empty())
      return PreservedAnalyses::all();
    PreservedAnalyses preserved;
    preserved.preserveSet<CFGAnalyses>();
    return preserved;
  }
};

} // namespace

char *regrainOptimiseForHost(LLVMModuleRef moduleRef, const char *passes, LLVMTargetMachineRef machine) {
  Module &module = *unwrap(moduleRef);
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopInterleaving = tuning.LoopUnrolling = true;
  tuning.MergeFunctions = false;
  PassBuilder builder(reinterpret_cast<TargetMachine *>(machine), tuning);
  builder.registerVectorizerStartEPCallback(
      [](FunctionPassManager &manager, OptimizationLevel) { manager.addPass(HideWrappedIndices()); });
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
  if (Error error = builder.parsePassPipeline(manager, passes))
    return LLVMCreateMessage(toString(std::move(error)).c_str());
  manager.run(module, modules);
  return nullptr;
}
