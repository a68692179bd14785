// Stores past the caches.
#pragma once

#include "llvm/IR/PassManager.h"

namespace regrain_bridge {

// In a function with the attribute "regrain-streams"="<bytes of each thread>",
// ```
// store <16 x float> %v, ptr %p, align 4, !nontemporal !0
// ```
// becomes
// ```
// if (bytes >= __regrain_tls.streams && %p is a multiple of 64) store <16 x float> %v, ptr %p, align 64, !nontemporal !0
// else store <16 x float> %v, ptr %p, align 4
// ```
// The runtime says of each launch from how many bytes of a thread on all of them are more than the caches hold. Last of all passes: LLVM
// makes one store of both. x86 orders such stores by fences alone, so what others may wait for gets one before.
struct StreamStores : llvm::PassInfoMixin<StreamStores> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace regrain_bridge
