//===- single_thread_atomics.cpp - atomics that one thread alone can see ------===//

#include "bridge.h"

#include "llvm-c/Core.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/LowerAtomic.h"

using namespace llvm;

void regrainLowerSingleThreadAtomics(LLVMModuleRef module) {
  for (Function &function : *unwrap(module)) {
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      if (auto *update = dyn_cast<AtomicRMWInst>(&instruction)) {
        if (update->getSyncScopeID() == SyncScope::SingleThread)
          lowerAtomicRMWInst(update);
      } else if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
        if (exchange->getSyncScopeID() == SyncScope::SingleThread)
          lowerAtomicCmpXchgInst(exchange);
      }
    }
  }
}
