//===- bridge.h - C entry points behind the mlir-bridge crate -----------------===//
//
// Every function here is called from Rust (src/ffi.rs mirrors the declarations).
// Handles are those of MLIR's C API; strings are (pointer, length) pairs.
//
//===--------------------------------------------------------------------------===//

#ifndef REGRAIN_BRIDGE_H
#define REGRAIN_BRIDGE_H

#include "mlir-c/IR.h"
#include "mlir/IR/DialectRegistry.h"

#include <cstdint>

/// Appends text to a string owned by the caller.
typedef void (*RegrainSink)(const char *data, size_t size, void *user);

namespace regrain_bridge {
/// Inserts every dialect, extension and LLVM IR translation that we use, and those added with
/// `regrainBridgeAddDialect`.
void fillRegistry(mlir::DialectRegistry &registry);
/// Inserts one dialect by its namespace; false if nobody knows it.
bool insertDialect(mlir::DialectRegistry &registry, llvm::StringRef name);
} // namespace regrain_bridge

#endif
