//===- timing.h - where time goes: sections of names with seconds ----------------===//
//
// Off until asked for (`regrainTimingStart`); then what is measured inside of something else of the same section counts for
// the inner alone.
//
//===-----------------------------------------------------------------------------===//

#ifndef REGRAIN_BRIDGE_TIMING_H
#define REGRAIN_BRIDGE_TIMING_H

#include "llvm/ADT/StringRef.h"

namespace llvm {
class PassInstrumentationCallbacks;
}
namespace mlir {
class PassManager;
}

namespace regrain_bridge {

bool isTimed();
void enter(llvm::StringRef section);
void leave(llvm::StringRef section, llvm::StringRef name);

/// Measures LLVM's passes, by pass and by function.
void timePasses(llvm::PassInstrumentationCallbacks &callbacks);
/// Measures MLIR's passes and ours.
void timePasses(mlir::PassManager &manager);

} // namespace regrain_bridge

#endif
