//===- regions.cpp - loop nests of a host module as functions of their own ---------===//
//
// Loops that look as if they could run in parallel (numbers of rounds that are known before, no calls but of
// mathematical functions, nothing computed that is used behind them) become functions:
//
//   void f(int n, double *a) {                    void f(int n, double *a) {
//     ...                                           ...
//     for (int i = 0; i < n; i++) a[i] *= 2;  ->    f.region0(n, a);
//     ...                                           ...
//   }                                             }
//
// Of a nest it is the outermost loop of which all that holds.
//
//===--------------------------------------------------------------------------===//

#include "bridge.h"
#include "sink.h"

#include "llvm-c/Core.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Utils/CodeExtractor.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

#include <functional>

using namespace llvm;
using namespace regrain_bridge;

namespace {

// A nest that becomes a function.
struct Nest {
  std::vector<BasicBlock *> blocks;
  std::string place;
};

// What is said of nests, a line each.
struct Words {
  RegrainSink sink;
  void *user;
  void say(const Twine &line) {
    std::string text = (line + "\n").str();
    sink(text.data(), text.size(), user);
  }
};

bool isHarmlessCall(const CallBase &call) {
  if (isa<DbgInfoIntrinsic>(call) || isa<AssumeInst>(call))
    return true;
  // The file tells apart which of them are allowed; what has an effect is not.
  if (const Function *callee = call.getCalledFunction()) {
    StringRef name = callee->getName();
    if (name == "sqrt" || name == "sqrtf")
      return true;
  }
  return call.doesNotAccessMemory() && call.doesNotThrow() && call.hasFnAttr(Attribute::WillReturn);
}

// Why a loop cannot be a function of its own; null if it can.
const char *whyNot(const Loop &loop, ScalarEvolution &evolution) {
  if (!loop.isLoopSimplifyForm() || !loop.getExitingBlock() || !loop.getExitBlock())
    return "control leaves it at several places";
  for (const Loop *each : loop.getLoopsInPreorder()) {
    if (!each->getExitingBlock())
      return "control leaves it at several places";
    if (isa<SCEVCouldNotCompute>(evolution.getBackedgeTakenCount(each)))
      return "how often it goes round is not known before";
  }
  for (const BasicBlock *block : loop.blocks()) {
    for (const Instruction &inst : *block) {
      if (const auto *call = dyn_cast<CallBase>(&inst); call && !isHarmlessCall(*call))
        return "it calls a function";
      if (inst.isVolatile() || inst.isAtomic())
        return "it accesses memory that others see";
      if (isa<AllocaInst>(inst) || (inst.isTerminator() && !isa<BranchInst>(inst)))
        return "it has a statement that is not supported";
      for (const User *user : inst.users())
        if (!loop.contains(cast<Instruction>(user)))
          return "a value that it computes is used behind it";
    }
  }
  return nullptr;
}

bool stores(const Loop &loop) {
  for (const BasicBlock *block : loop.blocks())
    for (const Instruction &inst : *block)
      if (isa<StoreInst>(inst))
        return true;
  return false;
}

// Where a loop stands, `FILE\tLINE`.
std::string placeOf(const Loop &loop) {
  DebugLoc start = loop.getStartLoc();
  return start ? (start->getFilename() + "\t" + Twine(start.getLine())).str() : "\t0";
}

void collect(const Loop &loop, ScalarEvolution &evolution, std::vector<Nest> &nests, Words &words) {
  const char *reason = whyNot(loop, evolution);
  if (!reason) {
    if (stores(loop))
      nests.push_back({std::vector<BasicBlock *>(loop.block_begin(), loop.block_end()), placeOf(loop)});
    return;
  }
  words.say("not\t" + placeOf(loop) + "\t" + reason);
  for (const Loop *inner : loop)
    collect(*inner, evolution, nests, words);
}

// A number for the object that a pointer points into, where it is one of its own; else 0.
unsigned objectOf(Value *pointer, DenseMap<Value *, unsigned> &objects) {
  Value *object = getUnderlyingObject(pointer, 0);
  if (!isIdentifiedObject(object) || isa<GlobalAlias>(object))
    return 0;
  return objects.try_emplace(object, objects.size() + 1).first->second;
}

bool isAddressing(const Instruction &inst) {
  switch (inst.getOpcode()) {
  case Instruction::ZExt:
  case Instruction::SExt:
  case Instruction::Trunc:
  case Instruction::Add:
  case Instruction::Sub:
  case Instruction::Mul:
  case Instruction::Shl:
  case Instruction::GetElementPtr:
    return !inst.getType()->isVectorTy();
  default:
    return false;
  }
}

// Puts a block in front of a nest that computes again what the nest takes of sizes and addresses: of `n` and `m` more can be
// said than of what was `n * m`.
void addEntry(Nest &nest) {
  SmallPtrSet<BasicBlock *, 16> inside(nest.blocks.begin(), nest.blocks.end());
  BasicBlock *before = nullptr;
  for (BasicBlock *each : predecessors(nest.blocks.front()))
    if (!inside.contains(each))
      before = each;
  BasicBlock *entry = before->splitBasicBlock(before->getTerminator());
  DenseMap<Value *, Value *> copies;
  std::function<Value *(Value *)> copy = [&](Value *value) {
    auto *inst = dyn_cast<Instruction>(value);
    if (!inst || inside.contains(inst->getParent()) || inst->getParent() == entry || !isAddressing(*inst))
      return value;
    if (Value *made = copies.lookup(value))
      return made;
    Instruction *made = inst->clone();
    for (Use &operand : made->operands())
      operand.set(copy(operand.get()));
    made->insertBefore(entry->getTerminator()->getIterator());
    copies[value] = made;
    return static_cast<Value *>(made);
  };
  for (BasicBlock *block : nest.blocks)
    for (Instruction &inst : *block)
      for (Use &operand : inst.operands())
        operand.set(copy(operand.get()));
  nest.blocks.insert(nest.blocks.begin(), entry);
}

// Makes a function of a nest, and says which: "region NAME FILE LINE OBJECTS GLOBALS", an object's number for each parameter and
// `NAME=NUMBER` for each variable that has one.
void extract(Function &function, Nest nest, unsigned number, Words &words) {
  addEntry(nest);
  DominatorTree dominators(function);
  AssumptionCache assumptions(function);
  CodeExtractorAnalysisCache cache(function);
  CodeExtractor extractor(nest.blocks, &dominators, false, nullptr, nullptr, &assumptions, false, false, nullptr,
                          "region" + std::to_string(number));
  SetVector<Value *> inputs, outputs;
  Function *made = extractor.isEligible() ? extractor.extractCodeRegion(cache, inputs, outputs) : nullptr;
  if (!made || !outputs.empty() || !made->getReturnType()->isVoidTy() || made->arg_size() != inputs.size()) {
    words.say("not\t" + nest.place + "\tit has a statement that is not supported");
    return;
  }
  made->setLinkage(GlobalValue::InternalLinkage);
  DenseMap<Value *, unsigned> objects;
  std::string parts, globals;
  for (Value *input : inputs)
    parts += std::to_string(input->getType()->isPointerTy() ? objectOf(input, objects) : 0) + ",";
  for (auto &[object, index] : objects)
    if (isa<GlobalVariable>(object))
      globals += (object->getName() + "=" + std::to_string(index) + ",").str();
  words.say("region\t" + made->getName() + "\t" + nest.place + "\t" + parts + "\t" + globals);
}

} // namespace

void regrainOutlineRegions(LLVMModuleRef ref, RegrainSink sink, void *user) {
  Module &module = *unwrap(ref);
  Words words{sink, user};
  PassBuilder builder;
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager graphs;
  ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  FunctionPassManager simplify;
  simplify.addPass(SROAPass(SROAOptions::ModifyCFG));
  simplify.addPass(EarlyCSEPass());
  simplify.addPass(SimplifyCFGPass());
  simplify.addPass(LoopSimplifyPass());
  std::vector<Function *> wanted;
  for (Function &function : module)
    if (!function.isDeclaration() && !function.hasOptNone() && !function.hasAvailableExternallyLinkage())
      wanted.push_back(&function);
  for (Function *function : wanted) {
    auto kept = simplify.run(*function, functions);
    functions.invalidate(*function, kept);
    std::vector<Nest> nests;
    // Their order is that of the text.
    auto top = functions.getResult<LoopAnalysis>(*function).getLoopsInReverseSiblingPreorder();
    for (const Loop *loop : reverse(top))
      if (!loop->getParentLoop())
        collect(*loop, functions.getResult<ScalarEvolutionAnalysis>(*function), nests, words);
    functions.clear(*function, function->getName());
    for (auto [number, nest] : enumerate(nests))
      extract(*function, nest, number, words);
  }
}

void regrainStripDebugInfo(LLVMModuleRef module) {
  StripDebugInfo(*unwrap(module));
}
