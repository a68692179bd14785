//===- debug_info.cpp - source lines ----------------------------------------------===//
//
// Of functions that were made of others (MLIR), and of code whose target has changed (LLVM IR).
//
// An operation's location names the subprogram that it was written in. In LLVM IR a function has
// one subprogram, no two functions have the same, and the export drops the lines of a function
// without any. So a function whose operations came out of another one gets a subprogram of its own:
//
//   llvm.func @"k$b2x1x1"() {                           llvm.func @"k$b2x1x1"() {
//     op loc(fused<#subprogram_of_k>["a.cu":5:12])  ->    op loc(fused<#own>["a.cu":5:12])
//   } loc("a.cu":2:0)                                   } loc(fused<#own>["a.cu":2:0])
//
// #own is as #subprogram_of_k, with the function's symbol as its linkage name.
//
//===--------------------------------------------------------------------------===//

#include "bridge.h"

#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm-c/Core.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using LLVM::DILocalScopeAttr;
using LLVM::DISubprogramAttr;

/// The subprogram that a location stands in after inlining; null if it names none.
static DISubprogramAttr subprogramOf(Location loc) {
  while (auto call = loc->findInstanceOf<CallSiteLoc>())
    loc = call.getCaller();
  auto fused = loc->findInstanceOf<FusedLocWith<DILocalScopeAttr>>();
  if (!fused)
    return {};
  DILocalScopeAttr scope = fused.getMetadata();
  while (scope) {
    if (auto subprogram = dyn_cast<DISubprogramAttr>(scope))
      return subprogram;
    if (auto block = dyn_cast<LLVM::DILexicalBlockAttr>(scope))
      scope = dyn_cast_or_null<DILocalScopeAttr>(block.getScope());
    else if (auto file = dyn_cast<LLVM::DILexicalBlockFileAttr>(scope))
      scope = dyn_cast_or_null<DILocalScopeAttr>(file.getScope());
    else
      break;
  }
  return {};
}

/// Gives a function that has none a subprogram after that of its operations. What comes from elsewhere
/// gets line 0, as compilers mark code of their own.
void regrainScopeDebugInfo(MlirOperation op) {
  auto function = dyn_cast<LLVM::LLVMFuncOp>(unwrap(op));
  if (!function || function.isExternal() || subprogramOf(function.getLoc()))
    return;
  DISubprogramAttr from;
  function.getBody().walk([&](Operation *inner) {
    from = subprogramOf(inner->getLoc());
    return from ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!from)
    return;
  MLIRContext *context = function.getContext();
  auto own = DISubprogramAttr::get(
      context, DistinctAttr::create(UnitAttr::get(context)), from.getCompileUnit(), from.getScope(),
      from.getName(), function.getSymNameAttr(), from.getFile(), from.getLine(), from.getScopeLine(),
      from.getSubprogramFlags(), from.getType(), /*retainedNodes=*/{}, /*annotations=*/{});
  auto scoped = [&](unsigned line) -> Location {
    StringRef file = from.getFile() ? from.getFile().getName().getValue() : StringRef();
    return FusedLoc::get(context, {FileLineColLoc::get(context, file, line, 0)}, own);
  };
  Location unknown = scoped(0);
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](DISubprogramAttr attr) -> std::optional<std::pair<Attribute, WalkResult>> {
    return std::make_pair(attr == from ? Attribute(own) : Attribute(attr), WalkResult::skip());
  });
  auto moved = [&](Location loc) -> Location {
    return subprogramOf(loc) == from ? Location(cast<LocationAttr>(replacer.replace(loc))) : unknown;
  };
  function.getBody().walk([&](Operation *inner) {
    inner->setLoc(moved(inner->getLoc()));
    replacer.replaceElementsIn(inner);
  });
  // Arguments of blocks become operations too.
  for (Block &block : function.getBody())
    for (BlockArgument argument : block.getArguments())
      argument.setLoc(moved(argument.getLoc()));
  function->setLoc(scoped(from.getLine()));
}

/// Leaves line tables of a module's debug information, in the form that a host's debugger reads: clang
/// makes directives alone for a GPU, in an old version of DWARF.
void regrainKeepLineTables(LLVMModuleRef ref) {
  llvm::Module &module = *llvm::unwrap(ref);
  llvm::stripNonLineTableDebugInfo(module);
  module.setModuleFlag(llvm::Module::Max, "Dwarf Version", 5);
}
