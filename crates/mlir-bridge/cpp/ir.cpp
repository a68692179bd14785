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

DEFINE_SIMPLE_CONVERSION_FUNCTIONS(IRMapping, RegrainMapping *)
static const IRMapping *unwrap(const RegrainMapping *mapping) { return unwrap(const_cast<RegrainMapping *>(mapping)); }

RegrainMapping *regrainMappingCreate() { return wrap(new IRMapping); }
void regrainMappingDestroy(RegrainMapping *mapping) { delete unwrap(mapping); }
RegrainMapping *regrainMappingClone(const RegrainMapping *mapping) { return wrap(new IRMapping(*unwrap(mapping))); }
void regrainMappingMapValue(RegrainMapping *mapping, MlirValue from, MlirValue to) {
  unwrap(mapping)->map(unwrap(from), unwrap(to));
}
void regrainMappingMapBlock(RegrainMapping *mapping, MlirBlock from, MlirBlock to) {
  unwrap(mapping)->map(unwrap(from), unwrap(to));
}
MlirValue regrainMappingLookupValue(const RegrainMapping *mapping, MlirValue from) {
  return wrap(unwrap(mapping)->lookupOrNull(unwrap(from)));
}
MlirBlock regrainMappingLookupBlock(const RegrainMapping *mapping, MlirBlock from) {
  return wrap(unwrap(mapping)->lookupOrNull(unwrap(from)));
}
MlirOperation regrainMappingLookupOp(const RegrainMapping *mapping, MlirOperation from) {
  return wrap(unwrap(mapping)->lookupOrNull(unwrap(from)));
}
MlirOperation regrainCloneOp(MlirOperation op, RegrainMapping *mapping, bool regions) {
  IRMapping &map = *unwrap(mapping);
  return wrap(regions ? unwrap(op)->clone(map) : unwrap(op)->cloneWithoutRegions(map));
}
void regrainCloneRegionInto(MlirRegion from, MlirRegion to, RegrainMapping *mapping) {
  unwrap(from)->cloneInto(unwrap(to), *unwrap(mapping));
}

//===--------------------------------------------------------------------------===//
// Moving
//===--------------------------------------------------------------------------===//

void regrainSpliceOps(MlirOperation first, MlirOperation last, MlirBlock to, MlirOperation before) {
  Block *from = unwrap(first)->getBlock();
  Block::iterator end = last.ptr ? Block::iterator(unwrap(last)) : from->end();
  Block::iterator where = before.ptr ? Block::iterator(unwrap(before)) : unwrap(to)->end();
  unwrap(to)->getOperations().splice(where, from->getOperations(), Block::iterator(unwrap(first)),
                                     end);
}
MlirOperation regrainPrevOp(MlirOperation op) {
  return wrap(unwrap(op)->getPrevNode());
}
void regrainMoveBlocks(MlirRegion from, MlirRegion to) {
  unwrap(to)->getBlocks().splice(unwrap(to)->end(), unwrap(from)->getBlocks());
}
MlirBlock regrainSplitBlock(MlirOperation at) {
  return wrap(unwrap(at)->getBlock()->splitBlock(unwrap(at)));
}
void regrainMoveBlockBefore(MlirBlock block, MlirBlock before) {
  unwrap(block)->moveBefore(unwrap(before));
}
void regrainDropAllReferences(MlirOperation op) { unwrap(op)->dropAllReferences(); }
void regrainInsertOperands(MlirOperation op, uint32_t index, size_t n, const MlirValue *values) {
  SmallVector<Value> list;
  for (size_t i = 0; i < n; ++i)
    list.push_back(unwrap(values[i]));
  unwrap(op)->insertOperands(index, list);
}
void regrainEraseOperands(MlirOperation op, uint32_t index, uint32_t length) {
  unwrap(op)->eraseOperands(index, length);
}

//===--------------------------------------------------------------------------===//
// Queries
//===--------------------------------------------------------------------------===//

bool regrainQuery(MlirOperation handle, RegrainQuery query) {
  Operation *op = unwrap(handle);
  switch (query) {
  case RegrainQueryTerminator:
    return op->hasTrait<OpTrait::IsTerminator>();
  case RegrainQueryPure:
    return isPure(op);
  case RegrainQueryMemoryEffectFree:
    return isMemoryEffectFree(op);
  case RegrainQuerySpeculatable:
    return isSpeculatable(op);
  case RegrainQueryIsolatedFromAbove:
    return op->hasTrait<OpTrait::IsIsolatedFromAbove>();
  case RegrainQuerySymbol:
    return isa<SymbolOpInterface>(op);
  case RegrainQuerySymbolTable:
    return op->hasTrait<OpTrait::SymbolTable>();
  case RegrainQueryTriviallyDead:
    return isOpTriviallyDead(op);
  case RegrainQueryRegistered:
    return op->isRegistered();
  case RegrainQueryRecursiveEffects:
    return op->hasTrait<OpTrait::HasRecursiveMemoryEffects>();
  }
  return false;
}

bool regrainEffects(MlirOperation op, RegrainEffectSink sink, void *user) {
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects =
      getEffectsRecursively(unwrap(op));
  if (!effects)
    return false;
  for (const MemoryEffects::EffectInstance &effect : *effects) {
    RegrainEffect kind = isa<MemoryEffects::Read>(effect.getEffect())       ? RegrainEffectRead
                         : isa<MemoryEffects::Write>(effect.getEffect())    ? RegrainEffectWrite
                         : isa<MemoryEffects::Allocate>(effect.getEffect()) ? RegrainEffectAllocate
                                                                            : RegrainEffectFree;
    sink(kind, wrap(effect.getValue()), wrap(effect.getResource()->getName()), user);
  }
  return true;
}

DEFINE_SIMPLE_CONVERSION_FUNCTIONS(DominanceInfo, RegrainDominance *)
static const DominanceInfo *unwrap(const RegrainDominance *info) { return unwrap(const_cast<RegrainDominance *>(info)); }

RegrainDominance *regrainDominanceCreate(MlirOperation root) { return wrap(new DominanceInfo(unwrap(root))); }
void regrainDominanceDestroy(RegrainDominance *info) { delete unwrap(info); }
bool regrainValueDominates(const RegrainDominance *info, MlirValue value, MlirOperation op) {
  return unwrap(info)->properlyDominates(unwrap(value), unwrap(op));
}
bool regrainOpDominates(const RegrainDominance *info, MlirOperation a, MlirOperation b) {
  return unwrap(info)->properlyDominates(unwrap(a), unwrap(b));
}

//===--------------------------------------------------------------------------===//
// Diagnostics, parsing
//===--------------------------------------------------------------------------===//

static DiagnosticSeverity severityOf(RegrainSeverity severity) {
  switch (severity) {
  case RegrainSeverityNote:
    return DiagnosticSeverity::Note;
  case RegrainSeverityWarning:
    return DiagnosticSeverity::Warning;
  case RegrainSeverityError:
    return DiagnosticSeverity::Error;
  case RegrainSeverityRemark:
    return DiagnosticSeverity::Remark;
  }
  llvm_unreachable("not a severity");
}

void regrainEmit(MlirLocation location, RegrainSeverity severity, MlirStringRef message, size_t numNotes,
                 const MlirLocation *noteLocations, const MlirStringRef *notes) {
  Location where = unwrap(location);
  InFlightDiagnostic diag = where->getContext()->getDiagEngine().emit(where, severityOf(severity));
  diag << unwrap(message);
  for (size_t i = 0; i < numNotes; ++i)
    diag.attachNote(unwrap(noteLocations[i])) << unwrap(notes[i]);
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

DEFINE_SIMPLE_CONVERSION_FUNCTIONS(Capture, RegrainCapture *)

RegrainCapture *regrainCaptureBegin(MlirContext context) { return wrap(new Capture(unwrap(context))); }
void regrainCaptureEnd(RegrainCapture *handle, RegrainSink sink, void *user) {
  std::unique_ptr<Capture> capture(unwrap(handle));
  capture->out.flush();
  sink(capture->text.data(), capture->text.size(), user);
}

MlirOperation regrainParseModule(MlirContext context, MlirStringRef source, MlirStringRef name, RegrainSink sink,
                                 void *user) {
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

//===--------------------------------------------------------------------------===//
// Types
//===--------------------------------------------------------------------------===//

bool regrainIsLLVMFunctionType(MlirType type) {
  return isa<LLVM::LLVMFunctionType>(unwrap(type));
}
bool regrainIsVarArg(MlirType type) {
  auto function = dyn_cast<LLVM::LLVMFunctionType>(unwrap(type));
  return function && function.isVarArg();
}
int64_t regrainLLVMArrayLength(MlirType type) {
  auto array = dyn_cast<LLVM::LLVMArrayType>(unwrap(type));
  return array ? static_cast<int64_t>(array.getNumElements()) : -1;
}
void regrainTypeLayout(MlirOperation op, MlirType type, uint64_t *size, uint64_t *alignment) {
  DataLayout layout = DataLayout::closest(unwrap(op));
  *size = layout.getTypeSize(unwrap(type)).getFixedValue();
  *alignment = layout.getTypeABIAlignment(unwrap(type));
}
MlirOperation regrainRegionParent(MlirRegion region) {
  return wrap(unwrap(region)->getParentOp());
}
