//===- debug_info.cpp - source lines ----------------------------------------------===//
//
// Of functions that were made of others (MLIR), and of code whose target has changed (LLVM IR): there also variables.
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
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/IRBuilder.h"
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

/// Where a variable is, without the address space that NVPTX says there and a host has not.
static llvm::DIExpression *withoutSpace(llvm::DIExpression *where) {
  llvm::ArrayRef<uint64_t> all = where->getElements();
  bool says = all.size() >= 4 && all[0] == llvm::dwarf::DW_OP_constu && all[2] == llvm::dwarf::DW_OP_swap &&
              all[3] == llvm::dwarf::DW_OP_xderef;
  return says ? llvm::DIExpression::get(where->getContext(), all.drop_front(4)) : where;
}

/// Gives a variable what is said of the one that it takes the place of.
void regrainCopyVariableInfo(LLVMValueRef to, LLVMValueRef from) {
  llvm::SmallVector<llvm::DIGlobalVariableExpression *, 1> all;
  llvm::cast<llvm::GlobalVariable>(llvm::unwrap(from))->getDebugInfo(all);
  for (llvm::DIGlobalVariableExpression *info : all)
    llvm::cast<llvm::GlobalVariable>(llvm::unwrap(to))->addDebugInfo(info);
}

/// CUDA's variables of a thread, and where the state of the running one has them (`regrain_tls.h`).
static constexpr std::pair<const char *, uint64_t> ofThread[] = {
    {"threadIdx", 0}, {"blockDim", 12}, {"blockIdx", 24}, {"gridDim", 36}};

/// `struct uint3`.
static llvm::DICompositeType *threeNumbers(llvm::DIBuilder &builder, llvm::DIFile *file) {
  llvm::DIType *number = builder.createBasicType("unsigned int", 32, llvm::dwarf::DW_ATE_unsigned);
  llvm::SmallVector<llvm::Metadata *, 3> members;
  for (const char *name : {"x", "y", "z"})
    members.push_back(builder.createMemberType(file, name, file, 0, 32, 32, members.size() * 32,
                                               llvm::DINode::FlagZero, number));
  return builder.createStructType(file, "uint3", file, 0, 96, 32, llvm::DINode::FlagZero, nullptr,
                                  builder.getOrCreateArray(members));
}

/// Gives a function CUDA's variables of a thread as variables of its own: the frame has the address of the state.
static void addThreadVariables(llvm::Function &function, llvm::GlobalVariable *state) {
  llvm::DISubprogram *scope = function.getSubprogram();
  llvm::DIBuilder info(*function.getParent(), /*AllowUnresolved=*/false, scope->getUnit());
  llvm::IRBuilder<> b(&*function.getEntryBlock().getFirstInsertionPt());
  b.SetCurrentDebugLocation(llvm::DebugLoc());
  llvm::AllocaInst *slot = b.CreateAlloca(b.getPtrTy());
  llvm::Instruction *stored = b.CreateStore(b.CreateThreadLocalAddress(state), slot);
  llvm::DIType *type = threeNumbers(info, scope->getFile());
  auto *where = llvm::DILocation::get(function.getContext(), scope->getLine(), 0, scope);
  for (auto [name, offset] : ofThread) {
    auto *variable = info.createAutoVariable(scope, name, scope->getFile(), scope->getLine(), type);
    auto *place = info.createExpression({llvm::dwarf::DW_OP_deref, llvm::dwarf::DW_OP_plus_uconst, offset});
    info.insertDeclare(slot, variable, place, where, std::next(stored->getIterator()));
  }
}

/// Leaves all of a module's debug information, in the form that a host's debugger reads, where code is not optimised;
/// with variables for what CUDA reads from registers.
void regrainKeepVariables(LLVMModuleRef ref) {
  llvm::Module &module = *llvm::unwrap(ref);
  module.setModuleFlag(llvm::Module::Max, "Dwarf Version", 5);
  for (llvm::GlobalVariable &global : module.globals()) {
    llvm::SmallVector<llvm::DIGlobalVariableExpression *, 1> all;
    global.getDebugInfo(all);
    global.eraseMetadata(llvm::LLVMContext::MD_dbg);
    for (llvm::DIGlobalVariableExpression *info : all)
      global.addDebugInfo(llvm::DIGlobalVariableExpression::get(
          module.getContext(), info->getVariable(), withoutSpace(info->getExpression())));
  }
  // Code that is loaded asks for the address of the state instead (`loaded.cpp`), where it uses it.
  if (module.getNamedValue("__regrain_module"))
    return;
  auto *words = llvm::ArrayType::get(llvm::Type::getInt64Ty(module.getContext()), 13);
  llvm::GlobalVariable *state = module.getGlobalVariable("__regrain_tls", /*AllowInternal=*/true);
  if (!state)
    state = new llvm::GlobalVariable(module, words, false, llvm::GlobalValue::ExternalLinkage, nullptr, "__regrain_tls",
                                     nullptr, llvm::GlobalValue::GeneralDynamicTLSModel);
  for (llvm::Function &function : module) {
    llvm::DISubprogram *scope = function.getSubprogram();
    if (!function.isDeclaration() && scope && scope->getUnit()->getEmissionKind() == llvm::DICompileUnit::FullDebug)
      addThreadVariables(function, state);
  }
}
