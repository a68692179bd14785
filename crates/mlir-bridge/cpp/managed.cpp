//===- managed.cpp - the host's side of managed variables -----------------------===//
//
// clang gives the host a variable of its own for each device variable, which stands for it in calls of the runtime. The storage of a
// managed variable is the device's, and the host's code reaches it by a pointer that the runtime sets:
//
//   @x = internal global i32 undef
//   call void @__cudaRegisterVar(ptr %h, ptr @x, ptr @0, ptr @0, i32 0, i64 4, i32 0, i32 0)
//   store i32 3, ptr @x
// becomes
//   @x.managed = internal global ptr null
//   call void @__cudaRegisterManagedVar(ptr %h, ptr @x.managed, ptr @0, ptr @0, i32 0, i64 4, i32 0, i32 0)
//   %1 = load ptr, ptr @x.managed
//   store i32 3, ptr %1
//
// All is registered before the unit's own variables are initialised, since that may take managed variables. NVIDIA's runtime sets the
// pointers when it is told to load the module.

#include "sink.h"

#include "llvm-c/Core.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Support/CBindingWrapping.h"

using namespace llvm;
using namespace regrain_bridge;

namespace {

constexpr StringLiteral Annotations = "llvm.global.annotations";
constexpr StringLiteral Register = "__cudaRegisterVar";
constexpr StringLiteral RegisterManaged = "__cudaRegisterManagedVar";
constexpr StringLiteral RegisterEnd = "__cudaRegisterFatBinaryEnd";
constexpr StringLiteral InitModule = "__cudaInitModule";
constexpr StringLiteral ModuleConstructor = "__cuda_module_ctor";

struct Annotation {
  ConstantStruct *entry;
  StringRef text(unsigned operand) const {
    auto *global = dyn_cast<GlobalVariable>(entry->getOperand(operand)->stripPointerCasts());
    auto *data = global && global->hasInitializer() ? dyn_cast<ConstantDataArray>(global->getInitializer()) : nullptr;
    return data && data->isCString() ? data->getAsCString() : StringRef();
  }
  GlobalVariable *variable() const {
    return dyn_cast<GlobalVariable>(entry->getOperand(0)->stripPointerCasts());
  }
  std::string place() const {
    auto *line = dyn_cast<ConstantInt>(entry->getOperand(3));
    return (text(2) + ":" + Twine(line ? line->getZExtValue() : 0)).str();
  }
};

std::vector<Annotation> annotations(Module &module) {
  std::vector<Annotation> found;
  GlobalVariable *list = module.getNamedGlobal(Annotations);
  if (auto *entries = list ? dyn_cast<ConstantArray>(list->getInitializer()) : nullptr)
    for (Value *entry : entries->operands())
      found.push_back({cast<ConstantStruct>(entry)});
  return found;
}

bool isManaged(const Annotation &annotation, StringRef mark) {
  return annotation.variable() && annotation.text(1) == mark;
}

// Takes the annotations of managed variables away: they are uses of them.
void dropAnnotations(Module &module, StringRef mark) {
  std::vector<Constant *> kept;
  for (const Annotation &annotation : annotations(module))
    if (!isManaged(annotation, mark))
      kept.push_back(annotation.entry);
  GlobalVariable *list = module.getNamedGlobal(Annotations);
  if (!kept.empty()) {
    auto *entries = ConstantArray::get(ArrayType::get(kept[0]->getType(), kept.size()), kept);
    auto *shorter = new GlobalVariable(module, entries->getType(), false, GlobalValue::AppendingLinkage, entries, "");
    shorter->takeName(list);
    shorter->setSection(list->getSection());
  }
  list->eraseFromParent();
}

void registerManaged(CallBase &call, GlobalVariable &pointer) {
  Module &module = *call.getModule();
  call.setCalledFunction(module.getOrInsertFunction(RegisterManaged, call.getFunctionType()));
  call.setArgOperand(1, &pointer);
}

// Makes the users of a shadow go by the pointer. Where none but instructions use it, all do.
bool redirect(GlobalVariable &shadow) {
  Module &module = *shadow.getParent();
  Type *type = PointerType::getUnqual(module.getContext());
  auto *pointer = new GlobalVariable(module, type, false, GlobalValue::InternalLinkage, ConstantPointerNull::get(cast<PointerType>(type)),
                                     shadow.getName() + ".managed");
  convertUsersOfConstantsToInstructions({&shadow});
  while (!shadow.use_empty()) {
    Use &use = *shadow.use_begin();
    auto *user = dyn_cast<Instruction>(use.getUser());
    if (!user)
      return false;
    auto *call = dyn_cast<CallBase>(user);
    Function *callee = call ? call->getCalledFunction() : nullptr;
    if (callee && callee->getName() == Register && use.getOperandNo() == 1) {
      registerManaged(*call, *pointer);
      continue;
    }
    auto *phi = dyn_cast<PHINode>(user);
    Instruction *before = phi ? phi->getIncomingBlock(use)->getTerminator() : user;
    auto *storage = new LoadInst(type, pointer, "", before->getIterator());
    if (phi) // A block that comes in several times has one value.
      phi->setIncomingValueForBlock(phi->getIncomingBlock(use), storage);
    else
      use.set(storage);
  }
  shadow.eraseFromParent();
  return true;
}

void loadWhenRegistered(Module &module) {
  Function *end = module.getFunction(RegisterEnd);
  if (!end)
    return;
  LLVMContext &context = module.getContext();
  auto *type = FunctionType::get(Type::getInt8Ty(context), {PointerType::getUnqual(context)}, false);
  FunctionCallee load = module.getOrInsertFunction(InitModule, type);
  for (User *user : end->users())
    if (auto *call = dyn_cast<CallInst>(user))
      CallInst::Create(load, {call->getArgOperand(0)}, "", std::next(call->getIterator()));
}

// Of constructors of the same priority the first in the list runs first.
void registerFirst(Module &module) {
  GlobalVariable *list = module.getNamedGlobal("llvm.global_ctors");
  auto *entries = list ? dyn_cast<ConstantArray>(list->getInitializer()) : nullptr;
  if (!entries)
    return;
  std::vector<Constant *> all, others;
  for (Value *entry : entries->operands()) {
    auto *constant = cast<Constant>(entry);
    bool registers = constant->getOperand(1)->stripPointerCasts()->getName() == ModuleConstructor;
    (registers ? all : others).push_back(constant);
  }
  append_range(all, others);
  list->setInitializer(ConstantArray::get(entries->getType(), all));
}

} // namespace

bool regrainFindManaged(LLVMModuleRef module, const char *mark, RegrainSink sink, void *user) {
  std::string found;
  for (const Annotation &annotation : annotations(*unwrap(module)))
    if (isManaged(annotation, mark))
      found += annotation.place() + "\n";
  return succeed(found, sink, user);
}

void regrainPlaceManaged(LLVMModuleRef moduleRef, const char *mark, const char *section) {
  Module &module = *unwrap(moduleRef);
  for (const Annotation &annotation : annotations(module))
    if (isManaged(annotation, mark))
      annotation.variable()->setSection(section);
  if (GlobalVariable *list = module.getNamedGlobal(Annotations))
    list->eraseFromParent();
}

bool regrainManagedShadows(LLVMModuleRef moduleRef, const char *mark, RegrainSink sink, void *user) {
  Module &module = *unwrap(moduleRef);
  SetVector<GlobalVariable *> shadows;
  std::vector<std::string> places;
  for (const Annotation &annotation : annotations(module))
    if (isManaged(annotation, mark) && shadows.insert(annotation.variable()))
      places.push_back(annotation.place());
  if (shadows.empty())
    return succeed("", sink, user);
  dropAnnotations(module, mark);
  for (auto [shadow, place] : zip_equal(shadows, places))
    if (!redirect(*shadow))
      return fail(place, sink, user);
  loadWhenRegistered(module);
  registerFirst(module);
  return succeed("", sink, user);
}
