//===- checks.cpp - accesses of memory that tell a checker ----------------------===//
//
// Before each load, store, atomic operation, copy and fill of a program's device code stands a call that says what is accessed, where in the
// source. It gives the address that is accessed in the end: that of a spare place where the access is wrong, so that the kernel goes on.
//
//   %v = load i32, ptr %p, align 4          =>  %q = call ptr @__regrain_check_load(ptr %p, i32 <size, alignment, flags>, ptr @site)
//                                               %v = load i32, ptr %q, align 4
//   store i32 %v, ptr %p                    =>  @__regrain_check_store(ptr %p, i32 <...>, ptr @site, i64 <%v>)
//   atomicrmw add ptr %p, ...               =>  @__regrain_check_atomic(ptr %p, i32 <...>, ptr @site)
//   llvm.memcpy(ptr %a, ptr %b, i64 %n)     =>  %m = call i64 @__regrain_check_range(ptr %a, ptr %b, i64 %n, ptr @site), then the copy of %m
//
// Where the variable that an address is into is known, and the place in it is not, @__regrain_check_object is told of its bounds first. Scalars of
// a thread, and elements of its arrays that constants name, need no call.
//
// Functions of the device library that are given addresses by the program become part of it before (`regrainInlineForChecks`), so that their
// accesses are seen, too.
//
//===----------------------------------------------------------------------===//

#include "bridge.h"

#include "llvm-c/Core.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include <map>

using namespace llvm;

namespace {

constexpr StringRef Ours = "__regrain_";
constexpr StringRef Program = "__regrain_dev_";
constexpr StringRef StaticShared = "__regrain_shared.";
constexpr StringRef DynamicShared = "__regrain_dynamic_shared";
/// How many calls deep functions of the library are looked into.
constexpr unsigned Depth = 6;

/// What a call says beside size (16 bits) and alignment (8 bits, as a logarithm). The runtime has the same numbers.
enum Flags : unsigned { Volatile = 1, Acquires = 2, Releases = 4, Valued = 8 };

bool isProgram(const Function &function) { return !function.isDeclaration() && function.getName().starts_with(Program); }

/// Whether a call of the library hands over addresses of the program: pointers, or those that inline PTX has in registers.
bool takesAddresses(const CallBase &call) {
  const Function *callee = call.getCalledFunction();
  StringRef name = callee ? callee->getName() : "";
  bool isLibrary = (name.starts_with(Ours) && !name.starts_with(Program)) || name.starts_with("__nv_");
  // Products of matrices are made of words of the lanes' own.
  if (!isLibrary || callee->isDeclaration() ||
      any_of(ArrayRef{"_tex", "_sul", "_sust", "mma"}, [&](StringRef part) { return name.contains(part); }))
    return false;
  return name.starts_with("__regrain_ptx_") ||
         any_of(call.args(), [](const Use &argument) { return argument->getType()->isPointerTy(); });
}

bool isShared(const GlobalVariable &variable) {
  return variable.getName().starts_with(StaticShared) || variable.getName() == DynamicShared;
}

/// The checker's view of a module.
class Checks {
public:
  Checks(Module &module, StringRef headers, bool accesses)
      : module(module), context(module.getContext()), layout(module.getDataLayout()),
        pointer(PointerType::getUnqual(context)), word(Type::getInt32Ty(context)), number(Type::getInt64Ty(context)),
        accesses(accesses) {
    headers.split(this->headers, '\n', -1, /*KeepEmpty=*/false);
    sys::fs::current_path(here);
  }

  void run(StringRef unit, unsigned kinds) {
    SmallVector<Instruction *> found;
    for (Function &function : module)
      if (accesses && isProgram(function))
        for (Instruction &instruction : instructions(function))
          found.push_back(&instruction);
    for (Instruction *instruction : found)
      visit(*instruction);
    enrol(unit, kinds);
  }

private:
  void visit(Instruction &at) {
    if (auto *load = dyn_cast<LoadInst>(&at)) {
      bool waits = load->isVolatile() || load->isAtomic();
      access(at, load->getOperandUse(0), load->getType(), load->getAlign(), waits ? Volatile | Acquires : 0,
             load->isAtomic() ? "atomic" : "load", nullptr);
    } else if (auto *store = dyn_cast<StoreInst>(&at)) {
      bool waits = store->isVolatile() || store->isAtomic();
      access(at, store->getOperandUse(1), store->getValueOperand()->getType(), store->getAlign(),
             waits ? Volatile | Releases : 0, store->isAtomic() ? "atomic" : "store", store->getValueOperand());
    } else if (auto *update = dyn_cast<AtomicRMWInst>(&at)) {
      access(at, update->getOperandUse(0), update->getType(), update->getAlign(),
             Releases | (update->use_empty() ? 0 : Acquires), "atomic", nullptr);
    } else if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&at)) {
      access(at, exchange->getOperandUse(0), exchange->getNewValOperand()->getType(), exchange->getAlign(),
             Releases | Acquires, "atomic", nullptr);
    } else if (auto *range = dyn_cast<AnyMemIntrinsic>(&at)) {
      this->range(*range);
    }
  }

  void access(Instruction &at, Use &use, Type *type, Align align, unsigned flags, StringRef kind, Value *value) {
    uint64_t size = layout.getTypeStoreSize(type).getFixedValue();
    Value *address = use.get();
    if (size == 0 || size > 0xffff)
      return;
    IRBuilder<> b(&at);
    Value *checked = b.CreatePointerBitCastOrAddrSpaceCast(address, pointer);
    Constant *site = this->site(at);
    Align natural = std::min(align, Align(PowerOf2Ceil(std::min<uint64_t>(size, 16))));
    const Value *object = getUnderlyingObject(address);
    if (uint64_t bytes = bytesOf(object)) {
      APInt offset(layout.getIndexTypeSizeInBits(address->getType()), 0);
      const Value *base = address->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
      bool isInside = base == object && offset.sge(0) && offset.getZExtValue() + size <= bytes;
      if (isInside && isPrivate(object))
        return;
      if (!isInside) {
        Value *start = b.CreatePointerBitCastOrAddrSpaceCast(const_cast<Value *>(object), pointer);
        bool writes = kind != "load";
        checked = b.CreateCall(declare("object", {pointer, word, pointer, pointer, number, word}),
                               {checked, b.getInt32(unsigned(size) | Log2(natural) << 16 | flags << 24), site, start,
                                b.getInt64(bytes), b.getInt32((isOwn(object) ? 1 : 0) | (writes ? 2 : 0))});
      }
      if (isPrivate(object)) {
        use.set(b.CreatePointerBitCastOrAddrSpaceCast(checked, address->getType()));
        return;
      }
    } else if (isPrivate(object)) {
      return;
    }
    Value *bits = value ? asNumber(b, value) : nullptr;
    if (bits)
      flags |= Valued;
    Value *info = b.getInt32(unsigned(size) | Log2(natural) << 16 | flags << 24);
    if (kind == "store")
      checked = b.CreateCall(declare("store", {pointer, word, pointer, number}),
                             {checked, info, site, bits ? bits : b.getInt64(0)});
    else
      checked = b.CreateCall(declare(kind, {pointer, word, pointer}), {checked, info, site});
    use.set(b.CreatePointerBitCastOrAddrSpaceCast(checked, address->getType()));
  }

  void range(AnyMemIntrinsic &range) {
    if (isa<ConstantInt>(range.getLength()) && cast<ConstantInt>(range.getLength())->isZero())
      return;
    IRBuilder<> b(&range);
    auto known = [&](Value *address) -> Value * {
      // What is a thread's own is not looked at in copies, but what stands in its place is.
      return isPrivate(getUnderlyingObject(address)) ? ConstantPointerNull::get(pointer)
                                                     : b.CreatePointerBitCastOrAddrSpaceCast(address, pointer);
    };
    Value *to = known(range.getRawDest());
    Value *from = ConstantPointerNull::get(pointer);
    if (auto *copy = dyn_cast<AnyMemTransferInst>(&range))
      from = known(copy->getRawSource());
    if (isa<ConstantPointerNull>(to) && isa<ConstantPointerNull>(from))
      return;
    Value *length = b.CreateZExtOrTrunc(range.getLength(), number);
    Value *checked = b.CreateCall(declare("range", {pointer, pointer, number, pointer, word}, number),
                                  {to, from, length, site(range), b.getInt32(isa<AnyMemTransferInst>(range))});
    range.setLength(b.CreateZExtOrTrunc(checked, range.getLength()->getType()));
  }

  /// The bytes of a variable whose size is known here; 0 for any other value.
  uint64_t bytesOf(const Value *object) const {
    if (auto *variable = dyn_cast<AllocaInst>(object)) {
      auto size = variable->getAllocationSize(layout);
      return size && !size->isScalable() ? size->getFixedValue() : 0;
    }
    if (auto *parameter = dyn_cast<Argument>(object); parameter && parameter->hasByValAttr())
      return layout.getTypeAllocSize(parameter->getParamByValType()).getFixedValue();
    auto *variable = dyn_cast<GlobalVariable>(object);
    // The size of dynamic shared memory is a launch's.
    if (!variable || variable->isDeclaration() || variable->getName() == DynamicShared)
      return 0;
    return layout.getTypeAllocSize(variable->getValueType()).getFixedValue();
  }

  /// Whether a variable or a parameter is a thread's own.
  static bool isOwn(const Value *object) {
    auto *parameter = dyn_cast<Argument>(object);
    return isa<AllocaInst>(object) || (parameter && parameter->hasByValAttr());
  }

  /// Whether only one thread ever sees a variable, or nobody changes it.
  bool isPrivate(const Value *object) const {
    if (isOwn(object))
      return true;
    auto *variable = dyn_cast<GlobalVariable>(object);
    return variable && (variable->isThreadLocal() ? !isShared(*variable) : variable->isConstant());
  }

  /// A value of up to eight bytes as a number; null for any other.
  Value *asNumber(IRBuilder<> &b, Value *value) {
    Type *type = value->getType();
    uint64_t bits = layout.getTypeSizeInBits(type).getFixedValue();
    if (bits > 64 || (!type->isIntOrPtrTy() && !type->isFloatingPointTy() && !type->isVectorTy()))
      return nullptr;
    if (type->isPointerTy())
      return b.CreatePtrToInt(value, number);
    if (type->isVectorTy() && cast<VectorType>(type)->getElementType()->isPointerTy())
      return nullptr;
    return b.CreateZExt(b.CreateBitCast(value, b.getIntNTy(bits)), number);
  }

  FunctionCallee declare(StringRef name, ArrayRef<Type *> parameters, Type *result = nullptr) {
    FunctionCallee callee = module.getOrInsertFunction(("__regrain_check_" + name).str(),
                                                       FunctionType::get(result ? result : pointer, parameters, false));
    cast<Function>(callee.getCallee())->addFnAttr(Attribute::NoUnwind);
    return callee;
  }

  /// The constant `{ file, line, column, function }` of an instruction's place in the program.
  Constant *site(const Instruction &at) {
    const DILocation *place = at.getDebugLoc().get();
    const DILocation *chosen = place;
    for (const DILocation *frame = place; frame; frame = frame->getInlinedAt()) {
      std::string file = fileOf(frame);
      if (frame->getLine() && !isHeader(file)) {
        chosen = frame;
        break;
      }
    }
    std::string file = chosen ? fileOf(chosen) : "";
    std::string name = at.getFunction()->getName().drop_front(Program.size()).str();
    if (chosen && chosen->getInlinedAt())
      if (DISubprogram *program = chosen->getScope()->getSubprogram())
        name = (program->getLinkageName().empty() ? program->getName() : program->getLinkageName()).str();
    unsigned line = chosen ? chosen->getLine() : 0, column = chosen ? chosen->getColumn() : 0;
    return site(file, line, column, demangle(name));
  }

  /// Whether a file is not the program's own: it is in a folder that is named behind `=`, or its path has a name in it.
  bool isHeader(StringRef file) const {
    return any_of(headers, [&](StringRef part) {
      return part.consume_front("=") ? sys::path::parent_path(file) == part : file.contains(part);
    });
  }

  Constant *site(const std::string &file, unsigned line, unsigned column, const std::string &function) {
    GlobalVariable *&made = sites[{file + "\n" + function, {line, column}}];
    if (!made) {
      Constant *fields[] = {text(file), ConstantInt::get(word, line), ConstantInt::get(word, column), text(function)};
      Constant *value = ConstantStruct::getAnon(fields);
      made = new GlobalVariable(module, value->getType(), true, GlobalValue::PrivateLinkage, value, "__regrain_check_site");
    }
    return made;
  }

  std::string fileOf(const DILocation *place) const {
    StringRef file = place->getFilename(), folder = place->getDirectory();
    if (file.empty() || folder.empty() || folder == here.str() || sys::path::is_absolute(file))
      return file.str();
    SmallString<128> path(folder);
    sys::path::append(path, file);
    return path.str().str();
  }

  Constant *text(StringRef text) {
    GlobalVariable *&made = texts[text];
    if (!made) {
      Constant *value = ConstantDataArray::getString(context, text);
      made = new GlobalVariable(module, value->getType(), true, GlobalValue::PrivateLinkage, value, "__regrain_check_text");
    }
    return made;
  }

  /// Tells the runtime what is checked, and of the module's variables, before `main`.
  void enrol(StringRef unit, unsigned kinds) {
    SmallVector<GlobalVariable *> variables, shared;
    for (GlobalVariable &variable : module.globals()) {
      if (variable.isDeclaration() || variable.getName().starts_with("llvm.") || variable.getName().starts_with("__regrain_check_"))
        continue;
      if (!variable.isThreadLocal())
        variables.push_back(&variable);
      else if (variable.getName().starts_with(StaticShared))
        shared.push_back(&variable);
    }
    auto *row = StructType::get(pointer, number, pointer);
    SmallVector<Constant *> rows;
    for (GlobalVariable *variable : variables)
      rows.push_back(ConstantStruct::get(row, ConstantExpr::getPointerBitCastOrAddrSpaceCast(variable, pointer),
                                         ConstantInt::get(number, layout.getTypeAllocSize(variable->getValueType())),
                                         text(nameOf(*variable))));
    auto *tableType = ArrayType::get(row, rows.size());
    auto *table = new GlobalVariable(module, tableType, true, GlobalValue::PrivateLinkage, ConstantArray::get(tableType, rows),
                                     "__regrain_check_variables");
    auto *nothing = Type::getVoidTy(context);
    // Addresses of a block's variables are those of the thread that asks.
    auto *tell = Function::Create(FunctionType::get(nothing, false), GlobalValue::InternalLinkage,
                                  "__regrain_check_shared_of." + unit, module);
    IRBuilder<> b(BasicBlock::Create(context, "", tell));
    FunctionCallee one = declare("shared", {pointer, number, pointer}, nothing);
    for (GlobalVariable *variable : shared)
      b.CreateCall(one, {variable, b.getInt64(layout.getTypeAllocSize(variable->getValueType())),
                         text(demangle(variable->getName().drop_front(StaticShared.size()).split('.').second))});
    b.CreateRetVoid();
    auto *start = Function::Create(FunctionType::get(nothing, false), GlobalValue::InternalLinkage,
                                   "__regrain_check_start." + unit, module);
    b.SetInsertPoint(BasicBlock::Create(context, "", start));
    b.CreateCall(declare("enrol", {word, pointer, number, pointer}, nothing),
                 {b.getInt32(kinds), table, b.getInt64(rows.size()), tell});
    b.CreateRetVoid();
    // A list of constructors would be `.ctors` here, which nobody calls.
    auto *entry = new GlobalVariable(module, pointer, true, GlobalValue::InternalLinkage, start, "__regrain_check_entry");
    entry->setSection(".init_array.00101");
    appendToUsed(module, entry);
  }

  static std::string nameOf(const GlobalVariable &variable) {
    StringRef name = variable.getName();
    name.consume_front(Program);
    return demangle(name.str());
  }

  Module &module;
  LLVMContext &context;
  const DataLayout &layout;
  PointerType *pointer;
  Type *word, *number;
  bool accesses;
  SmallVector<StringRef> headers;
  SmallString<128> here;
  std::map<std::pair<std::string, std::pair<unsigned, unsigned>>, GlobalVariable *> sites;
  StringMap<GlobalVariable *> texts;
};

} // namespace

void regrainInlineForChecks(LLVMModuleRef ref) {
  for (Function &function : *unwrap(ref)) {
    if (!isProgram(function))
      continue;
    SmallVector<std::pair<CallBase *, unsigned>> work;
    for (Instruction &instruction : instructions(function))
      if (auto *call = dyn_cast<CallBase>(&instruction); call && takesAddresses(*call))
        work.emplace_back(call, 0);
    while (!work.empty()) {
      auto [call, depth] = work.pop_back_val();
      InlineFunctionInfo info;
      call->removeFnAttr(Attribute::NoInline);
      if (depth == Depth || !InlineFunction(*call, info).isSuccess())
        continue;
      for (CallBase *inner : info.InlinedCallSites)
        if (takesAddresses(*inner))
          work.emplace_back(inner, depth + 1);
    }
  }
}

void regrainInsertChecks(LLVMModuleRef ref, MlirStringRef unit, MlirStringRef headers, unsigned kinds, bool accesses) {
  Checks(*unwrap(ref), StringRef(headers.data, headers.length), accesses).run(StringRef(unit.data, unit.length), kinds);
}
