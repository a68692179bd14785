//===- loaded.cpp - code that is loaded into a program while it runs -----------===//
//
// A program with our runtime need not export the runtime's symbols, so what is loaded into it brings a table of those
// that it wants, which the
// runtime fills in (`runtime::modules`):
//
//   declare void @__regrain_barrier(i32, i32)      @wanted = internal global ptr null
//                                              =>  define internal void @__regrain_barrier(i32 %0, i32 %1) {
//                                                    %f = load ptr, ptr @wanted
//                                                    musttail call void %f(i32 %0, i32 %1)
//                                                    ret void }
//
// The runtime's thread-local variables are asked for by calls, once in each function:
//
//   @__regrain_tls = external thread_local global  =>  %tls = call ptr @__regrain_tls_address()      ; at a function's
// entry
//
// The module then defines
//
//   @__regrain_module = { i64 "RRGMOD01", ptr <image>, ptr <table of { ptr name, ptr wanted }>, i64 <number> }
//
//===----------------------------------------------------------------------===//

#include "bridge.h"

#include "llvm-c/Core.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace {

constexpr StringRef PREFIX = "__regrain_";
// `RRGMOD01`, little endian.
constexpr uint64_t MAGIC = 0x3130'444f'4d47'5252;
constexpr StringRef ROOT = "__regrain_module";

/// Takes the address of a thread-local variable of the runtime from a function, in each function that uses it.
void askForAddress(Module &module, GlobalVariable *variable) {
  convertUsersOfConstantsToInstructions({variable});
  LLVMContext &context = module.getContext();
  auto *pointer = PointerType::getUnqual(context);
  FunctionCallee ask = module.getOrInsertFunction((variable->getName() + "_address").str(), pointer);
  MapVector<Function *, SmallVector<Use *>> uses;
  for (Use &use : variable->uses())
    if (auto *user = dyn_cast<Instruction>(use.getUser()))
      uses[user->getFunction()].push_back(&use);
  for (auto &[function, list] : uses) {
    BasicBlock &entry = function->getEntryBlock();
    IRBuilder<> b(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
    b.SetCurrentDebugLocation(DebugLoc());
    CallInst *address = b.CreateCall(ask);
    if (DISubprogram *program = function->getSubprogram())
      address->setDebugLoc(DILocation::get(context, program->getLine(), 0, program));
    for (Use *use : list) {
      auto *intrinsic = dyn_cast<IntrinsicInst>(use->getUser());
      if (intrinsic && intrinsic->getIntrinsicID() == Intrinsic::threadlocal_address) {
        intrinsic->replaceAllUsesWith(address);
        intrinsic->eraseFromParent();
      } else {
        use->set(address);
      }
    }
  }
}

/// Gives a declared function a body that jumps to where a variable says; the variable.
GlobalVariable *jump(Module &module, Function &function) {
  LLVMContext &context = module.getContext();
  auto *pointer = PointerType::getUnqual(context);
  auto *wanted = new GlobalVariable(module, pointer, false, GlobalValue::InternalLinkage,
                                    ConstantPointerNull::get(pointer), "__regrain_wanted." + function.getName());
  function.setLinkage(GlobalValue::InternalLinkage);
  function.setVisibility(GlobalValue::DefaultVisibility);
  function.setDSOLocal(true);
  // Of a declaration they would say what the body, which reads memory, does not.
  function.removeFnAttr(Attribute::Memory);
  IRBuilder<> b(BasicBlock::Create(context, "", &function));
  SmallVector<Value *> arguments;
  for (Argument &argument : function.args())
    arguments.push_back(&argument);
  CallInst *call = b.CreateCall(function.getFunctionType(), b.CreateLoad(pointer, wanted), arguments);
  call->setCallingConv(function.getCallingConv());
  call->setAttributes(AttributeList::get(context, AttributeSet(), function.getAttributes().getRetAttrs(), {}));
  for (unsigned i = 0; i < function.arg_size(); ++i)
    for (Attribute attribute : function.getAttributes().getParamAttrs(i))
      call->addParamAttr(i, attribute);
  call->setTailCallKind(CallInst::TCK_MustTail);
  if (function.getReturnType()->isVoidTy())
    b.CreateRetVoid();
  else
    b.CreateRet(call);
  return wanted;
}

} // namespace

void regrainTakeFromProgram(LLVMModuleRef handle, MlirStringRef image) {
  Module &module = *unwrap(handle);
  LLVMContext &context = module.getContext();
  for (GlobalVariable &variable : make_early_inc_range(module.globals()))
    if (variable.isDeclaration() && variable.isThreadLocal() && variable.getName().starts_with(PREFIX)) {
      askForAddress(module, &variable);
      variable.removeDeadConstantUsers();
      if (variable.use_empty())
        variable.eraseFromParent();
    }
  auto *pointer = PointerType::getUnqual(context);
  auto *rowType = StructType::get(pointer, pointer);
  SmallVector<Constant *> rows;
  for (Function &function : module) {
    if (!function.isDeclaration() || function.use_empty() || !function.getName().starts_with(PREFIX))
      continue;
    auto *text = ConstantDataArray::getString(context, function.getName());
    auto *name = new GlobalVariable(module, text->getType(), true, GlobalValue::PrivateLinkage, text);
    rows.push_back(ConstantStruct::get(rowType, name, jump(module, function)));
  }
  auto *tableType = ArrayType::get(rowType, rows.size());
  auto *table = new GlobalVariable(module, tableType, true, GlobalValue::PrivateLinkage,
                                   ConstantArray::get(tableType, rows), "__regrain_wanted");
  auto *number = Type::getInt64Ty(context);
  Constant *fields[] = {ConstantInt::get(number, MAGIC), module.getNamedGlobal(StringRef(image.data, image.length)),
                        table, ConstantInt::get(number, rows.size())};
  auto *root = ConstantStruct::getAnon(fields);
  new GlobalVariable(module, root->getType(), true, GlobalValue::ExternalLinkage, root, ROOT);
}
