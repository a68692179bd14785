// Vectors of which the first lanes are asked for.
#pragma once

#include "llvm/IR/PassManager.h"

namespace regrain_bridge {

// ```
// %m = shufflevector <32 x float> %s, poison, <16, 17, ..., 31, ...>
// %t = fadd <32 x float> %s, %m
// %v = extractelement <32 x float> %t, 0
// ```
// becomes, where nothing else is asked of `%t`,
// ```
// %l = shufflevector <32 x float> %s, poison, <0, 1, 2, 3> ; %m = shufflevector <32 x float> %s, poison, <16, 17, 18, 19>
// %t = fadd <4 x float> %l, %m
// %v = extractelement <4 x float> %t, 0
// ```
// so that a sum over lanes by halves takes half the vectors in each step. LLVM follows a vector that one operation uses; here each step uses the
// one before twice.
struct NarrowVectors : llvm::PassInfoMixin<NarrowVectors> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace regrain_bridge
