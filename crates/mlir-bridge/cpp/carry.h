//===- carry.h - facts of LLVM IR that MLIR's import and export drop -----------===//
//
// Used by llvm.cpp around the translations. What MLIR has no place for travels as discardable
// attributes:
//
//   llvm.inline_asm ... {regrain.asm_attributes = "convergent nounwind memory=0"}
//       the attributes of the call; without `convergent`, assembly may be moved into branches
//   llvm.func @k(%p: !llvm.ptr {llvm.byval = ..., regrain.grid_constant})
//       "nvvm.grid_constant" of a kernel's parameter
//
// Both follow their operation through clones and moves.
//
//===--------------------------------------------------------------------------===//

#ifndef REGRAIN_BRIDGE_CARRY_H
#define REGRAIN_BRIDGE_CARRY_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"

#include <string>
#include <vector>

namespace regrain_bridge {

/// Reads the facts of a module before import (and marks its assembly strings), and puts them on the
/// MLIR module after it.
class ImportCarry {
public:
  explicit ImportCarry(llvm::Module &source);
  void finish(mlir::ModuleOp module);

private:
  std::vector<std::string> asmAttributes;
  std::vector<std::string> externallyInitialized;
  std::vector<std::pair<std::string, unsigned>> gridConstants;
};

/// The way back. Marks the assembly strings of the MLIR module; `finish` sets the LLVM attributes
/// and removes the marks from both modules.
class ExportCarry {
public:
  explicit ExportCarry(mlir::Operation *root);
  ~ExportCarry();
  void finish(llvm::Module &module);

private:
  mlir::Operation *root;
  std::vector<std::pair<mlir::LLVM::InlineAsmOp, std::string>> originals;
};

} // namespace regrain_bridge

#endif
