//===- Regrain.h - the C++ classes of the dialect -----------------------------===//

#ifndef REGRAIN_H
#define REGRAIN_H

#include "mlir-c/IR.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "RegrainDialect.h.inc"
#include "RegrainEnums.h.inc"

#define GET_OP_CLASSES
#include "RegrainOps.h.inc"

extern "C" {
// src/lib.rs
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Regrain, regrain);
}

#endif
