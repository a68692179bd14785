//===- Attributes.cpp - the dialect's discardable attributes ------------------===//
//
// One row for each attribute: what it may stand on, and what its value must be. An attribute `regrain.*` without a
// row is an error. The rows are described in regrain.td, and named in Rust in src/attributes.rs.
//
//===--------------------------------------------------------------------------===//

#include "Regrain.h"

#include "mlir/Dialect/LLVMIR/LLVMAttrs.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace regrain;

namespace {

/// Operations that an attribute may stand on, as a set.
enum On : unsigned {
  OnFunction = 1,
  OnGlobal = 2,
  OnWrapper = 4,
  /// An operation with one result.
  OnValue = 8,
  OnLoad = 16,
  OnAlloca = 32,
  OnAssembly = 64,
  /// An argument of a function.
  OnArgument = 128,
  OnIf = 256,
  OnFor = 512,
};

/// Values that an attribute may have.
enum class Holds {
  Nothing,
  Text,
  /// 32 hexadecimal digits.
  Hash,
  Symbol,
  /// The name of a symbol in another symbol table.
  NestedSymbol,
  Linkage,
  /// i64, at least 0.
  Count,
  /// i64, at least 1.
  Positive,
  /// i32, at least 1.
  Positive32,
  /// i64, 0, 1 or 2.
  Axis,
  /// array<i64: x, y, z>, at least 1 each.
  Triple,
  /// array<i64> of one to three numbers, at least 1 each.
  Sizes,
  /// array<i64> of numbers, at least 0 each.
  Counts,
  /// An array of arrays of three texts that are not empty.
  Texts,
};

struct Row {
  StringRef name;
  unsigned on;
  Holds holds;
  /// Another attribute that must stand beside it: one of these.
  StringRef beside[4] = {};
};

constexpr Row rows[] = {
    {"regrain.launch", OnFunction, Holds::Symbol},
    {"regrain.dispatch", OnFunction, Holds::Symbol},
    {"regrain.block_shape", OnFunction, Holds::Triple,
     {"regrain.launch", "regrain.dispatch", "regrain.version_of", "regrain.block_of"}},
    {"regrain.seldom", OnFunction, Holds::Nothing,
     {"regrain.launch", "regrain.dispatch", "regrain.version_of", "regrain.block_of"}},
    {"regrain.doubtful", OnFunction, Holds::Nothing,
     {"regrain.launch", "regrain.dispatch", "regrain.version_of", "regrain.block_of"}},
    {"regrain.sole", OnFunction, Holds::Nothing, {"regrain.block_shape"}},
    {"regrain.content", OnFunction, Holds::Hash, {"regrain.launch", "regrain.dispatch"}},
    {"regrain.space", OnFunction, Holds::Text},
    {"regrain.omitted", OnFunction, Holds::Texts, {"regrain.launch", "regrain.dispatch"}},
    {"regrain.block_of", OnFunction, Holds::Text},
    {"regrain.parameter_sizes", OnFunction, Holds::Counts, {"regrain.block_of"}},
    {"regrain.version_of", OnFunction, Holds::Symbol},
    {"regrain.rest", OnFunction | OnGlobal, Holds::Axis, {"regrain.version_of", "regrain.handle"}},
    {"regrain.static_shared", OnFunction, Holds::Count, {"regrain.version_of", "regrain.dispatch", "regrain.block_of"}},
    {"regrain.handle", OnGlobal, Holds::Symbol},
    {"regrain.host", OnFunction | OnGlobal, Holds::Nothing},
    {"regrain.not_raised", OnFunction, Holds::Text},
    {"regrain.linkage", OnFunction, Holds::Linkage},
    {"regrain.comdat", OnFunction, Holds::NestedSymbol},
    {"regrain.max_threads", OnFunction, Holds::Sizes},
    {"regrain.required_threads", OnFunction, Holds::Sizes},
    {"regrain.min_blocks", OnFunction, Holds::Positive},
    {"regrain.cluster_shape", OnFunction, Holds::Sizes},
    {"regrain.max_cluster", OnFunction, Holds::Positive},
    {"regrain.grain", OnFunction | OnWrapper, Holds::Triple},
    {"regrain.thread_grain", OnFunction | OnWrapper, Holds::Triple},
    {"regrain.tasks", OnWrapper, Holds::Positive32},
    {"regrain.epilogue", OnWrapper, Holds::Nothing},
    {"regrain.original", OnWrapper, Holds::Nothing},
    {"regrain.kept", OnWrapper, Holds::Nothing},
    {"regrain.optimised", OnWrapper, Holds::Nothing},
    {"regrain.not_split", OnWrapper, Holds::Text},
    {"regrain.kernel_arg", OnValue, Holds::Count},
    {"regrain.unchanging", OnLoad, Holds::Nothing},
    {"regrain.reused", OnAlloca, Holds::Nothing},
    {"regrain.interleaved", OnAlloca, Holds::Count},
    {"regrain.guarded", OnAlloca, Holds::Nothing},
    {"regrain.own", OnAlloca, Holds::Nothing},
    {"regrain.taken_by_row", OnFunction, Holds::Nothing},
    {"regrain.together", OnIf, Holds::Nothing},
    {"regrain.convex", OnIf, Holds::Nothing},
    {"regrain.rows", OnFor, Holds::Nothing},
    {"regrain.of_blocks", OnValue | OnIf, Holds::Positive},
    {"regrain.asm_attributes", OnAssembly, Holds::Text},
    {"regrain.grid_constant", OnArgument, Holds::Nothing},
};

/// Pairs that contradict each other.
constexpr StringRef contradictions[][2] = {
    {"regrain.launch", "regrain.dispatch"},
    {"regrain.launch", "regrain.version_of"},
    {"regrain.dispatch", "regrain.version_of"},
    {"regrain.original", "regrain.epilogue"},
    {"regrain.original", "regrain.grain"},
    {"regrain.original", "regrain.thread_grain"},
};

} // namespace

static const Row *find(StringRef name) {
  const Row *row = llvm::find_if(rows, [&](const Row &row) { return row.name == name; });
  return row == std::end(rows) ? nullptr : row;
}

static bool stands(Operation *op, unsigned on) {
  return (on & OnFunction && isa<LLVM::LLVMFuncOp>(op)) ||
         (on & OnGlobal && isa<LLVM::GlobalOp>(op)) || (on & OnWrapper && isa<GpuWrapperOp>(op)) ||
         (on & OnValue && op->getNumResults() == 1) ||
         (on & OnLoad && op->getName().getStringRef().ends_with(".load")) ||
         (on & OnAlloca && isa<LLVM::AllocaOp>(op)) ||
         (on & OnIf && isa<scf::IfOp>(op)) || (on & OnFor && isa<scf::ForOp>(op)) ||
         (on & OnAssembly && isa<LLVM::InlineAsmOp>(op));
}

/// What the attribute may stand on, for messages.
static StringRef describeOn(unsigned on) {
  switch (on) {
  case OnFunction:
    return "'llvm.func'";
  case OnGlobal:
    return "'llvm.mlir.global'";
  case OnFunction | OnGlobal:
    return "'llvm.func' or 'llvm.mlir.global'";
  case OnFunction | OnWrapper:
    return "'llvm.func' or 'regrain.gpu_wrapper'";
  case OnWrapper:
    return "'regrain.gpu_wrapper'";
  case OnValue:
    return "an operation with one result";
  case OnLoad:
    return "a load";
  case OnAlloca:
    return "'llvm.alloca'";
  case OnIf:
    return "'scf.if'";
  case OnFor:
    return "'scf.for'";
  case OnValue | OnIf:
    return "an operation with one result or 'scf.if'";
  case OnAssembly:
    return "'llvm.inline_asm'";
  default:
    return "an argument of a function";
  }
}

static bool isInteger(Attribute value, unsigned width, int64_t least, int64_t most) {
  auto number = dyn_cast<IntegerAttr>(value);
  return number && number.getType().isSignlessInteger(width) && number.getInt() >= least &&
         number.getInt() <= most;
}

static bool isSizes(Attribute value, size_t fewest) {
  auto list = dyn_cast<DenseI64ArrayAttr>(value);
  return list && list.size() >= static_cast<int64_t>(fewest) && list.size() <= 3 &&
         llvm::all_of(list.asArrayRef(), [](int64_t size) { return size >= 1; });
}

static bool isCounts(Attribute value) {
  auto list = dyn_cast<DenseI64ArrayAttr>(value);
  return list && llvm::all_of(list.asArrayRef(), [](int64_t count) { return count >= 0; });
}

static bool isTexts(Attribute value) {
  auto isText = [](Attribute item) {
    auto text = dyn_cast<StringAttr>(item);
    return text && !text.getValue().empty();
  };
  auto isRow = [&](Attribute item) {
    auto row = dyn_cast<ArrayAttr>(item);
    return row && row.size() == 3 && llvm::all_of(row, isText);
  };
  auto list = dyn_cast<ArrayAttr>(value);
  return list && llvm::all_of(list, isRow);
}

/// Whether the value is right; `expected` says what right is.
static bool holds(Attribute value, Holds what, StringRef &expected) {
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  auto text = dyn_cast<StringAttr>(value);
  switch (what) {
  case Holds::Nothing:
    expected = "no value";
    return isa<UnitAttr>(value);
  case Holds::Text:
    expected = "a text that is not empty";
    return text && !text.getValue().empty();
  case Holds::Hash:
    expected = "32 hexadecimal digits";
    return text && text.size() == 32 && llvm::all_of(text.getValue(), llvm::isHexDigit);
  case Holds::Symbol:
    expected = "the name of a symbol";
    return isa<FlatSymbolRefAttr>(value);
  case Holds::NestedSymbol:
    expected = "the name of a symbol";
    return isa<SymbolRefAttr>(value);
  case Holds::Linkage:
    expected = "a linkage";
    return isa<LLVM::LinkageAttr>(value);
  case Holds::Count:
    expected = "an i64 of at least 0";
    return isInteger(value, 64, 0, most);
  case Holds::Positive:
    expected = "an i64 of at least 1";
    return isInteger(value, 64, 1, most);
  case Holds::Positive32:
    expected = "an i32 of at least 1";
    return isInteger(value, 32, 1, most);
  case Holds::Axis:
    expected = "a dimension: an i64 from 0 to 2";
    return isInteger(value, 64, 0, 2);
  case Holds::Triple:
    expected = "an array of three i64 of at least 1";
    return isSizes(value, 3);
  case Holds::Sizes:
    expected = "an array of one to three i64 of at least 1";
    return isSizes(value, 1);
  case Holds::Counts:
    expected = "an array of i64 of at least 0";
    return isCounts(value);
  case Holds::Texts:
    expected = "an array of arrays of three texts";
    return isTexts(value);
  }
  return false;
}

static LogicalResult verifyValue(Operation *op, const Row &row, Attribute value) {
  StringRef expected;
  if (holds(value, row.holds, expected))
    return success();
  return op->emitOpError("attribute '") << row.name << "' is " << value << ", expected " << expected;
}

/// What must stand beside the attribute, and what must not.
static LogicalResult verifyContext(Operation *op, const Row &row) {
  if (!row.beside[0].empty() && llvm::none_of(row.beside, [&](StringRef other) {
        return !other.empty() && op->hasAttr(other);
      })) {
    InFlightDiagnostic diag = op->emitOpError("attribute '") << row.name << "' stands without ";
    llvm::interleave(
        llvm::make_filter_range(row.beside, [](StringRef other) { return !other.empty(); }),
        [&](StringRef other) { diag << "'" << other << "'"; }, [&] { diag << " or "; });
    return diag;
  }
  for (auto [one, other] : contradictions)
    if (row.name == one && op->hasAttr(other))
      return op->emitOpError("attribute '") << one << "' contradicts '" << other << "'";
  return success();
}

LogicalResult RegrainDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  const Row *row = find(attribute.getName().getValue());
  if (!row)
    return op->emitOpError("attribute '")
           << attribute.getName().getValue() << "' is not known to the regrain dialect";
  if (!stands(op, row->on))
    return op->emitOpError("attribute '")
           << row->name << "' stands on '" << op->getName() << "', expected " << describeOn(row->on);
  if (failed(verifyValue(op, *row, attribute.getValue())))
    return failure();
  return verifyContext(op, *row);
}

LogicalResult RegrainDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argument,
                                                       NamedAttribute attribute) {
  const Row *row = find(attribute.getName().getValue());
  if (!row)
    return op->emitOpError("attribute '") << attribute.getName().getValue() << "' of argument #"
                                          << argument << " is not known to the regrain dialect";
  if (!(row->on & OnArgument))
    return op->emitOpError("attribute '") << row->name << "' stands on argument #" << argument
                                          << ", expected " << describeOn(row->on);
  return verifyValue(op, *row, attribute.getValue());
}
