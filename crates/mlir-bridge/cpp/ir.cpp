//===- ir.cpp - what passes need of MLIR and its C API lacks ------------------===//

#include "bridge.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

//===--------------------------------------------------------------------------===//
// Cloning with a value mapping
//===--------------------------------------------------------------------------===//

static IRMapping &mappingOf(void *handle) { return *static_cast<IRMapping *>(handle); }

extern "C" void *regrainMappingCreate() { return new IRMapping; }
extern "C" void regrainMappingDestroy(void *mapping) { delete static_cast<IRMapping *>(mapping); }
extern "C" void *regrainMappingClone(void *mapping) { return new IRMapping(mappingOf(mapping)); }
extern "C" void regrainMappingMapValue(void *mapping, MlirValue from, MlirValue to) {
  mappingOf(mapping).map(unwrap(from), unwrap(to));
}
extern "C" void regrainMappingMapBlock(void *mapping, MlirBlock from, MlirBlock to) {
  mappingOf(mapping).map(unwrap(from), unwrap(to));
}
extern "C" MlirValue regrainMappingLookupValue(void *mapping, MlirValue from) {
  return wrap(mappingOf(mapping).lookupOrNull(unwrap(from)));
}
extern "C" MlirBlock regrainMappingLookupBlock(void *mapping, MlirBlock from) {
  return wrap(mappingOf(mapping).lookupOrNull(unwrap(from)));
}
extern "C" MlirOperation regrainMappingLookupOp(void *mapping, MlirOperation from) {
  return wrap(mappingOf(mapping).lookupOrNull(unwrap(from)));
}
extern "C" MlirOperation regrainCloneOp(MlirOperation op, void *mapping, bool regions) {
  IRMapping &map = mappingOf(mapping);
  return wrap(regions ? unwrap(op)->clone(map) : unwrap(op)->cloneWithoutRegions(map));
}
extern "C" void regrainCloneRegionInto(MlirRegion from, MlirRegion to, void *mapping) {
  unwrap(from)->cloneInto(unwrap(to), mappingOf(mapping));
}

//===--------------------------------------------------------------------------===//
// Moving
//===--------------------------------------------------------------------------===//

/// Moves the operations from `first` to the end of its block (or up to, without, `last`) into
/// `to`, before `before` or at the end.
extern "C" void regrainSpliceOps(MlirOperation first, MlirOperation last, MlirBlock to,
                                 MlirOperation before) {
  Block *from = unwrap(first)->getBlock();
  Block::iterator end = last.ptr ? Block::iterator(unwrap(last)) : from->end();
  Block::iterator where = before.ptr ? Block::iterator(unwrap(before)) : unwrap(to)->end();
  unwrap(to)->getOperations().splice(where, from->getOperations(), Block::iterator(unwrap(first)),
                                     end);
}
extern "C" MlirOperation regrainPrevOp(MlirOperation op) {
  return wrap(unwrap(op)->getPrevNode());
}
/// Moves all blocks of `from` to the end of `to`.
extern "C" void regrainMoveBlocks(MlirRegion from, MlirRegion to) {
  unwrap(to)->getBlocks().splice(unwrap(to)->end(), unwrap(from)->getBlocks());
}
/// Splits the block before `at`; the new block holds `at` and what follows.
extern "C" MlirBlock regrainSplitBlock(MlirOperation at) {
  return wrap(unwrap(at)->getBlock()->splitBlock(unwrap(at)));
}
extern "C" void regrainMoveBlockBefore(MlirBlock block, MlirBlock before) {
  unwrap(block)->moveBefore(unwrap(before));
}
extern "C" void regrainDropAllReferences(MlirOperation op) { unwrap(op)->dropAllReferences(); }
extern "C" void regrainInsertOperands(MlirOperation op, unsigned index, size_t n,
                                      const MlirValue *values) {
  SmallVector<Value> list;
  for (size_t i = 0; i < n; ++i)
    list.push_back(unwrap(values[i]));
  unwrap(op)->insertOperands(index, list);
}
extern "C" void regrainEraseOperands(MlirOperation op, unsigned index, unsigned length) {
  unwrap(op)->eraseOperands(index, length);
}

//===--------------------------------------------------------------------------===//
// Queries
//===--------------------------------------------------------------------------===//

enum Query : uint32_t {
  QueryTerminator = 0,
  QueryPure = 1,
  QueryMemoryEffectFree = 2,
  QuerySpeculatable = 3,
  QueryIsolatedFromAbove = 4,
  QuerySymbol = 5,
  QuerySymbolTable = 6,
  QueryTriviallyDead = 7,
  QueryRegistered = 8,
  QueryRecursiveEffects = 9,
};

extern "C" bool regrainQuery(MlirOperation handle, uint32_t query) {
  Operation *op = unwrap(handle);
  switch (query) {
  case QueryTerminator:
    return op->hasTrait<OpTrait::IsTerminator>();
  case QueryPure:
    return isPure(op);
  case QueryMemoryEffectFree:
    return isMemoryEffectFree(op);
  case QuerySpeculatable:
    return isSpeculatable(op);
  case QueryIsolatedFromAbove:
    return op->hasTrait<OpTrait::IsIsolatedFromAbove>();
  case QuerySymbol:
    return isa<SymbolOpInterface>(op);
  case QuerySymbolTable:
    return op->hasTrait<OpTrait::SymbolTable>();
  case QueryTriviallyDead:
    return isOpTriviallyDead(op);
  case QueryRegistered:
    return op->isRegistered();
  case QueryRecursiveEffects:
    return op->hasTrait<OpTrait::HasRecursiveMemoryEffects>();
  }
  return false;
}

/// One memory effect: kind 0 read, 1 write, 2 allocate, 3 free; value null if not on a value.
typedef void (*RegrainEffectSink)(uint32_t kind, MlirValue value, MlirStringRef resource,
                                  void *user);

/// Reports the effects of `op` and its regions; false if they are not known.
extern "C" bool regrainEffects(MlirOperation op, RegrainEffectSink sink, void *user) {
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects =
      getEffectsRecursively(unwrap(op));
  if (!effects)
    return false;
  for (const MemoryEffects::EffectInstance &effect : *effects) {
    uint32_t kind = isa<MemoryEffects::Read>(effect.getEffect())       ? 0
                    : isa<MemoryEffects::Write>(effect.getEffect())    ? 1
                    : isa<MemoryEffects::Allocate>(effect.getEffect()) ? 2
                                                                       : 3;
    sink(kind, wrap(effect.getValue()), wrap(effect.getResource()->getName()), user);
  }
  return true;
}

extern "C" void *regrainDominanceCreate(MlirOperation root) {
  return new DominanceInfo(unwrap(root));
}
extern "C" void regrainDominanceDestroy(void *info) { delete static_cast<DominanceInfo *>(info); }
extern "C" bool regrainValueDominates(void *info, MlirValue value, MlirOperation op) {
  return static_cast<DominanceInfo *>(info)->properlyDominates(unwrap(value), unwrap(op));
}
extern "C" bool regrainOpDominates(void *info, MlirOperation a, MlirOperation b) {
  return static_cast<DominanceInfo *>(info)->properlyDominates(unwrap(a), unwrap(b));
}

//===--------------------------------------------------------------------------===//
// Diagnostics, parsing
//===--------------------------------------------------------------------------===//

/// Emits a diagnostic at `loc`; severity 0 note, 1 warning, 2 error, 3 remark. Notes go with it.
extern "C" void regrainEmit(MlirLocation loc, uint32_t severity, MlirStringRef message,
                            size_t numNotes, const MlirLocation *noteLocs,
                            const MlirStringRef *notes) {
  Location where = unwrap(loc);
  DiagnosticSeverity kind = severity == 0   ? DiagnosticSeverity::Note
                            : severity == 1 ? DiagnosticSeverity::Warning
                            : severity == 2 ? DiagnosticSeverity::Error
                                            : DiagnosticSeverity::Remark;
  InFlightDiagnostic diag = where->getContext()->getDiagEngine().emit(where, kind);
  diag << unwrap(message);
  for (size_t i = 0; i < numNotes; ++i)
    diag.attachNote(unwrap(noteLocs[i])) << unwrap(notes[i]);
}

namespace {
struct Capture {
  std::string text;
  llvm::raw_string_ostream out;
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler;
  explicit Capture(MLIRContext *context) : out(text), handler(sources, context, out) {}
};
} // namespace

/// Starts to collect diagnostics of `context` as clang-style text.
extern "C" void *regrainCaptureBegin(MlirContext context) { return new Capture(unwrap(context)); }
extern "C" void regrainCaptureEnd(void *handle, RegrainSink sink, void *user) {
  auto *capture = static_cast<Capture *>(handle);
  capture->out.flush();
  sink(capture->text.data(), capture->text.size(), user);
  delete capture;
}

/// Parses a module; diagnostics show the source line. Null on failure. All diagnostics go to the
/// sink as text.
extern "C" MlirOperation regrainParseModule(MlirContext context, MlirStringRef source,
                                            MlirStringRef name, RegrainSink sink, void *user) {
  std::string text;
  llvm::raw_string_ostream out(text);
  Operation *result = nullptr;
  {
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(unwrap(source), unwrap(name)),
                               llvm::SMLoc());
    SourceMgrDiagnosticHandler handler(sources, unwrap(context), out);
    OwningOpRef<ModuleOp> module =
        parseSourceFile<ModuleOp>(sources, ParserConfig(unwrap(context)));
    if (module)
      result = module.release();
  }
  out.flush();
  sink(text.data(), text.size(), user);
  return wrap(result);
}

/// Parses operations (attributes and types may be used freely) and appends them to `block`.
extern "C" bool regrainParseInto(MlirContext context, MlirStringRef source, MlirBlock block) {
  return succeeded(
      parseSourceString(unwrap(source), unwrap(block), ParserConfig(unwrap(context))));
}

//===--------------------------------------------------------------------------===//
// Types
//===--------------------------------------------------------------------------===//

extern "C" bool regrainIsLLVMFunctionType(MlirType type) {
  return isa<LLVM::LLVMFunctionType>(unwrap(type));
}
extern "C" bool regrainIsVarArg(MlirType type) {
  auto function = dyn_cast<LLVM::LLVMFunctionType>(unwrap(type));
  return function && function.isVarArg();
}
/// Number of elements of an llvm array, or -1.
extern "C" int64_t regrainLLVMArrayLength(MlirType type) {
  auto array = dyn_cast<LLVM::LLVMArrayType>(unwrap(type));
  return array ? static_cast<int64_t>(array.getNumElements()) : -1;
}
/// Size (including tail padding) and ABI alignment in bytes by the data layout that holds at `op`.
extern "C" void regrainTypeLayout(MlirOperation op, MlirType type, uint64_t *size,
                                  uint64_t *alignment) {
  DataLayout layout = DataLayout::closest(unwrap(op));
  *size = layout.getTypeSize(unwrap(type)).getFixedValue();
  *alignment = layout.getTypeABIAlignment(unwrap(type));
}
extern "C" MlirOperation regrainRegionParent(MlirRegion region) {
  return wrap(unwrap(region)->getParentOp());
}
