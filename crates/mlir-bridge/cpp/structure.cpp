//===- structure.cpp - what operations are, as bytes ---------------------------===//
//
// Two operations give the same bytes if they do the same by their structure, in whatever process and context. Covered:
// the names of operations, operands and blocks by number, types, attributes (inherent ones too), successors, regions,
// and the functions and globals that are reached by name. Not covered: locations and debug information, what names the
// chip, comdats, the attributes that the caller leaves out, and names that nobody outside sees: those of the roots, and
// of internal and private symbols, which are numbered. Other symbols count by name.
//
// Attributes and types of the builtin dialect, loop annotations and other attributes that the llvm dialect can write as
// bytecode are written by the dialect's own bytecode interface, of version 6, into a writer of ours. What the llvm
// dialect cannot write so is opened here, as are the flags of arith. An attribute or type that nobody opens is written
// as it prints; of those that reach us in device code, only enumerations of dialects such as nvvm.
//
//===--------------------------------------------------------------------------===//

#include "bridge.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMAttrs.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace {

/// What stands before each item, so that no two sequences of items give the same bytes.
enum Tag : uint64_t { None, Bytecode, Opened, Printed, Known, New, Root, Local, Named, Nested, Distinct };

class Structure : public DialectBytecodeWriter {
public:
  Structure(Operation *module, ArrayRef<StringRef> leftOut) {
    for (Operation &op : module->getRegion(0).front())
      if (auto name = op.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()))
        symbols[name.getValue()] = &op;
    for (StringRef name : {"sym_name", "comdat", "target_cpu", "target_features", "tune_cpu", "dbg_exprs"})
      this->leftOut.insert(name);
    for (StringRef name : leftOut)
      this->leftOut.insert(name);
  }

  std::string write(ArrayRef<Operation *> roots) {
    for (Operation *root : roots)
      rootNumbers[root] = rootNumbers.size();
    for (Operation *root : roots)
      operation(root);
    for (size_t next = 0; next < reached.size(); ++next)
      operation(reached[next]);
    return std::move(out);
  }

  //===--------------------------------------------------------------------===//
  // What a bytecode interface calls
  //===--------------------------------------------------------------------===//

  void writeAttribute(Attribute attribute) override {
    // Locations say nothing of what is done.
    if (!attribute || isa<LocationAttr>(attribute))
      return writeVarInt(None);
    interned(attribute.getAsOpaquePointer(), [&] { open(attribute); });
  }
  void writeOptionalAttribute(Attribute attribute) override { writeAttribute(attribute); }
  void writeType(Type type) override {
    if (!type)
      return writeVarInt(None);
    interned(type.getAsOpaquePointer(), [&] { open(type); });
  }
  void writeResourceHandle(const AsmDialectResourceHandle &resource) override {
    auto *dialect = dyn_cast<OpAsmDialectInterface>(resource.getDialect());
    writeOwnedString(dialect ? dialect->getResourceKey(resource) : std::string());
  }
  void writeVarInt(uint64_t value) override {
    do {
      out.push_back(static_cast<char>((value & 127) | (value > 127 ? 128 : 0)));
      value >>= 7;
    } while (value);
  }
  void writeSignedVarInt(int64_t value) override {
    writeVarInt((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
  }
  void writeAPIntWithKnownWidth(const APInt &value) override {
    writeVarInt(value.getBitWidth());
    for (unsigned word = 0; word < value.getNumWords(); ++word)
      writeVarInt(value.getRawData()[word]);
  }
  void writeAPFloatWithKnownSemantics(const APFloat &value) override {
    writeAPIntWithKnownWidth(value.bitcastToAPInt());
  }
  void writeOwnedString(StringRef text) override {
    writeVarInt(text.size());
    out.append(text.data(), text.size());
  }
  void writeOwnedBlob(ArrayRef<char> blob) override {
    writeOwnedString(StringRef(blob.data(), blob.size()));
  }
  void writeOwnedBool(bool value) override { writeVarInt(value); }
  int64_t getBytecodeVersion() const override { return 6; }
  FailureOr<const DialectVersion *> getDialectVersion(StringRef) const override { return failure(); }

private:
  //===--------------------------------------------------------------------===//
  // Operations
  //===--------------------------------------------------------------------===//

  static bool isDebug(Operation &op) {
    return op.getName().getStringRef().starts_with("llvm.intr.dbg.");
  }

  void operation(Operation *op) {
    writeOwnedString(op->getName().getStringRef());
    writeVarInt(op->getNumOperands());
    for (Value operand : op->getOperands())
      writeVarInt(number(values, operand));
    writeVarInt(op->getNumResults());
    for (Type type : op->getResultTypes())
      writeType(type);
    attributes(op);
    writeVarInt(op->getNumSuccessors());
    for (Block *successor : op->getSuccessors())
      writeVarInt(number(blocks, successor));
    writeVarInt(op->getNumRegions());
    for (Region &region : op->getRegions())
      this->region(region);
  }

  void region(Region &region) {
    // Blocks and values may be named before they are reached.
    writeVarInt(region.getBlocks().size());
    for (Block &block : region) {
      number(blocks, &block);
      writeVarInt(block.getNumArguments());
      for (BlockArgument argument : block.getArguments()) {
        number(values, Value(argument));
        writeType(argument.getType());
      }
      for (Operation &op : block)
        if (!isDebug(op))
          for (OpResult result : op.getResults())
            number(values, Value(result));
    }
    for (Block &block : region) {
      for (Operation &op : block)
        if (!isDebug(op))
          operation(&op);
      // No operation has an empty name.
      writeVarInt(0);
    }
  }

  void attributes(Operation *op) {
    // Properties hold more than the inherent attributes do: overflow flags, for one.
    SmallVector<NamedAttribute> all(op->getDiscardableAttrs());
    Attribute properties = op->getPropertiesAsAttribute();
    if (auto dictionary = dyn_cast_or_null<DictionaryAttr>(properties))
      llvm::append_range(all, dictionary);
    else if (properties)
      all.emplace_back(StringAttr::get(op->getContext(), "properties"), properties);
    SmallVector<NamedAttribute> counted;
    for (NamedAttribute named : all) {
      if (leftOut.contains(named.getName().getValue()))
        continue;
      if (named.getName() == "passthrough")
        named.setValue(withoutChip(named.getValue()));
      if (named.getValue())
        counted.push_back(named);
    }
    writeVarInt(counted.size());
    for (NamedAttribute named : counted) {
      writeOwnedString(named.getName().getValue());
      writeAttribute(named.getValue());
    }
  }

  /// Attributes of LLVM functions that MLIR does not model, without those that name the chip; null if none is left.
  static Attribute withoutChip(Attribute list) {
    auto items = dyn_cast<ArrayAttr>(list);
    if (!items)
      return list;
    SmallVector<Attribute> kept;
    for (Attribute item : items) {
      auto pair = dyn_cast<ArrayAttr>(item);
      auto key = dyn_cast<StringAttr>(pair && !pair.empty() ? pair[0] : item);
      if (!key || !llvm::is_contained({"target-cpu", "target-features", "tune-cpu"}, key.getValue()))
        kept.push_back(item);
    }
    return kept.empty() ? Attribute() : ArrayAttr::get(list.getContext(), kept);
  }

  template <typename Key> static unsigned number(llvm::DenseMap<Key, unsigned> &numbers, Key key) {
    return numbers.try_emplace(key, numbers.size()).first->second;
  }

  //===--------------------------------------------------------------------===//
  // Attributes and types
  //===--------------------------------------------------------------------===//

  /// Writes an item once, and its number from then on. Items are the same if their bytes are, as those that differ in
  /// locations.
  template <typename Write> void interned(const void *pointer, Write write) {
    auto [known, isNew] = pointers.try_emplace(pointer, 0);
    if (isNew) {
      std::string outer = std::move(out);
      out.clear();
      write();
      std::string bytes = std::move(out);
      out = std::move(outer);
      auto [entry, first] = items.try_emplace(bytes, items.size());
      pointers[pointer] = entry->second;
      if (first) {
        writeVarInt(New);
        return writeOwnedString(bytes);
      }
    }
    writeVarInt(Known);
    writeVarInt(pointers[pointer]);
  }

  void symbol(SymbolRefAttr reference) {
    auto found = symbols.find(reference.getRootReference().getValue());
    Operation *op = found == symbols.end() ? nullptr : found->second;
    if (!reference.getNestedReferences().empty() || !op) {
      writeVarInt(op ? Nested : Named);
      writeOwnedString(reference.getRootReference().getValue());
      writeOwnedString(reference.getLeafReference().getValue());
      return;
    }
    if (auto root = rootNumbers.find(op); root != rootNumbers.end()) {
      writeVarInt(Root);
      return writeVarInt(root->second);
    }
    auto [place, isNew] = reachedNumbers.try_emplace(op, reached.size());
    if (isNew)
      reached.push_back(op);
    auto linkage = op->getAttrOfType<LLVM::LinkageAttr>("linkage");
    bool isLocal = linkage && (linkage.getLinkage() == LLVM::Linkage::Internal ||
                               linkage.getLinkage() == LLVM::Linkage::Private);
    writeVarInt(isLocal ? Local : Named);
    if (!isLocal)
      writeOwnedString(reference.getRootReference().getValue());
    writeVarInt(place->second);
  }

  template <typename T> void open(T item) {
    if constexpr (std::is_same_v<T, Attribute>) {
      if (auto reference = dyn_cast<SymbolRefAttr>(item))
        return symbol(reference);
      if (auto distinct = dyn_cast<DistinctAttr>(item)) {
        writeVarInt(Distinct);
        writeVarInt(number(distincts, item.getAsOpaquePointer()));
        return writeAttribute(distinct.getReferencedAttr());
      }
    }
    if (writtenByDialect(item))
      return;
    size_t start = out.size();
    writeVarInt(Opened);
    writeOwnedString(kind(item));
    if (parts(item))
      return;
    out.resize(start);
    std::string text;
    llvm::raw_string_ostream stream(text);
    item.print(stream);
    writeVarInt(Printed);
    writeOwnedString(stream.str());
  }

  static StringRef kind(Attribute attribute) { return attribute.getAbstractAttribute().getName(); }
  static StringRef kind(Type type) { return type.getAbstractType().getName(); }

  template <typename T> bool writtenByDialect(T item) {
    auto *interface = dyn_cast<BytecodeDialectInterface>(&item.getDialect());
    if (!interface)
      return false;
    size_t start = out.size();
    writeVarInt(Bytecode);
    writeOwnedString(item.getDialect().getNamespace());
    LogicalResult written = failure();
    if constexpr (std::is_same_v<T, Attribute>)
      written = interface->writeAttribute(item, *this);
    else
      written = interface->writeType(item, *this);
    if (failed(written))
      out.resize(start);
    return succeeded(written);
  }

  void write(std::initializer_list<Attribute> list) {
    for (Attribute attribute : list)
      writeAttribute(attribute);
  }
  template <typename... Numbers> void numbers(Numbers... all) {
    (writeSignedVarInt(static_cast<int64_t>(all)), ...);
  }

  /// Opens an attribute; false if it is not known here.
  bool parts(Attribute attribute) {
    return llvm::TypeSwitch<Attribute, bool>(attribute)
        .Case([&](LLVM::LinkageAttr a) { return numbers(a.getLinkage()), true; })
        .Case([&](LLVM::CConvAttr a) { return numbers(a.getCallingConv()), true; })
        .Case([&](LLVM::FastmathFlagsAttr a) { return numbers(a.getValue()), true; })
        .Case([&](LLVM::IntegerOverflowFlagsAttr a) { return numbers(a.getValue()), true; })
        .Case([&](LLVM::FramePointerKindAttr a) { return numbers(a.getFramePointerKind()), true; })
        .Case([&](LLVM::TailCallKindAttr a) { return numbers(a.getTailCallKind()), true; })
        .Case([&](LLVM::UWTableKindAttr a) { return numbers(a.getUwtableKind()), true; })
        .Case([&](arith::FastMathFlagsAttr a) { return numbers(a.getValue()), true; })
        .Case([&](arith::IntegerOverflowFlagsAttr a) { return numbers(a.getValue()), true; })
        .Case<LLVM::ZeroAttr, LLVM::UndefAttr, LLVM::PoisonAttr>([](auto) { return true; })
        .Case([&](LLVM::MemoryEffectsAttr a) {
          numbers(a.getOther(), a.getArgMem(), a.getInaccessibleMem(), a.getErrnoMem(),
                  a.getTargetMem0(), a.getTargetMem1());
          return true;
        })
        .Case([&](LLVM::ConstantRangeAttr a) {
          writeAPIntWithKnownWidth(a.getLower());
          writeAPIntWithKnownWidth(a.getUpper());
          return true;
        })
        .Default([&](Attribute a) { return aliasParts(a) || loopParts(a); });
  }

  bool aliasParts(Attribute attribute) {
    return llvm::TypeSwitch<Attribute, bool>(attribute)
        .Case([&](LLVM::AliasScopeDomainAttr a) { return writeAttribute(a.getId()), true; })
        .Case([&](LLVM::AliasScopeAttr a) { return write({a.getId(), a.getDomain()}), true; })
        .Case([&](LLVM::AccessGroupAttr a) { return writeAttribute(a.getId()), true; })
        .Case([&](LLVM::TBAARootAttr a) { return writeAttribute(a.getId()), true; })
        .Case([&](LLVM::TBAAMemberAttr a) {
          return numbers(a.getOffset()), writeAttribute(a.getTypeDesc()), true;
        })
        .Case([&](LLVM::TBAATypeDescriptorAttr a) {
          writeOwnedString(a.getId());
          numbers(a.getMembers().size());
          for (LLVM::TBAAMemberAttr member : a.getMembers())
            writeAttribute(member);
          return true;
        })
        .Case([&](LLVM::TBAATagAttr a) {
          numbers(a.getOffset(), a.getConstant());
          return write({a.getBaseType(), a.getAccessType()}), true;
        })
        .Default(false);
  }

  bool loopParts(Attribute attribute) {
    return llvm::TypeSwitch<Attribute, bool>(attribute)
        .Case([&](LLVM::LoopVectorizeAttr a) {
          return write({a.getDisable(), a.getPredicateEnable(), a.getScalableEnable(), a.getWidth(),
                        a.getFollowupVectorized(), a.getFollowupEpilogue(), a.getFollowupAll()}),
                 true;
        })
        .Case([&](LLVM::LoopInterleaveAttr a) { return writeAttribute(a.getCount()), true; })
        .Case([&](LLVM::LoopUnrollAttr a) {
          return write({a.getDisable(), a.getCount(), a.getRuntimeDisable(), a.getFull(),
                        a.getFollowupUnrolled(), a.getFollowupRemainder(), a.getFollowupAll()}),
                 true;
        })
        .Case([&](LLVM::LoopUnrollAndJamAttr a) {
          return write({a.getDisable(), a.getCount(), a.getFollowupOuter(), a.getFollowupInner(),
                        a.getFollowupRemainderOuter(), a.getFollowupRemainderInner(),
                        a.getFollowupAll()}),
                 true;
        })
        .Case([&](LLVM::LoopLICMAttr a) {
          return write({a.getDisable(), a.getVersioningDisable()}), true;
        })
        .Case([&](LLVM::LoopDistributeAttr a) {
          return write({a.getDisable(), a.getFollowupCoincident(), a.getFollowupSequential(),
                        a.getFollowupFallback(), a.getFollowupAll()}),
                 true;
        })
        .Case([&](LLVM::LoopPipelineAttr a) {
          return write({a.getDisable(), a.getInitiationinterval()}), true;
        })
        .Case([&](LLVM::LoopPeeledAttr a) { return writeAttribute(a.getCount()), true; })
        .Case([&](LLVM::LoopUnswitchAttr a) { return writeAttribute(a.getPartialDisable()), true; })
        .Default(false);
  }

  void list(ArrayRef<Type> types) {
    writeVarInt(types.size());
    for (Type type : types)
      writeType(type);
  }

  bool parts(Type type) {
    return llvm::TypeSwitch<Type, bool>(type)
        .Case([&](LLVM::LLVMPointerType t) { return numbers(t.getAddressSpace()), true; })
        .Case([&](LLVM::LLVMArrayType t) {
          return numbers(t.getNumElements()), writeType(t.getElementType()), true;
        })
        .Case([&](LLVM::LLVMFunctionType t) {
          numbers(t.isVarArg());
          writeType(t.getReturnType());
          return list(t.getParams()), true;
        })
        .Case([&](LLVM::LLVMStructType t) {
          numbers(t.isPacked(), t.isIdentified() && t.isOpaque());
          // A structure with a name may hold itself; its name may be any.
          if (t.isIdentified()) {
            auto [place, isNew] = structures.try_emplace(t.getAsOpaquePointer(), structures.size());
            writeVarInt(1 + place->second);
            return (isNew ? list(t.getBody()) : void()), true;
          }
          writeVarInt(0);
          return list(t.getBody()), true;
        })
        .Case([&](LLVM::LLVMTargetExtType t) {
          writeOwnedString(t.getExtTypeName());
          list(t.getTypeParams());
          for (unsigned number : t.getIntParams())
            numbers(number);
          return true;
        })
        .Case<LLVM::LLVMVoidType, LLVM::LLVMTokenType, LLVM::LLVMLabelType, LLVM::LLVMMetadataType>(
            [](auto) { return true; })
        .Default(false);
  }

  std::string out;
  llvm::StringMap<Operation *> symbols;
  llvm::StringSet<> leftOut;
  llvm::DenseMap<Value, unsigned> values;
  llvm::DenseMap<Block *, unsigned> blocks;
  llvm::DenseMap<Operation *, unsigned> rootNumbers, reachedNumbers;
  std::vector<Operation *> reached;
  llvm::DenseMap<const void *, unsigned> pointers, distincts, structures;
  llvm::StringMap<unsigned> items;
};

} // namespace

/// Gives `sink` the bytes that say what `roots`, symbols of `module`, do.
void regrainStructure(const MlirOperation *roots, size_t numRoots, MlirOperation module,
                                 const MlirStringRef *leftOut, size_t numLeftOut, RegrainSink sink,
                                 void *user) {
  SmallVector<Operation *> operations;
  for (size_t i = 0; i < numRoots; ++i)
    operations.push_back(unwrap(roots[i]));
  SmallVector<StringRef> names;
  for (size_t i = 0; i < numLeftOut; ++i)
    names.push_back(unwrap(leftOut[i]));
  std::string bytes = Structure(unwrap(module), names).write(operations);
  sink(bytes.data(), bytes.size(), user);
}
