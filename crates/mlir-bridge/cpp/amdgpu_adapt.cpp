// From what clang gives for NVPTX to what clang gives for AMDGPU (as HIP).
//
//   define ptx_kernel void @k(ptr %p, ptr byval(%S) %s)      define amdgpu_kernel void @k(ptr addrspace(1) %p,
//                                                                                         ptr addrspace(4) byref(%S) %s)
//   %a = alloca [8 x i32]                                    %a = alloca [8 x i32], addrspace(5)
//   @text = private constant [3 x i8]                        @text = private addrspace(4) constant [3 x i8]
//   atomicrmw add ptr %p, i32 1 syncscope("device") seq_cst  atomicrmw add ptr %p, i32 1 syncscope("agent") monotonic
//   "nvvm.maxntid"="256"                                     "amdgpu-flat-work-group-size"="1,256"
//
// Other functions than kernels become internal: whole programs alone are made.

#include "gpu_backend.h"

#include "llvm-c/TargetMachine.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/TypeFinder.h"

#include <algorithm>
#include <array>

using namespace llvm;
using namespace regrain_bridge;

namespace {

constexpr unsigned Flat = 0, Global = 1, Shared = 3, ConstantSpace = 4, Private = 5;
// Arrays of so many bytes are aligned to as many.
constexpr uint64_t LargeArray = 16;

// A structure whose members lie elsewhere by the other data layout; the host and constant offsets go by the first.
const StructType *movedStructure(const Module &module, const DataLayout &layout) {
  TypeFinder types;
  types.run(module, /*onlyNamed=*/false);
  for (StructType *type : types) {
    if (type->isOpaque() || !type->isSized() || type->isScalableTy())
      continue;
    const StructLayout *before = module.getDataLayout().getStructLayout(type), *after = layout.getStructLayout(type);
    if (before->getSizeInBytes() != after->getSizeInBytes())
      return type;
    for (unsigned i = 0; i < type->getNumElements(); ++i)
      if (before->getElementOffset(i) != after->getElementOffset(i))
        return type;
  }
  return nullptr;
}

// A pointer in another address space as a flat one.
Value *flat(IRBuilder<> &builder, Value *pointer) {
  return builder.CreateAddrSpaceCast(pointer, builder.getPtrTy(Flat));
}

// A thread's own copy of what `from` points at, as a flat pointer.
Value *ownCopy(IRBuilder<> &builder, Value *from, Type *type, Align alignment, const DataLayout &layout) {
  AllocaInst *copy = builder.CreateAlloca(type, Private, nullptr);
  copy->setAlignment(std::max(alignment, layout.getABITypeAlign(type)));
  Value *pointer = flat(builder, copy);
  builder.CreateMemCpy(pointer, copy->getAlign(), from, alignment, layout.getTypeAllocSize(type));
  return pointer;
}

// Threads of a launch bound, as in "16,16"; 0 where there is none.
uint64_t threads(const Function &function, StringRef key, std::array<uint64_t, 3> *shape = nullptr) {
  SmallVector<StringRef, 3> parts;
  function.getFnAttribute(key).getValueAsString().split(parts, ',');
  std::array<uint64_t, 3> sizes = {1, 1, 1};
  uint64_t all = 1;
  for (size_t i = 0; i < parts.size() && i < 3; ++i) {
    if (parts[i].trim().getAsInteger(10, sizes[i]) || sizes[i] == 0)
      return 0;
    all *= sizes[i];
  }
  if (shape)
    *shape = sizes;
  return parts.empty() ? 0 : all;
}

// Launch bounds in AMDGPU's words.
void setBounds(Function &kernel, const RegrainAmdgpuOptions &options) {
  LLVMContext &context = kernel.getContext();
  std::array<uint64_t, 3> shape;
  uint64_t required = threads(kernel, "nvvm.reqntid", &shape), most = threads(kernel, "nvvm.maxntid");
  uint64_t blocks = threads(kernel, "nvvm.minctasm");
  most = std::min<uint64_t>(required ? required : most ? most : 1024, 1024);
  uint64_t least = required ? most : 1;
  kernel.addFnAttr("amdgpu-flat-work-group-size", (Twine(least) + "," + Twine(most)).str());
  kernel.addFnAttr("uniform-work-group-size", "true");
  if (blocks > 1) {
    uint64_t waves = blocks * ((most + options.wave - 1) / options.wave);
    uint64_t each = (waves + options.unit_simds - 1) / options.unit_simds;
    kernel.addFnAttr("amdgpu-waves-per-eu", utostr(std::min<uint64_t>(each, options.simd_waves)));
  }
  if (required) {
    Type *number = Type::getInt32Ty(context);
    SmallVector<Metadata *, 3> sizes;
    for (uint64_t size : shape)
      sizes.push_back(ConstantAsMetadata::get(ConstantInt::get(number, size)));
    kernel.setMetadata("reqd_work_group_size", MDNode::get(context, sizes));
  }
}

void dropBounds(Function &function) {
  for (StringRef key : {"nvvm.maxntid", "nvvm.reqntid", "nvvm.minctasm", "nvvm.cluster_dim", "nvvm.maxclusterrank",
                        "nvvm.maxnreg", "nvvm.blocksareclusters"})
    function.removeFnAttr(key);
}

// Gives a kernel the parameters that the hardware's way to pass them wants: pointers are global, structures lie in constant
// memory.
void adaptKernel(Function &kernel, const RegrainAmdgpuOptions &options) {
  LLVMContext &context = kernel.getContext();
  const DataLayout &layout = kernel.getDataLayout();
  SmallVector<Type *, 8> types;
  SmallVector<AttributeSet, 8> attributes;
  for (Argument &argument : kernel.args()) {
    Type *type = argument.getType();
    AttributeSet own = kernel.getAttributes().getParamAttrs(argument.getArgNo());
    if (Type *value = argument.getParamByValType()) {
      type = PointerType::get(context, ConstantSpace);
      AttrBuilder changed(context, own);
      changed.removeAttribute(Attribute::ByVal).addByRefAttr(value);
      changed.addAlignmentAttr(argument.getParamAlign().value_or(layout.getABITypeAlign(value)));
      // What held of the copy need not hold of the original.
      for (auto kind : {Attribute::NoAlias, Attribute::WriteOnly, Attribute::Writable, Attribute::Captures})
        changed.removeAttribute(kind);
      own = AttributeSet::get(context, changed);
    } else if (type->isPointerTy() && type->getPointerAddressSpace() == Flat) {
      type = PointerType::get(context, Global);
    }
    types.push_back(type);
    attributes.push_back(own);
  }
  auto *signature = FunctionType::get(kernel.getReturnType(), types, false);
  Function *made = Function::Create(signature, kernel.getLinkage(), kernel.getAddressSpace(), "", kernel.getParent());
  made->setCallingConv(kernel.getCallingConv());
  AttributeList all = kernel.getAttributes();
  made->setAttributes(AttributeList::get(context, all.getFnAttrs(), all.getRetAttrs(), attributes));
  made->removeFnAttr(Attribute::Memory); // parameters are memory now
  made->copyMetadata(&kernel, 0);
  made->splice(made->begin(), &kernel);
  kernel.setSubprogram(nullptr);
  IRBuilder<> builder(&*made->getEntryBlock().getFirstInsertionPt());
  for (auto [before, after] : zip(kernel.args(), made->args())) {
    after.takeName(&before);
    Value *value = &after;
    if (Type *type = before.getParamByValType())
      value = ownCopy(builder, &after, type, *after.getParamAlign(), layout);
    else if (before.getType() != after.getType())
      value = flat(builder, &after);
    before.replaceAllUsesWith(value);
  }
  made->takeName(&kernel);
  kernel.replaceAllUsesWith(made);
  kernel.eraseFromParent();
  setBounds(*made, options);
  dropBounds(*made);
  made->setVisibility(GlobalValue::ProtectedVisibility);
}

// A structure that a function takes by value: the function makes the copy, not its caller.
void copyInCallee(Function &function) {
  const DataLayout &layout = function.getDataLayout();
  bool changed = false;
  for (Argument &argument : function.args()) {
    Type *type = argument.getParamByValType();
    if (!type)
      continue;
    changed = true;
    Align alignment = argument.getParamAlign().value_or(Align(1));
    function.removeParamAttr(argument.getArgNo(), Attribute::ByVal);
    for (auto kind : {Attribute::NoAlias, Attribute::ReadOnly, Attribute::ReadNone, Attribute::WriteOnly,
                      Attribute::Captures})
      function.removeParamAttr(argument.getArgNo(), kind);
    if (function.isDeclaration())
      continue;
    IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
    SmallVector<Use *, 8> uses;
    for (Use &use : argument.uses())
      uses.push_back(&use);
    Value *copy = ownCopy(builder, &argument, type, alignment, layout);
    for (Use *use : uses)
      use->set(copy);
  }
  if (changed)
    function.removeFnAttr(Attribute::Memory); // the caller's memory is read now
}

void dropByValue(CallBase &call) {
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    if (!call.isByValArgument(i))
      continue;
    call.removeParamAttr(i, Attribute::ByVal);
    call.removeFnAttr(Attribute::Memory);
  }
}

// Local variables lie in private memory.
void adaptAllocas(Function &function) {
  SmallVector<AllocaInst *, 16> allocas;
  for (Instruction &inst : instructions(function))
    if (auto *alloca = dyn_cast<AllocaInst>(&inst); alloca && alloca->getAddressSpace() == Flat)
      allocas.push_back(alloca);
  for (AllocaInst *old : allocas) {
    IRBuilder<> builder(old);
    AllocaInst *made = builder.CreateAlloca(old->getAllocatedType(), Private, old->getArraySize());
    made->setAlignment(old->getAlign());
    made->takeName(old);
    for (User *user : make_early_inc_range(old->users())) {
      auto *marker = dyn_cast<LifetimeIntrinsic>(user);
      if (!marker)
        continue;
      IRBuilder<> at(marker);
      if (marker->getIntrinsicID() == Intrinsic::lifetime_start)
        at.CreateLifetimeStart(made);
      else
        at.CreateLifetimeEnd(made);
      marker->eraseFromParent();
    }
    old->replaceAllUsesWith(flat(builder, made));
    old->eraseFromParent();
  }
}

// The stack's own intrinsics name its address space.
void adaptStackIntrinsics(Function &function) {
  SmallVector<IntrinsicInst *, 4> saves;
  for (Instruction &inst : instructions(function))
    if (auto *call = dyn_cast<IntrinsicInst>(&inst); call && call->getIntrinsicID() == Intrinsic::stacksave)
      saves.push_back(call);
  Type *pointer = PointerType::get(function.getContext(), Private);
  for (IntrinsicInst *save : saves) {
    IRBuilder<> builder(save);
    Value *made = builder.CreateIntrinsic(Intrinsic::stacksave, {pointer}, {});
    for (User *user : make_early_inc_range(save->users()))
      if (auto *restore = dyn_cast<IntrinsicInst>(user);
          restore && restore->getIntrinsicID() == Intrinsic::stackrestore) {
        IRBuilder<> at(restore);
        at.CreateIntrinsic(Intrinsic::stackrestore, {pointer}, {made});
        restore->eraseFromParent();
      }
    save->replaceAllUsesWith(flat(builder, made));
    save->eraseFromParent();
  }
}

// The scope of AMDGPU for one of NVPTX.
SyncScope::ID scope(LLVMContext &context, SyncScope::ID old) {
  SmallVector<StringRef, 8> names;
  context.getSyncScopeNames(names);
  StringRef name = old < names.size() ? names[old] : StringRef();
  if (name == "block")
    return context.getOrInsertSyncScopeID("workgroup");
  if (name == "cluster" || name == "device")
    return context.getOrInsertSyncScopeID("agent");
  return old;
}

// CUDA's atomic functions, which stand here with the scope of the device, are relaxed. Their compare-and-swap keeps its order, as
// with LLVM's NVPTX: locks are made of it. Atomic operations of the source keep order and scope.
void adaptAtomics(Function &function) {
  LLVMContext &context = function.getContext();
  SyncScope::ID device = context.getOrInsertSyncScopeID("device");
  for (Instruction &inst : instructions(function)) {
    if (auto *update = dyn_cast<AtomicRMWInst>(&inst)) {
      if (update->getSyncScopeID() == device && update->getOrdering() == AtomicOrdering::SequentiallyConsistent)
        update->setOrdering(AtomicOrdering::Monotonic);
      update->setSyncScopeID(scope(context, update->getSyncScopeID()));
    } else if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&inst)) {
      exchange->setSyncScopeID(scope(context, exchange->getSyncScopeID()));
    } else if (auto *load = dyn_cast<LoadInst>(&inst); load && load->isAtomic()) {
      load->setSyncScopeID(scope(context, load->getSyncScopeID()));
    } else if (auto *store = dyn_cast<StoreInst>(&inst); store && store->isAtomic()) {
      store->setSyncScopeID(scope(context, store->getSyncScopeID()));
    } else if (auto *fence = dyn_cast<FenceInst>(&inst)) {
      fence->setSyncScopeID(scope(context, fence->getSyncScopeID()));
    }
  }
}

// Variables without an address space go to one that has memory.
void moveFlatGlobals(Module &module) {
  for (GlobalVariable &global : make_early_inc_range(module.globals())) {
    if (global.getAddressSpace() != Flat || global.getName().starts_with("llvm."))
      continue;
    unsigned space = global.isConstant() ? ConstantSpace : Global;
    auto *made = new GlobalVariable(module, global.getValueType(), global.isConstant(), global.getLinkage(),
                                    global.hasInitializer() ? global.getInitializer() : nullptr, "", &global,
                                    GlobalValue::NotThreadLocal, space, global.isExternallyInitialized());
    made->copyAttributesFrom(&global);
    made->copyMetadata(&global, 0);
    made->takeName(&global);
    global.replaceAllUsesWith(ConstantExpr::getAddrSpaceCast(made, global.getType()));
    global.eraseFromParent();
  }
}

void adaptGlobals(Module &module) {
  static constexpr StringRef BUILTINS[] = {"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"};
  for (GlobalVariable &global : make_early_inc_range(module.globals())) {
    if (global.getName().starts_with("llvm."))
      continue;
    global.setComdat(nullptr);
    if (!global.hasLocalLinkage())
      global.setDSOLocal(false);
    if (global.isDeclaration()) {
      // Objects that clang's headers declare and nobody defines: only their members are read, by functions that do not look
      // at the object.
      if (is_contained(BUILTINS, global.getName())) {
        global.setInitializer(Constant::getNullValue(global.getValueType()));
        global.setLinkage(GlobalValue::InternalLinkage);
      }
      continue;
    }
    if (global.getAddressSpace() == Shared) {
      global.setInitializer(PoisonValue::get(global.getValueType()));
      global.setVisibility(GlobalValue::DefaultVisibility);
      global.setLinkage(GlobalValue::InternalLinkage);
      // As clang aligns arrays for HIP, whose rules are the host's: accesses of 16 bytes need it.
      Type *type = global.getValueType();
      if (type->isArrayTy() && module.getDataLayout().getTypeAllocSize(type) >= LargeArray)
        global.setAlignment(std::max(global.getAlign().valueOrOne(), Align(LargeArray)));
    } else if (!global.hasLocalLinkage()) {
      global.setVisibility(GlobalValue::ProtectedVisibility);
    }
  }
}

// Metadata and lists that only NVPTX reads.
void dropLists(Module &module) {
  for (StringRef name : {"llvm.used", "llvm.compiler.used", "llvm.global_ctors", "llvm.global_dtors"})
    if (GlobalVariable *list = module.getNamedGlobal(name))
      list->eraseFromParent();
  for (StringRef name : {"nvvm.annotations", "nvvmir.version"})
    if (NamedMDNode *node = module.getNamedMetadata(name))
      node->eraseFromParent();
}

} // namespace

bool regrainAmdgpuAdapt(LLVMModuleRef moduleRef, const RegrainAmdgpuOptions *options, RegrainSink sink, void *user) {
  Reason reason{sink, user};
  Module &module = *unwrap(moduleRef);
  std::string error;
  auto machine = makeAmdgpuMachine(*options, error);
  if (!machine)
    return reason.fail(error);
  DataLayout layout = machine->createDataLayout();
  if (const StructType *moved = movedStructure(module, layout)) {
    std::string text;
    raw_string_ostream(text) << *moved;
    return reason.fail("a structure is laid out in another way than in CUDA: " + text);
  }
  dropLists(module);
  prepare(module, *machine);

  SmallVector<Function *, 16> kernels;
  for (Function &function : module) {
    bool kernel = function.getCallingConv() == CallingConv::AMDGPU_KERNEL;
    function.setComdat(nullptr);
    if (!function.hasLocalLinkage())
      function.setDSOLocal(false);
    if (!function.isDeclaration()) {
      function.addFnAttr("target-cpu", options->cpu);
      if (*options->features)
        function.addFnAttr("target-features", options->features);
    }
    if (kernel && !function.isDeclaration()) {
      kernels.push_back(&function);
      continue;
    }
    copyInCallee(function);
    dropBounds(function);
    if (!function.isDeclaration()) {
      function.setVisibility(GlobalValue::DefaultVisibility);
      function.setLinkage(GlobalValue::InternalLinkage);
    }
  }
  for (Function *kernel : kernels)
    adaptKernel(*kernel, *options);
  moveFlatGlobals(module);
  adaptGlobals(module);
  for (Function &function : module) {
    for (Instruction &inst : instructions(function))
      if (auto *call = dyn_cast<CallBase>(&inst))
        dropByValue(*call);
    adaptAllocas(function);
    adaptStackIntrinsics(function);
    adaptAtomics(function);
  }
  module.addModuleFlag(Module::Error, "amdhsa_code_object_version", options->code_object * 100);
  return true;
}
