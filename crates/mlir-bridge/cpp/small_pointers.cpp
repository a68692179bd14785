//===- small_pointers.cpp - pointers of 32 bits on a host with 64 ---------------===//
//
// In AMDGPU's IR pointers to a block's shared memory (address space 3) and to a thread's own (5) have 32 bits and the
// null pointer -1. On a host their IR values have 64 bits, of which only the low 32 count: arithmetic on those is the
// same. Wherever such a value is looked at it is brought back:
//
//   load i32, ptr addrspace(3) %p          ->  load i32, ptr (near + sext(low(%p) - low(near)))
//   icmp eq ptr addrspace(3) %p, %q        ->  icmp eq i32 low(%p), low(%q)
//   load ptr addrspace(3), ptr %p          ->  inttoptr (load i32, ptr %p)
//   addrspacecast ptr addrspace(3) %p      ->  select (low(%p) == -1), null, near + ...
//   alloca i32, addrspace(5)               ->  alloca i32
//
// `near` is an address within 2 GiB of all memory of the space. What is at hand as a local or global variable with
// an offset within it needs none of this. Aggregates and vectors of such pointers are refused.
//
//===--------------------------------------------------------------------------===//

#include "bridge.h"
#include "sink.h"

#include "llvm-c/Core.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace {

class Widening {
public:
  Widening(Function &function, unsigned space, GlobalVariable *near)
      : function(function), space(space), near(near), builder(function.getContext()) {}

  /// False with `reason` set where something has no counterpart.
  bool run() {
    expandConstants();
    replaceAllocas();
    SmallVector<Instruction *> work;
    for (Instruction &inst : instructions(function))
      work.push_back(&inst);
    for (Instruction *inst : work) {
      builder.SetInsertPoint(inst);
      if (!visit(*inst))
        return false;
    }
    return true;
  }

  std::string reason;

private:
  bool isSmall(const Type *type) const { return type->isPointerTy() && type->getPointerAddressSpace() == space; }

  /// Whether a value of the type holds such a pointer beside other things.
  bool holds(Type *type) const {
    if (auto *vector = dyn_cast<VectorType>(type))
      return isSmall(vector->getElementType());
    if (auto *array = dyn_cast<ArrayType>(type))
      return isSmall(array->getElementType()) || holds(array->getElementType());
    if (auto *fields = dyn_cast<StructType>(type))
      return any_of(fields->elements(), [&](Type *field) { return isSmall(field) || holds(field); });
    return false;
  }

  bool refuse(const char *what, Type *type) {
    raw_string_ostream text(reason);
    text << what << " of '" << *type << "' in '" << function.getName() << "'";
    return false;
  }

  bool mentions(Constant *constant) const {
    if (isSmall(constant->getType()))
      return true;
    auto *expr = dyn_cast<ConstantExpr>(constant);
    return expr && any_of(expr->operands(), [&](Value *operand) { return mentions(cast<Constant>(operand)); });
  }

  /// Constant expressions become instructions.
  void expandConstants() {
    SmallVector<Instruction *> work;
    for (Instruction &inst : instructions(function))
      work.push_back(&inst);
    while (!work.empty()) {
      Instruction *inst = work.pop_back_val();
      for (Use &use : inst->operands()) {
        auto *expr = dyn_cast<ConstantExpr>(use.get());
        if (!expr || !mentions(expr))
          continue;
        Instruction *made = expr->getAsInstruction();
        Instruction *before = inst;
        if (auto *phi = dyn_cast<PHINode>(inst)) {
          BasicBlock *block = phi->getIncomingBlock(use);
          before = block->getTerminator();
          // Values that come from one block several times must be the same.
          for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i)
            if (phi->getIncomingBlock(i) == block)
              phi->setIncomingValue(i, made);
        } else {
          use.set(made);
        }
        made->insertBefore(before->getIterator());
        made->setDebugLoc(before->getDebugLoc());
        work.push_back(made);
      }
    }
  }

  void replaceAllocas() {
    SmallVector<AllocaInst *> found;
    for (Instruction &inst : instructions(function))
      if (auto *local = dyn_cast<AllocaInst>(&inst); local && isSmall(local->getType()))
        found.push_back(local);
    for (AllocaInst *local : found) {
      builder.SetInsertPoint(local);
      AllocaInst *made = builder.CreateAlloca(local->getAllocatedType(), 0u, local->getArraySize());
      made->setAlignment(local->getAlign());
      made->takeName(local);
      local->replaceAllUsesWith(builder.CreateAddrSpaceCast(made, local->getType()));
      local->eraseFromParent();
    }
  }

  Value *low(Value *pointer) {
    return builder.CreateTrunc(builder.CreatePtrToInt(pointer, builder.getInt64Ty()), builder.getInt32Ty());
  }

  Value *nearby() {
    if (near)
      return near;
    return builder.CreateIntrinsic(Intrinsic::frameaddress, {builder.getPtrTy()}, {builder.getInt32(0)});
  }

  /// Whether the value is the address of a variable, or lies within one.
  static bool isVariable(Value *pointer) {
    Value *flat = variable(pointer);
    return flat && (isa<AllocaInst>(flat) || isa<GlobalVariable>(flat));
  }

  /// The flat pointer that this one is an offset of; null where it may have been an integer.
  static Value *variable(Value *pointer) {
    while (auto *offset = dyn_cast<GetElementPtrInst>(pointer)) {
      if (!offset->isInBounds() && !offset->hasAllConstantIndices())
        return nullptr;
      pointer = offset->getPointerOperand();
    }
    auto *cast = dyn_cast<AddrSpaceCastInst>(pointer);
    return cast && cast->getSrcAddressSpace() == 0 ? cast->getPointerOperand() : nullptr;
  }

  /// The address of the memory that the pointer leads to.
  Value *address(Value *pointer) {
    if (variable(pointer))
      return builder.CreateAddrSpaceCast(pointer, builder.getPtrTy());
    Value *base = builder.CreatePtrToInt(nearby(), builder.getInt64Ty());
    Value *distance = builder.CreateSub(low(pointer), builder.CreateTrunc(base, builder.getInt32Ty()));
    Value *sum = builder.CreateAdd(base, builder.CreateSExt(distance, builder.getInt64Ty()));
    return builder.CreateIntToPtr(sum, builder.getPtrTy());
  }

  void replace(Instruction &inst, Value *by) {
    if (!by->hasName())
      by->takeName(&inst);
    inst.replaceAllUsesWith(by);
    inst.eraseFromParent();
  }

  bool visit(Instruction &inst) {
    if (auto *cast = dyn_cast<AddrSpaceCastInst>(&inst))
      return visitCast(*cast);
    if (auto *compare = dyn_cast<ICmpInst>(&inst)) {
      if (isSmall(compare->getOperand(0)->getType()))
        for (unsigned i : {0, 1})
          compare->setOperand(i, low(compare->getOperand(i)));
      return true;
    }
    if (auto *number = dyn_cast<PtrToIntInst>(&inst)) {
      if (isSmall(number->getPointerOperand()->getType()))
        replace(inst, builder.CreateZExtOrTrunc(low(number->getPointerOperand()), inst.getType()));
      return true;
    }
    if (auto *call = dyn_cast<CallBase>(&inst))
      return visitCall(*call);
    if (auto *offset = dyn_cast<GetElementPtrInst>(&inst)) {
      if (holds(offset->getSourceElementType()) || isSmall(offset->getSourceElementType()))
        return refuse("an address", offset->getSourceElementType());
      if (isSmall(offset->getType()) && !variable(offset))
        offset->setNoWrapFlags(GEPNoWrapFlags::none());
      return true;
    }
    return visitAccess(inst);
  }

  bool visitCast(AddrSpaceCastInst &cast) {
    Value *from = cast.getPointerOperand();
    if (isSmall(from->getType())) {
      if (isVariable(from)) {
        replace(cast, builder.CreateAddrSpaceCast(from, cast.getType()));
        return true;
      }
      Value *isNull = builder.CreateICmpEQ(low(from), builder.getInt32(-1));
      Value *there = builder.CreateAddrSpaceCast(address(from), cast.getType());
      replace(cast, builder.CreateSelect(isNull, Constant::getNullValue(cast.getType()), there));
    } else if (isSmall(cast.getType()) && !isa<AllocaInst>(from) && !isa<GlobalVariable>(from)) {
      Value *isNull = builder.CreateIsNull(from);
      Value *null = builder.CreateIntToPtr(builder.getInt32(-1), cast.getType());
      replace(cast, builder.CreateSelect(isNull, null, builder.CreateAddrSpaceCast(from, cast.getType())));
    }
    return true;
  }

  bool visitCall(CallBase &call) {
    Function *callee = call.getCalledFunction();
    if (!callee || !callee->isIntrinsic())
      return true;
    if (none_of(call.args(), [&](Value *argument) { return isSmall(argument->getType()); }))
      return true;
    if (call.isLifetimeStartOrEnd() || callee->getIntrinsicID() == Intrinsic::invariant_start) {
      if (call.use_empty())
        call.eraseFromParent();
      return true;
    }
    SmallVector<Value *> arguments;
    SmallVector<Type *> types, overloads;
    for (Value *argument : call.args()) {
      arguments.push_back(isSmall(argument->getType()) ? address(argument) : argument);
      types.push_back(arguments.back()->getType());
    }
    auto *signature = FunctionType::get(call.getType(), types, false);
    Intrinsic::ID id = callee->getIntrinsicID();
    if (!Intrinsic::getIntrinsicSignature(id, signature, overloads))
      return refuse("a call of '" + callee->getName().str() + "'", call.getType());
    Function *flat = Intrinsic::getOrInsertDeclaration(function.getParent(), id, overloads);
    CallInst *made = builder.CreateCall(flat, arguments);
    made->copyMetadata(call);
    made->setAttributes(call.getAttributes());
    replace(call, made);
    return true;
  }

  bool refuse(const std::string &what, Type *type) { return refuse(what.c_str(), type); }

  bool visitAccess(Instruction &inst) {
    int pointer = isa<LoadInst>(inst) || isa<AtomicRMWInst>(inst) || isa<AtomicCmpXchgInst>(inst) ? 0
                  : isa<StoreInst>(inst)                                                          ? 1
                                                                                                  : -1;
    if (pointer < 0)
      return true;
    Value *where = inst.getOperand(pointer);
    if (isSmall(where->getType()))
      inst.setOperand(pointer, address(where));
    Type *type = isa<LoadInst>(inst) ? inst.getType() : inst.getOperand(pointer == 0 ? 1 : 0)->getType();
    if (holds(type))
      return refuse("an access", type);
    if (!isSmall(type))
      return true;
    if (auto *load = dyn_cast<LoadInst>(&inst)) {
      LoadInst *made = builder.CreateAlignedLoad(builder.getInt32Ty(), load->getPointerOperand(), load->getAlign(),
                                                 load->isVolatile());
      made->setAtomic(load->getOrdering(), load->getSyncScopeID());
      replace(inst, builder.CreateIntToPtr(made, type));
      return true;
    }
    if (auto *store = dyn_cast<StoreInst>(&inst)) {
      store->setOperand(0, low(store->getValueOperand()));
      return true;
    }
    return refuse("an atomic access", type);
  }

  Function &function;
  unsigned space;
  GlobalVariable *near;
  IRBuilder<> builder;
};

} // namespace

bool regrainWidenPointers(LLVMModuleRef module, unsigned space, LLVMValueRef near, RegrainSink sink, void *user) {
  auto *global = near ? unwrap<GlobalVariable>(near) : nullptr;
  for (Function &function : *unwrap(module)) {
    if (function.isDeclaration())
      continue;
    Widening widening(function, space, global);
    if (!widening.run())
      return regrain_bridge::fail(widening.reason, sink, user);
  }
  return true;
}
