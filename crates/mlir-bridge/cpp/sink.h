//===- sink.h - what a function of bridge.h gives to its sink -------------------===//

#ifndef REGRAIN_BRIDGE_SINK_H
#define REGRAIN_BRIDGE_SINK_H

#include "bridge.h"
#include "llvm/ADT/StringRef.h"

namespace regrain_bridge {

/// Gives the reason of a failure; false.
inline bool fail(llvm::StringRef reason, RegrainSink sink, void *user) {
  sink(reason.data(), reason.size(), user);
  return false;
}

/// Gives what was made; true.
inline bool succeed(llvm::StringRef made, RegrainSink sink, void *user) {
  sink(made.data(), made.size(), user);
  return true;
}

} // namespace regrain_bridge

#endif
