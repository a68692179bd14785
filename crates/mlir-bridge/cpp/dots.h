// Dot products of the bytes of words.
#pragma once

#include "llvm/IR/PassManager.h"

namespace llvm {
class TargetMachine;
}

namespace regrain_bridge {

// What a device's dot product of four bytes (`dp4a`) is by lanes,
// ```
// %x0 = shl <16 x i32> %a, splat (i32 24) ; %a0 = ashr <16 x i32> %x0, splat (i32 24) ; ... ; %m0 = mul <16 x i32> %a0, %b0
// %s0 = add <16 x i32> %c, %m0 ; ... ; %s3 = add <16 x i32> %s2, %m3
// ```
// becomes the instructions that x86 has for it: LLVM finds none of them, and has some thirty operations to go over instead of a few.
// Bytes of either sign are taken as what the instructions want, with a correction that is a dot product too; a sum is of 32 bits and wraps
// around as before.
//
// Declined: processors other than x86, single numbers, and fewer than four lanes.
class DotProducts : public llvm::PassInfoMixin<DotProducts> {
public:
  explicit DotProducts(const llvm::TargetMachine *machine) : machine(machine) {}
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);

private:
  const llvm::TargetMachine *machine;
};

} // namespace regrain_bridge
