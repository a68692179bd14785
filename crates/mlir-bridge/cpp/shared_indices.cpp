//===- shared_indices.cpp - unsigned indices into a block's memory ------------===//
//
// A chip addresses a block's shared memory with 32 bits, so what is added to such an address wraps there:
//
//   p[~i], p[a - b]    with `unsigned` indices:  getelementptr i32, ptr %p, i64 (zext i32 (xor %i, -1))
//
// is an element in front of `p`. With addresses of 64 bits it would be 16 GB behind it. Where such an index is less than 2^31, a sign makes
// no difference, and no block has more memory than that; so indices that are computed by subtraction get one.
//
//===----------------------------------------------------------------------===//

#include "bridge.h"

#include "llvm-c/Core.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/CBindingWrapping.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

constexpr unsigned SharedSpace = 3;
/// How many operations of an index are looked through.
constexpr unsigned Depth = 4;

/// The pointers of a function that can only be into shared memory.
class SharedPointers {
public:
  explicit SharedPointers(Function &function) {
    // What is kept in variables, as before optimisation: taken to be shared until something else is stored there.
    for (Instruction &instruction : instructions(function))
      if (auto *variable = dyn_cast<AllocaInst>(&instruction))
        if (variable->getAllocatedType()->isPointerTy() && isPlain(variable))
          variables.insert(variable);
    bool changed = true;
    while (changed) {
      changed = false;
      for (AllocaInst *variable : SmallVector<AllocaInst *>(variables.begin(), variables.end())) {
        if (!storesAreShared(variable)) {
          variables.erase(variable);
          changed = true;
        }
      }
    }
  }

  bool contains(const Value *pointer) const { return isShared(pointer, 2 * Depth); }

private:
  /// Whether a variable is only ever loaded from and stored to.
  static bool isPlain(const AllocaInst *variable) {
    return all_of(variable->users(), [&](const User *user) {
      if (auto *load = dyn_cast<LoadInst>(user))
        return load->getType()->isPointerTy();
      if (auto *call = dyn_cast<Instruction>(user); call && call->isLifetimeStartOrEnd())
        return true;
      auto *store = dyn_cast<StoreInst>(user);
      return store && store->getPointerOperand() == variable && store->getValueOperand()->getType()->isPointerTy();
    });
  }

  bool storesAreShared(const AllocaInst *variable) const {
    bool any = false;
    for (const User *user : variable->users()) {
      if (auto *store = dyn_cast<StoreInst>(user)) {
        any = true;
        if (!contains(store->getValueOperand()))
          return false;
      }
    }
    return any;
  }

  bool isShared(const Value *pointer, unsigned depth) const {
    pointer = pointer->stripPointerCasts();
    if (auto *global = dyn_cast<GlobalVariable>(pointer))
      return global->getAddressSpace() == SharedSpace;
    if (depth == 0)
      return false;
    if (auto *element = dyn_cast<GEPOperator>(pointer))
      return isShared(element->getPointerOperand(), depth - 1);
    if (auto *load = dyn_cast<LoadInst>(pointer)) {
      auto *variable = dyn_cast<AllocaInst>(load->getPointerOperand());
      return variable && variables.contains(const_cast<AllocaInst *>(variable));
    }
    return false;
  }

  SmallDenseSet<AllocaInst *> variables;
};

/// Whether a subtraction is part of what an index is computed of.
bool subtracts(const Value *index, unsigned depth) {
  const APInt *number;
  if (match(index, m_Sub(m_Value(), m_Value())) || match(index, m_Not(m_Value())) ||
      (match(index, m_Add(m_Value(), m_APInt(number))) && number->isNegative()))
    return true;
  auto *operation = dyn_cast<BinaryOperator>(index);
  if (!operation || depth == 0)
    return false;
  switch (operation->getOpcode()) {
  case Instruction::Add:
  case Instruction::Mul:
  case Instruction::Shl:
    return subtracts(operation->getOperand(0), depth - 1) || subtracts(operation->getOperand(1), depth - 1);
  default:
    return false;
  }
}

} // namespace

void regrainWrapSharedIndices(LLVMModuleRef module) {
  for (Function &function : *unwrap(module)) {
    SmallVector<std::pair<GetElementPtrInst *, Use *>> found;
    for (Instruction &instruction : instructions(function)) {
      auto *element = dyn_cast<GetElementPtrInst>(&instruction);
      if (!element)
        continue;
      for (Use &index : element->indices()) {
        Value *narrow;
        if (match(index.get(), m_ZExt(m_Value(narrow))) && narrow->getType()->isIntegerTy(32) &&
            index->getType()->isIntegerTy(64) && subtracts(narrow, Depth))
          found.emplace_back(element, &index);
      }
    }
    if (found.empty())
      continue;
    SharedPointers shared(function);
    for (auto [element, index] : found) {
      if (!shared.contains(element->getPointerOperand()))
        continue;
      IRBuilder<> builder(element);
      Value *narrow = cast<Instruction>(index->get())->getOperand(0);
      index->set(builder.CreateSExt(narrow, index->get()->getType()));
      element->setNoWrapFlags(GEPNoWrapFlags::none());
    }
  }
}
