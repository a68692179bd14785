//===- regions.cpp - loop nests of a host module as functions of their own ---------===//
//
// Loops that look as if they could run in parallel (numbers of rounds that are known before, no calls but of
// mathematical functions) become functions. Numbers that are used behind a loop go through cells of memory:
//
//   int f(int n, double *a) {                     int f(int n, double *a) {
//     ...                                           ...
//     for (int i = 0; i < n; i++) s += a[i];  ->    f.region0(n, a, &cell); s = cell;
//     ...                                           ...
//   }                                             }
//
// Of a nest it is the outermost loop of which all that holds. Regions that follow one another, with nothing between them
// that others see, become one more function, which calls them: a group.
//
//===--------------------------------------------------------------------------===//

#include "bridge.h"
#include "regions.h"

#include "llvm-c/Core.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#include <functional>

using namespace llvm;
using namespace regrain_bridge;

namespace {

// A nest that becomes a function.
struct Nest {
  Loop *loop;
  std::vector<BasicBlock *> blocks;
  std::string place;
  // The number of the scop that it stands in, -1 where there are none.
  int scop;
};

// Why a loop cannot be a function of its own; null if it can.
const char *whyNotLoop(const Loop &loop, ScalarEvolution &evolution) {
  if (!loop.isLoopSimplifyForm() || !loop.getExitingBlock() || !loop.getExitBlock())
    return "control leaves it at several places";
  for (const Loop *each : loop.getLoopsInPreorder()) {
    if (!each->getExitingBlock())
      return "control leaves it at several places";
    if (isa<SCEVCouldNotCompute>(evolution.getBackedgeTakenCount(each)))
      return "how often it goes round is not known before";
  }
  for (const BasicBlock *block : loop.blocks())
    for (const Instruction &inst : *block)
      if (const char *reason = whyNot(inst))
        return reason;
  return nullptr;
}

// What a loop computes that is used behind it and is no number, which a cell could take; null if there is none.
const char *whyNotBehind(const Loop &loop) {
  for (const PHINode &phi : loop.getExitBlock()->phis())
    if (!phi.use_empty() && !isNumber(phi.getType()))
      return "a value that it computes is used behind it";
  return nullptr;
}

// Whether something is left of a loop's work.
bool isUseful(const Loop &loop) {
  for (const BasicBlock *block : loop.blocks())
    for (const Instruction &inst : *block)
      if (isa<StoreInst>(inst))
        return true;
  return any_of(loop.getExitBlock()->phis(), [](const PHINode &phi) { return !phi.use_empty(); });
}

// Where a loop stands, `FILE\tLINE`.
std::string placeOf(const Loop &loop) {
  DebugLoc start = loop.getStartLoc();
  return start ? (start->getFilename() + "\t" + Twine(start.getLine())).str() : "\t0";
}

// Whether line tables mean the source by a file.
bool isSource(const DebugLoc &place, const Source &source) {
  auto *scope = cast<DIScope>(place->getScope());
  SmallString<128> path(scope->getFilename());
  if (sys::path::is_relative(path) && !scope->getDirectory().empty()) {
    path = scope->getDirectory();
    sys::path::append(path, scope->getFilename());
  }
  return path == source.path || sys::fs::equivalent(path, source.path);
}

// The scop that a loop stands in, -1 where the source has none; nothing if it stands outside of all.
std::optional<int> scopOf(const Loop &loop, const Source &source) {
  DebugLoc start = loop.getStartLoc();
  if (source.scops.empty())
    return -1;
  if (!start || !isSource(start, source))
    return std::nullopt;
  for (auto [number, scop] : enumerate(source.scops))
    if (scop.first < start.getLine() && start.getLine() < scop.last)
      return int(number);
  return std::nullopt;
}

// What is asked of loops.
struct Analyses {
  LoopInfo &loops;
  ScalarEvolution &evolution;
  DominatorTree &dominators;
  TargetLibraryInfo &library;
  TargetTransformInfo &target;
};

// Computes what loops' variables are in the end from the bounds, so that the loops need not hand it out.
void computeLastValues(Loop &loop, Analyses &of) {
  formLCSSARecursively(loop, of.dominators, &of.loops, &of.evolution);
  SCEVExpander expander(of.evolution, "last");
  SmallVector<WeakTrackingVH, 16> dead;
  rewriteLoopExitValues(&loop, &of.loops, &of.library, &of.evolution, &of.target, expander, &of.dominators,
                        OnlyCheapRepl, dead);
  for (WeakTrackingVH &value : dead)
    if (auto *phi = dyn_cast_or_null<PHINode>(value); phi && phi->use_empty())
      phi->eraseFromParent();
}

void collect(Loop &loop, Analyses &of, Source &source, std::vector<Nest> &nests, Words &words) {
  std::optional<int> scop = scopOf(loop, source);
  const char *reason = scop ? whyNotLoop(loop, of.evolution) : nullptr;
  if (scop && !reason) {
    computeLastValues(loop, of);
    reason = whyNotBehind(loop);
  }
  if (scop && !reason) {
    if (isUseful(loop))
      nests.push_back({&loop, {}, placeOf(loop), *scop});
    return;
  }
  if (scop) {
    words.say("not\t" + placeOf(loop) + "\t" + reason);
    if (*scop >= 0)
      source.scops[*scop].refused++;
  }
  for (Loop *inner : loop)
    collect(*inner, of, source, nests, words);
}

// The blocks of a nest, with one behind the loop that stores what is used from there on.
void addExit(Nest &nest, Analyses &of) {
  nest.blocks.assign(nest.loop->block_begin(), nest.loop->block_end());
  BasicBlock *exit = nest.loop->getExitBlock();
  SmallVector<PHINode *> used;
  for (PHINode &phi : exit->phis())
    if (!phi.use_empty())
      used.push_back(&phi);
  if (used.empty())
    return;
  BasicBlock *rest = SplitBlock(exit, exit->getFirstInsertionPt(), &of.dominators, &of.loops);
  for (PHINode *phi : used)
    handOut(*phi, *exit->getTerminator(), *rest->getFirstInsertionPt(), [&](const Use &use) {
      return cast<Instruction>(use.getUser())->getParent() != exit;
    });
  nest.blocks.push_back(exit);
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

// Makes a function of a nest, and says which.
void extract(Function &function, Nest nest, unsigned number, std::vector<Made> &made, Words &words) {
  addEntry(nest);
  CallInst *call = outline(function, nest.blocks, "region" + Twine(number));
  if (!call) {
    words.say("not\t" + nest.place + "\tit has a statement that is not supported");
    return;
  }
  words.say("region\t" + describe(*call, nest.place) + "\t");
  made.push_back({call, nest.place, nest.scop});
}

// Whether nothing in a loop changes what a load reads of a variable, which is there whether or not the loop runs: a size or where an array is.
bool isKept(const LoadInst &load, const Loop &loop, AAResults &aliases) {
  bool isSize = load.getType()->isIntegerTy() || load.getType()->isPointerTy();
  if (!isSize || !load.isSimple() || !isa<Constant>(load.getPointerOperand()) || !isSafeToSpeculativelyExecute(&load))
    return false;
  MemoryLocation place = MemoryLocation::get(&load);
  for (BasicBlock *block : loop.blocks())
    for (Instruction &inst : *block)
      if (inst.mayWriteToMemory() && isModSet(aliases.getModRefInfo(&inst, place)))
        return false;
  return true;
}

// Takes what is the same in all rounds, and never fails, out of loops: bounds such as `n / 2`, where `n` may be a variable of the program.
void hoist(LoopInfo &loops, AAResults &aliases) {
  auto inOrder = loops.getLoopsInPreorder();
  for (Loop *loop : reverse(inOrder)) {
    std::vector<Instruction *> all;
    for (BasicBlock *block : loop->blocks())
      for (Instruction &inst : *block)
        all.push_back(&inst);
    bool changed = false;
    BasicBlock *before = loop->getLoopPreheader();
    for (Instruction *inst : all) {
      auto *load = dyn_cast<LoadInst>(inst);
      if (!load) {
        loop->makeLoopInvariant(inst, changed);
      } else if (before && isKept(*load, *loop, aliases)) {
        load->moveBefore(before->getTerminator()->getIterator());
        // What it may alias holds for the loop around, too.
        load->dropUBImplyingAttrsAndMetadata({LLVMContext::MD_tbaa});
      }
    }
  }
}

void outlineOf(Function &function, FunctionAnalysisManager &functions, FunctionPassManager &simplify, Source &source,
               Words &words) {
  functions.invalidate(function, simplify.run(function, functions));
  hoist(functions.getResult<LoopAnalysis>(function), functions.getResult<AAManager>(function));
  PreservedAnalyses kept;
  kept.preserve<LoopAnalysis>();
  kept.preserve<DominatorTreeAnalysis>();
  functions.invalidate(function, kept);
  // Sizes that several loops have loaded are one.
  functions.invalidate(function, EarlyCSEPass().run(function, functions));
  Analyses of{functions.getResult<LoopAnalysis>(function), functions.getResult<ScalarEvolutionAnalysis>(function),
              functions.getResult<DominatorTreeAnalysis>(function), functions.getResult<TargetLibraryAnalysis>(function),
              functions.getResult<TargetIRAnalysis>(function)};
  std::vector<Nest> nests;
  // Their order is that of the text.
  auto top = of.loops.getLoopsInReverseSiblingPreorder();
  for (Loop *loop : reverse(top))
    if (!loop->getParentLoop())
      collect(*loop, of, source, nests, words);
  for (Nest &nest : nests)
    addExit(nest, of);
  functions.clear(function, function.getName());
  std::vector<Made> made;
  for (auto [number, nest] : enumerate(nests))
    extract(function, nest, number, made, words);
  findGroups(function, made, source, words);
}

// What is to be said of scops that are not one region.
void judge(const Source &source, Words &words) {
  for (const Scop &scop : source.scops) {
    const char *reason = nullptr;
    if (scop.regions + scop.refused == 0)
      reason = "no loop stands in it";
    else if (scop.regions > 1 || (scop.regions && scop.refused))
      reason = "more than loops in a row stands in it";
    if (reason)
      words.say("scop\t" + source.path + "\t" + Twine(scop.first) + "\t" + reason);
  }
}

// `FIRST LAST` for each scop.
Source sourceOf(MlirStringRef path, MlirStringRef scops) {
  Source source{std::string(path.data, path.length), {}};
  SmallVector<StringRef> numbers;
  StringRef(scops.data, scops.length).split(numbers, ' ', -1, false);
  for (size_t at = 0; at + 1 < numbers.size(); at += 2) {
    Scop scop{};
    if (!numbers[at].getAsInteger(10, scop.first) && !numbers[at + 1].getAsInteger(10, scop.last))
      source.scops.push_back(scop);
  }
  return source;
}

} // namespace

void regrainOutlineRegions(LLVMModuleRef ref, MlirStringRef path, MlirStringRef scops, RegrainSink sink, void *user) {
  Module &module = *unwrap(ref);
  Words words{sink, user};
  Source source = sourceOf(path, scops);
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
  for (Function *function : wanted)
    outlineOf(*function, functions, simplify, source, words);
  judge(source, words);
}

void regrainStripDebugInfo(LLVMModuleRef module) {
  StripDebugInfo(*unwrap(module));
}
