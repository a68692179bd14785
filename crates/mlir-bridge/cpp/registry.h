//===- registry.h - the dialects that a context of ours knows -------------------===//

#ifndef REGRAIN_BRIDGE_REGISTRY_H
#define REGRAIN_BRIDGE_REGISTRY_H

#include "mlir/IR/DialectRegistry.h"

namespace regrain_bridge {

/// Inserts every dialect, extension and LLVM IR translation that we use, and those added with `regrainAddDialect`.
void fillRegistry(mlir::DialectRegistry &registry);
/// Inserts one dialect by its namespace; false if nobody knows it.
bool insertDialect(mlir::DialectRegistry &registry, llvm::StringRef name);

} // namespace regrain_bridge

#endif
