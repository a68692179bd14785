//===- parts.cpp - a module as several that are compiled beside one another ------===//
//
// Kernels have nothing to do with each other but for the functions that they call. So functions that somebody outside or a variable knows are
// divided among parts, and each part has copies of the internal functions that these call, and of constants whose address means nothing:
//
//   @table = { @block.a, @block.b }             part 0: @table, @block.a, @helper
//   @block.a, @block.b, @helper          ->     part 1: @block.b, @helper
//
// All other variables are in part 0. What parts have of one another are hidden symbols with a name that no other unit has. Which part a
// function is in does not depend on the machine, so objects do not either.
//
//===--------------------------------------------------------------------------===//

#include "bridge.h"
#include "cheap.h"
#include "reached.h"
#include "sink.h"

#include "llvm-c/Core.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace regrain_bridge;

namespace {

// The attribute of functions that are in a part, its number.
constexpr StringRef PART = "regrain-part";

using Functions = SmallSetVector<Function *, 8>;

// What is divided, and what it costs.
class Division {
public:
  explicit Division(Module &module) {
    for (Function &function : module)
      if (!function.isDeclaration())
        look(function);
    SmallVector<Functions> reached;
    for (Function *root : roots) {
      reached.push_back(reach(*root));
      for (Function *callee : reached.back())
        if (roots.contains(callee))
          together.unionSets(root, callee);
    }
    Functions all;
    for (auto [root, mine] : zip(roots, reached)) {
      all.insert(mine.begin(), mine.end());
      groups[together.getOrInsertLeaderValue(root)].insert(mine.begin(), mine.end());
    }
    total = costOf(all);
    for (auto &[leader, functions] : groups)
      sum += costOf(functions);
  }

  unsigned mostParts() const { return groups.size(); }
  uint64_t cost() const { return total / COST; }
  const Functions &known() const { return roots; }

  // The functions of each part, in the order of the module: groups, until a part is as near to its share as can be. None if copies cost too much.
  SmallVector<Functions> divide(unsigned count) const {
    SmallVector<Functions> parts(1);
    // What is divided is the sum of groups, which have copies of the same.
    uint64_t part = 0, left = sum;
    for (auto &[leader, functions] : groups) {
      uint64_t more = costOf(functions), share = left / (count - (parts.size() - 1));
      if (part != 0 && 2 * part + more > 2 * share && parts.size() < count) {
        left -= part;
        part = 0;
        parts.emplace_back();
      }
      parts.back().insert(functions.begin(), functions.end());
      part += more;
    }
    uint64_t cost = 0;
    for (const Functions &functions : parts)
      cost += costOf(functions);
    return cost <= total + total / MOST_COPIES ? parts : SmallVector<Functions>();
  }

private:
  // Copies cost no more than one of so many parts of the whole.
  static constexpr uint64_t MOST_COPIES = 5;
  // What an instruction costs where all is done for it, as LLVM's passes and the code generator took for kernels; 1 where it is compiled cheaply.
  static constexpr uint64_t COST = 6;

  void look(Function &function) {
    if (!function.hasLocalLinkage() || function.hasAddressTaken())
      roots.insert(&function);
    costs[&function] = function.getInstructionCount() * (function.hasFnAttribute(CHEAP) ? 1 : COST);
    for (Instruction &inst : instructions(function)) {
      auto *call = dyn_cast<CallBase>(&inst);
      if (Function *callee = call ? call->getCalledFunction() : nullptr; callee && !callee->isDeclaration())
        callees[&function].insert(callee);
    }
  }

  // A function and the internal ones that it calls; of the others the first on the way.
  Functions reach(Function &root) const {
    Functions found;
    found.insert(&root);
    for (unsigned at = 0; at < found.size(); at++)
      if (Function *function = found[at]; function == &root || !roots.contains(function))
        if (auto called = callees.find(function); called != callees.end())
          found.insert(called->second.begin(), called->second.end());
    return found;
  }

  uint64_t costOf(const Functions &functions) const {
    uint64_t cost = 0;
    for (Function *function : functions)
      cost += costs.lookup(function);
    return cost;
  }

  Functions roots;
  DenseMap<Function *, Functions> callees;
  DenseMap<Function *, uint64_t> costs;
  EquivalenceClasses<Function *> together;
  MapVector<Function *, Functions> groups;
  // Of all functions, and of what each group has.
  uint64_t total = 0, sum = 0;
};

bool isCopied(const GlobalVariable &variable) {
  return variable.isConstant() && variable.hasLocalLinkage() && variable.hasGlobalUnnamedAddr();
}

// Makes a symbol one that all parts see, and nobody else.
void show(GlobalValue &global, StringRef unit) {
  if (!global.hasLocalLinkage())
    return;
  global.setName(global.getName() + "." + unit);
  global.setLinkage(GlobalValue::ExternalLinkage);
  global.setVisibility(GlobalValue::HiddenVisibility);
}

// Shows the variables that functions refer to, and what they have copies of does.
void showVariables(Module &module, StringRef unit) {
  Reached reached;
  for (Function &function : module)
    for (Instruction &inst : instructions(function))
      for (Value *operand : inst.operands())
        reached.add(operand);
  while (Constant *constant = reached.next()) {
    if (auto *variable = dyn_cast<GlobalVariable>(constant); variable && !isCopied(*variable))
      show(*variable, unit);
    else if (!isa<Function>(constant))
      for (Value *operand : constant->operands())
        reached.add(operand);
  }
}

// Whether a function cannot be copied, or left out.
bool isWhole(const Function &function) {
  return function.hasComdat() || any_of(function, [](const BasicBlock &block) { return block.hasAddressTaken(); });
}

bool isList(const GlobalVariable &variable) { return variable.getName().starts_with("llvm."); }

// Leaves of a module that is being read what is in one part.
Error leave(Module &module, unsigned part) {
  const std::string own = std::to_string(part);
  Reached reached;
  for (Function &function : module) {
    if (!function.hasFnAttribute(PART))
      continue;
    if (function.getFnAttribute(PART).getValueAsString() == own)
      reached.add(&function);
    else
      function.deleteBody();
    function.removeFnAttr(PART);
  }
  for (GlobalVariable &variable : make_early_inc_range(module.globals())) {
    if (part == 0)
      reached.add(&variable);
    else if (isList(variable))
      variable.eraseFromParent();
    else if (!variable.hasLocalLinkage() && !variable.isDeclaration()) {
      variable.setInitializer(nullptr);
      variable.setLinkage(GlobalValue::ExternalLinkage);
    }
  }
  if (part != 0)
    module.setModuleInlineAsm("");
  if (Error error = readBodies(reached))
    return error;
  for (Function &function : module)
    if (!function.isDeclaration() && !reached.contains(&function))
      function.deleteBody();
  if (Error error = module.materializeAll())
    return error;
  removeUnreferenced(module);
  return Error::success();
}

} // namespace

unsigned regrainMarkParts(LLVMModuleRef ref, MlirStringRef unit, uint64_t least, unsigned most) {
  Module &module = *unwrap(ref);
  if (!module.alias_empty() || !module.ifunc_empty() || any_of(module, isWhole))
    return 1;
  Division division(module);
  uint64_t count = std::min<uint64_t>({most, division.mostParts(), division.cost() / least});
  SmallVector<Functions> parts;
  for (; count > 1 && parts.empty(); count /= 2)
    parts = division.divide(count);
  if (parts.empty())
    return 1;
  StringRef suffix(unit.data, unit.length);
  showVariables(module, suffix);
  for (auto [number, functions] : enumerate(parts))
    for (Function *function : functions)
      if (division.known().contains(function)) {
        function->addFnAttr(PART, std::to_string(number));
        show(*function, suffix);
      }
  return parts.size();
}

LLVMModuleRef regrainReadPart(LLVMContextRef context, MlirStringRef bitcode, unsigned part, RegrainSink sink, void *user) {
  MemoryBufferRef buffer(StringRef(bitcode.data, bitcode.length), "device");
  Expected<std::unique_ptr<Module>> module = getLazyBitcodeModule(buffer, *unwrap(context));
  Error error = module ? (*module)->materializeMetadata() : module.takeError();
  if (!error)
    error = leave(**module, part);
  if (error) {
    fail(toString(std::move(error)), sink, user);
    return nullptr;
  }
  return wrap(module->release());
}
