// Gathers and scatters for processors that have none, or slow ones.
#pragma once

#include "llvm/IR/PassManager.h"

#include <string>

namespace llvm {
class TargetMachine;
}

namespace regrain_bridge {

// ```
// %n = load <8 x i32>, ptr %p
// %i = sext <8 x i32> %n to <8 x i64>
// %a = getelementptr float, ptr %x, <8 x i64> %i
// %v = call <8 x float> @llvm.masked.gather(<8 x ptr> %a, all lanes, ...)
// ```
// becomes, lane by lane,
// ```
// %n3 = load i32, ptr getelementptr(i32, %p, 3) ; %i3 = sext i32 %n3 to i64 ; %a3 = getelementptr float, ptr %x, i64 %i3
// %v3 = load float, ptr %a3 ; insertelement
// ```
// where the processor would take a vector of addresses apart: an address that is made of scalars is part of an instruction. `slow` are
// features with which LLVM uses gathers that the processor has though they are slow: groups of lanes some of which take no part go by them.
// Of elements of less than a word, for which no processor has an instruction, the words around them are gathered then.
struct ScalariseGathers : llvm::PassInfoMixin<ScalariseGathers> {
  ScalariseGathers(llvm::TargetMachine *machine, std::string slow) : machine(machine), slow(std::move(slow)) {}
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);

private:
  llvm::TargetMachine *machine;
  std::string slow;
};

// Takes scatters that the processor lacks apart in functions with many of them, as LLVM does with few: a branch and a store for each lane.
struct ScalariseScatters : llvm::PassInfoMixin<ScalariseScatters> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace regrain_bridge
