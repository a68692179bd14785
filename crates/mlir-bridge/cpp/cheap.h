// What is compiled cheaply: functions that are seldom run, if ever.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IR/PassManager.h"

namespace regrain_bridge {

// The attribute of functions that are compiled cheaply.
inline constexpr llvm::StringLiteral CHEAP = "regrain-cheap";

// Functions with the attribute "regrain-cheap" are simplified, and from then on compiled as fast as can be. Those where it says "small" may
// run all the same: they are optimised, for size, and loops stay loops, whatever the program asks for.
struct CompileCheaply : llvm::PassInfoMixin<CompileCheaply> {
  llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &analyses);
  static bool isRequired() { return true; }
};

// Keeps functions that are "small" from passes that take long and make them hardly faster: the code of rows is straight and packed into
// vectors already. That is a quarter of a compilation of many such functions, and a tenth of their speed.
class SpareWhatIsDoubtful {
public:
  void registerCallbacks(llvm::PassInstrumentationCallbacks &callbacks);

private:
  bool mayRun(llvm::StringRef pass, const llvm::Any &ir);

  // How often InstCombine has gone over a function.
  llvm::DenseMap<const llvm::Function *, unsigned> combined;
};

} // namespace regrain_bridge
