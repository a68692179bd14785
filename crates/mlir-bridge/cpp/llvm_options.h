//===- llvm_options.h - options of LLVM that only its command line has ----------===//

#ifndef REGRAIN_BRIDGE_LLVM_OPTIONS_H
#define REGRAIN_BRIDGE_LLVM_OPTIONS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"

namespace regrain_bridge {

/// Sets an option for the whole process, once. Ends the process if LLVM has it no more.
inline void setLLVMOption(llvm::StringRef name, llvm::StringRef value) {
  auto &options = llvm::cl::getRegisteredOptions();
  auto found = options.find(name);
  if (found == options.end() || found->second->addOccurrence(/*pos=*/1, name, value))
    llvm::report_fatal_error("LLVM lost its option " + name);
}

} // namespace regrain_bridge

#endif
