// What is compiled cheaply: see cheap.h.

#include "cheap.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

using namespace llvm;
using namespace regrain_bridge;

namespace {

bool isSmall(const Function &function) { return function.getFnAttribute(CHEAP).getValueAsString() == "small"; }

// Where a pass stands: in a function or in a loop of one.
const Function *functionOf(const Any &ir) {
  if (const auto *function = any_cast<const Function *>(&ir))
    return *function;
  if (const auto *loop = any_cast<const Loop *>(&ir))
    return (*loop)->getHeader()->getParent();
  return nullptr;
}

} // namespace

PreservedAnalyses regrain_bridge::CompileCheaply::run(Module &module, ModuleAnalysisManager &analyses) {
  auto &functions = analyses.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
  FunctionPassManager simplify;
  simplify.addPass(SROAPass(SROAOptions::ModifyCFG));
  simplify.addPass(EarlyCSEPass());
  simplify.addPass(SimplifyCFGPass());
  for (Function &function : module) {
    if (function.isDeclaration() || !function.hasFnAttribute(CHEAP))
      continue;
    if (isSmall(function)) {
      function.addFnAttr(Attribute::OptimizeForSize);
      for (BasicBlock &block : function)
        block.getTerminator()->setMetadata(LLVMContext::MD_loop, nullptr);
      continue;
    }
    simplify.run(function, functions);
    for (Attribute::AttrKind kind : {Attribute::AlwaysInline, Attribute::OptimizeForSize, Attribute::MinSize})
      function.removeFnAttr(kind);
    function.addFnAttr(Attribute::OptimizeNone);
    function.addFnAttr(Attribute::NoInline);
  }
  return PreservedAnalyses::none();
}

void regrain_bridge::SpareWhatIsDoubtful::registerCallbacks(PassInstrumentationCallbacks &callbacks) {
  callbacks.registerShouldRunOptionalPassCallback([this](StringRef pass, Any ir) { return mayRun(pass, ir); });
}

bool regrain_bridge::SpareWhatIsDoubtful::mayRun(StringRef pass, const Any &ir) {
  // Once for what the rows were lowered to, and once for what inlining left.
  constexpr unsigned COMBINED = 2;
  static const StringSet<> LEFT_OUT = {
      "BDCEPass",          "ConstraintEliminationPass", "CorrelatedValuePropagationPass", "GVNPass",
      "IndVarSimplifyPass", "JumpThreadingPass",        "LoopDeletionPass",               "LoopFullUnrollPass",
      "LoopIdiomRecognizePass", "LoopInstSimplifyPass", "LoopRotatePass",                 "LoopUnrollPass",
      "LoopVectorizePass", "SCCPPass",                  "SLPVectorizerPass",              "SimpleLoopUnswitchPass",
      "VectorCombinePass"};
  const Function *function = functionOf(ir);
  if (!function || !isSmall(*function))
    return true;
  if (pass == "InstCombinePass")
    return combined[function]++ < COMBINED;
  return !LEFT_OUT.contains(pass);
}
