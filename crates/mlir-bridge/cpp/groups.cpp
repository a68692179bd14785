//===- groups.cpp - regions that follow one another -----------------------------===//
//
// Regions are functions that are called. Where such calls follow one another, with nothing between that others see, they become
// one more function:
//
//   f.region0(n, a, &cell);                       void f.group0(int n, double *a, double *cell) {
//   m = cell / n;                          ->       f.region0(n, a, cell); m = *cell / n; f.region1(n, a, m);
//   f.region1(n, a, m);                           }
//
// Here is what of that regions need too: functions made of blocks, and cells.
//
//===--------------------------------------------------------------------------===//

#include "bridge.h"
#include "regions.h"

#include "llvm-c/Core.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/CodeExtractor.h"

using namespace llvm;
using namespace regrain_bridge;

static bool isHarmlessCall(const CallBase &call) {
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

bool regrain_bridge::isNumber(const Type *type) {
  return type->isFloatTy() || type->isDoubleTy() || type->isIntegerTy(8) || type->isIntegerTy(16) ||
         type->isIntegerTy(32) || type->isIntegerTy(64);
}

const char *regrain_bridge::whyNot(const Instruction &inst) {
  if (const auto *call = dyn_cast<CallBase>(&inst); call && !isHarmlessCall(*call))
    return "it calls a function";
  if (inst.isVolatile() || inst.isAtomic())
    return "it accesses memory that others see";
  if (isa<AllocaInst>(inst) || (inst.isTerminator() && !isa<BranchInst>(inst)))
    return "it has a statement that is not supported";
  return nullptr;
}

void regrain_bridge::handOut(Instruction &value, Instruction &inside, Instruction &behind, function_ref<bool(const Use &)> isBehind) {
  IRBuilder<> entry(&*value.getFunction()->getEntryBlock().getFirstInsertionPt());
  AllocaInst *cell = entry.CreateAlloca(value.getType(), nullptr, "cell");
  new StoreInst(&value, cell, inside.getIterator());
  auto *loaded = new LoadInst(value.getType(), cell, value.getName(), behind.getIterator());
  value.replaceUsesWithIf(loaded, isBehind);
}

// A number for the object that a pointer points into, where it is one of its own; else 0.
static unsigned objectOf(Value *pointer, DenseMap<Value *, unsigned> &objects) {
  Value *object = getUnderlyingObject(pointer, 0);
  if (!isIdentifiedObject(object) || isa<GlobalAlias>(object))
    return 0;
  return objects.try_emplace(object, objects.size() + 1).first->second;
}

CallInst *regrain_bridge::outline(Function &function, ArrayRef<BasicBlock *> blocks, const Twine &name) {
  DominatorTree dominators(function);
  AssumptionCache assumptions(function);
  CodeExtractorAnalysisCache cache(function);
  CodeExtractor extractor(blocks, &dominators, false, nullptr, nullptr, &assumptions, false, false, nullptr, name.str());
  SetVector<Value *> inputs, outputs;
  Function *made = extractor.isEligible() ? extractor.extractCodeRegion(cache, inputs, outputs) : nullptr;
  if (!made || !outputs.empty() || !made->getReturnType()->isVoidTy() || made->arg_size() != inputs.size() ||
      !made->hasOneUse())
    return nullptr;
  made->setLinkage(GlobalValue::InternalLinkage);
  return cast<CallInst>(*made->user_begin());
}

std::string regrain_bridge::describe(const CallInst &call, const std::string &place) {
  DenseMap<Value *, unsigned> objects;
  std::string parts, globals;
  for (Value *input : call.args())
    parts += std::to_string(input->getType()->isPointerTy() ? objectOf(input, objects) : 0) + ",";
  for (auto &[object, index] : objects)
    if (isa<GlobalVariable>(object))
      globals += (object->getName() + "=" + std::to_string(index) + ",").str();
  const Function &function = *call.getFunction();
  bool isRepeated = !function.use_empty() || isPotentiallyReachable(call.getParent()->getTerminator(), &call);
  return (call.getCalledFunction()->getName() + "\t" + place + "\t" + parts + "\t" + globals + "\t" + (isRepeated ? "repeated" : "")).str();
}

// Whether one instruction alone, a call of what stores to it, does anything but load from a cell.
static bool isReadAlone(const AllocaInst &cell) {
  return count_if(cell.users(), [](const User *user) { return !isa<LoadInst>(user); }) == 1;
}

// Takes what is used behind a row of calls, but does not need to be among them, out of the row.
static void clearRow(Instruction &first, Instruction &last) {
  std::vector<Instruction *> row;
  for (Instruction *inst = &first; inst != &last; inst = inst->getNextNode())
    row.push_back(inst);
  auto isBehind = [&](const Use &use) {
    auto *user = cast<Instruction>(use.getUser());
    return user->getParent() != first.getParent() || isa<PHINode>(user) || last.comesBefore(user);
  };
  for (Instruction *inst : row) {
    auto *loaded = dyn_cast<LoadInst>(inst);
    auto *cell = loaded ? dyn_cast<AllocaInst>(loaded->getPointerOperand()) : nullptr;
    if (cell && isReadAlone(*cell) && any_of(inst->uses(), isBehind)) {
      Instruction *again = inst->clone();
      again->insertAfter(last.getIterator());
      inst->replaceUsesWithIf(again, isBehind);
      if (inst->use_empty())
        inst->eraseFromParent();
    } else if (!isa<CallBase>(inst) && !inst->mayReadOrWriteMemory() && isSafeToSpeculativelyExecute(inst) &&
               all_of(inst->operands(), [&](const Use &use) {
                 auto *operand = dyn_cast<Instruction>(use.get());
                 return !operand || operand->getParent() != first.getParent() || operand->comesBefore(&first);
               })) {
      inst->moveBefore(first.getIterator());
    }
  }
}

// Makes a function of calls that follow one another in a block, and says which.
static void group(Function &function, ArrayRef<const Made *> row, unsigned number, Words &words) {
  CallInst *first = row.front()->call, *last = row.back()->call;
  std::string members;
  for (const Made *made : row)
    members += (made->call->getCalledFunction()->getName() + ",").str();
  clearRow(*first, *last);
  BasicBlock *middle = first->getParent()->splitBasicBlock(first);
  BasicBlock *rest = middle->splitBasicBlock(last->getNextNode());
  auto isBehind = [&](const Use &use) { return cast<Instruction>(use.getUser())->getParent() != middle; };
  std::vector<Instruction *> used;
  for (Instruction &inst : *middle)
    if (any_of(inst.uses(), isBehind))
      used.push_back(&inst);
  if (any_of(used, [](Instruction *inst) { return !isNumber(inst->getType()); }))
    return;
  for (Instruction *inst : used)
    handOut(*inst, *middle->getTerminator(), *rest->getFirstInsertionPt(), isBehind);
  if (CallInst *call = outline(function, middle, "group" + Twine(number)))
    words.say("group\t" + describe(*call, row.front()->place) + "\t" + members);
}

// Whether an instruction may stand between the nests of a group.
static bool mayStandBetween(const Instruction &inst) {
  return !inst.isTerminator() && !inst.isEHPad() && !isa<PHINode>(inst) && !whyNot(inst);
}

void regrain_bridge::findGroups(Function &function, ArrayRef<Made> made, Source &source, Words &words) {
  DenseMap<const Instruction *, const Made *> calls;
  for (const Made &each : made)
    calls[each.call] = &each;
  std::vector<std::vector<const Made *>> rows(1);
  for (const Made &each : made)
    while (BasicBlock *next = each.call->getParent()->getSingleSuccessor())
      if (!MergeBlockIntoPredecessor(next))
        break;
  for (BasicBlock &block : function) {
    rows.emplace_back();
    for (Instruction &inst : block) {
      const Made *call = calls.lookup(&inst);
      bool isOther = call && !rows.back().empty() && rows.back().back()->scop != call->scop;
      if (isOther || (!call && !rows.back().empty() && !mayStandBetween(inst)))
        rows.emplace_back();
      if (call)
        rows.back().push_back(call);
    }
  }
  unsigned number = 0;
  for (const std::vector<const Made *> &row : rows) {
    if (!row.empty() && row.front()->scop >= 0)
      source.scops[row.front()->scop].regions++;
    if (row.size() > 1)
      group(function, row, number++, words);
  }
}

void regrainInlineMembers(LLVMValueRef ref) {
  auto &function = *unwrap<Function>(ref);
  std::vector<CallBase *> calls;
  for (Instruction &inst : instructions(function))
    if (auto *call = dyn_cast<CallBase>(&inst))
      if (Function *callee = call->getCalledFunction(); callee && callee->hasLocalLinkage() && !callee->isDeclaration())
        calls.push_back(call);
  for (CallBase *call : calls) {
    InlineFunctionInfo info;
    InlineFunction(*call, info);
  }
}
