//===- resident.cpp - loops whose arrays may stay on the device ------------------===//
//
// Loops of the host that call regions, and do nothing else with memory that regions see:
//
//   do { f.region0(n, a, b); f.region1(n, a, b, &cell); } while (cell > 0.1);
//
//   ->  begin(); do { ... } while (cell > 0.1); end();
//
// In between arrays need not come back from the device. Functions that such a loop calls may do no more than it.
//
//===----------------------------------------------------------------------------===//

#include "bridge.h"
#include "regions.h"

#include "llvm-c/Core.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

using namespace llvm;
using namespace regrain_bridge;

namespace {

class Resident {
public:
  Resident(Module &module, StringRef names, FunctionCallee begin, FunctionCallee end) : begin(begin), end(end) {
    SmallVector<StringRef> all;
    names.split(all, '\n', -1, false);
    for (StringRef name : all)
      if (Function *function = module.getFunction(name))
        regions.insert(function);
  }

  // Marks the loops of a function, outer ones where that is possible; how many.
  unsigned mark(Function &function) {
    if (function.isDeclaration() || regions.contains(&function))
      return 0;
    DominatorTree dominators(function);
    LoopInfo loops(dominators);
    std::vector<Loop *> found, open(loops.begin(), loops.end());
    while (!open.empty()) {
      Loop *loop = open.back();
      open.pop_back();
      if (any_of(loop->blocks(), [&](BasicBlock *block) { return calls(*block); }) &&
          all_of(loop->blocks(), [&](BasicBlock *block) { return isClean(*block, nullptr); }))
        found.push_back(loop);
      else
        open.insert(open.end(), loop->begin(), loop->end());
    }
    unsigned marked = 0;
    for (Loop *loop : found) {
      simplifyLoop(loop, &dominators, &loops, nullptr, nullptr, nullptr, false);
      SmallVector<BasicBlock *> exits;
      loop->getUniqueExitBlocks(exits);
      if (!loop->getLoopPreheader() || !loop->hasDedicatedExits() || exits.empty())
        continue;
      call(begin, *loop->getLoopPreheader()->getTerminator());
      for (BasicBlock *exit : exits)
        call(end, *exit->getFirstInsertionPt());
      marked++;
    }
    return marked;
  }

private:
  SmallPtrSet<Function *, 8> regions;
  FunctionCallee begin, end;
  // Functions that were looked at; those that are being looked at are none.
  DenseMap<const Function *, bool> clean, calling;

  static void call(FunctionCallee callee, Instruction &before) {
    IRBuilder<> builder(&before);
    if (DISubprogram *program = before.getFunction()->getSubprogram())
      builder.SetCurrentDebugLocation(DILocation::get(before.getContext(), 0, 0, program));
    builder.CreateCall(callee);
  }

  // Whether a region is called in a block, or in a function that is.
  bool calls(const BasicBlock &block) {
    return any_of(block, [&](const Instruction &inst) {
      const auto *call = dyn_cast<CallBase>(&inst);
      Function *callee = call ? call->getCalledFunction() : nullptr;
      if (!callee || regions.contains(callee))
        return callee != nullptr;
      auto [at, isNew] = calling.try_emplace(callee, false);
      if (isNew && !callee->isDeclaration()) {
        bool found = any_of(*callee, [&](const BasicBlock &inner) { return calls(inner); });
        calling[callee] = found;
        return found;
      }
      return calling[callee];
    });
  }

  // A number on the stack that is loaded and stored, and handed to regions: it never stays on the device.
  bool isCell(const Value &pointer) {
    const auto *cell = dyn_cast<AllocaInst>(&pointer);
    return cell && cell->isStaticAlloca() && isNumber(cell->getAllocatedType()) &&
           all_of(cell->users(), [&](const User *user) {
             if (const auto *store = dyn_cast<StoreInst>(user))
               return store->getValueOperand() != cell;
             const auto *call = dyn_cast<CallBase>(user);
             return isa<LoadInst>(user) || (call && regions.contains(call->getCalledFunction()));
           });
  }

  // Whether what a pointer points into is there until the loop ends: what is on the stack of a function that it calls is not.
  static bool staysAlive(const Value &pointer, const Function *called) {
    SmallVector<const Value *> objects;
    getUnderlyingObjects(&pointer, objects, nullptr, 0);
    return none_of(objects, [&](const Value *object) {
      const auto *local = dyn_cast<AllocaInst>(object);
      return local && (called || !local->isStaticAlloca());
    });
  }

  // Whether no memory is accessed that stays on the device.
  bool isClean(const BasicBlock &block, const Function *called) {
    return all_of(block, [&](const Instruction &inst) {
      if (isa<DbgInfoIntrinsic>(inst))
        return true;
      if (const auto *load = dyn_cast<LoadInst>(&inst))
        return load->isSimple() && isCell(*load->getPointerOperand());
      if (const auto *store = dyn_cast<StoreInst>(&inst))
        return store->isSimple() && isCell(*store->getPointerOperand());
      const auto *call = dyn_cast<CallBase>(&inst);
      if (!call)
        return !inst.mayReadOrWriteMemory() && !inst.mayThrow();
      Function *callee = call->getCalledFunction();
      if (callee && regions.contains(callee))
        return all_of(call->args(), [&](const Use &argument) {
          return !argument->getType()->isPointerTy() || isCell(*argument) || staysAlive(*argument, called);
        });
      return !whyNot(inst) || (callee && isClean(*callee));
    });
  }

  bool isClean(const Function &function) {
    auto [at, isNew] = clean.try_emplace(&function, false);
    if (isNew && function.isDefinitionExact()) {
      bool found = all_of(function, [&](const BasicBlock &block) { return isClean(block, &function); });
      clean[&function] = found;
      return found;
    }
    return clean[&function];
  }
};

} // namespace

unsigned regrainMarkResident(LLVMModuleRef ref, MlirStringRef names, LLVMValueRef begin, LLVMValueRef end) {
  Module &module = *unwrap(ref);
  auto *first = unwrap<Function>(begin), *last = unwrap<Function>(end);
  Resident resident(module, StringRef(names.data, names.length), {first->getFunctionType(), first}, {last->getFunctionType(), last});
  unsigned marked = 0;
  for (Function &function : module)
    if (&function != first && &function != last)
      marked += resident.mark(function);
  return marked;
}
