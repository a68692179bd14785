// Vectors of which the first lanes are asked for: see narrow.h.

#include "narrow.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace {

// Vectors are not made narrower than this: it is one register.
constexpr unsigned FEWEST_BITS = 128;

FixedVectorType *vectorOf(Value *value) { return dyn_cast<FixedVectorType>(value->getType()); }

unsigned lanesOf(Value *value) { return vectorOf(value)->getNumElements(); }

// Whether each lane of an operation is made of that lane of its operands that are vectors.
bool isByLane(Instruction &inst) {
  auto *type = vectorOf(&inst);
  if (!type)
    return false;
  if (isa<BinaryOperator>(inst) || isa<UnaryOperator>(inst) || isa<CmpInst>(inst) || isa<FreezeInst>(inst))
    return true;
  if (isa<SelectInst>(inst))
    return true;
  auto *from = isa<CastInst>(inst) ? vectorOf(inst.getOperand(0)) : nullptr;
  return from && from->getNumElements() == type->getNumElements();
}

class Narrowing {
public:
  explicit Narrowing(Function &function) : function(function) {}

  bool run() {
    ReversePostOrderTraversal<Function *> order(&function);
    SmallVector<BasicBlock *> blocks(order.begin(), order.end());
    // What uses a value comes before it, but for what the next round of a loop does.
    for (BasicBlock *block : reverse(blocks))
      for (Instruction &inst : reverse(*block))
        if (isByLane(inst) || isa<ShuffleVectorInst>(inst))
          if (unsigned lanes = asked(inst); lanes < lanesOf(&inst))
            wanted[&inst] = lanes;
    if (wanted.empty())
      return false;
    SmallVector<Instruction *> replaced;
    for (BasicBlock *block : blocks)
      for (Instruction &inst : *block)
        if (wanted.count(&inst))
          replaced.push_back(&inst);
    for (Instruction *inst : replaced)
      made[inst] = make(*inst);
    for (Instruction *inst : reverse(replaced)) {
      for (User *user : to_vector(inst->users()))
        if (auto *extract = dyn_cast<ExtractElementInst>(user))
          extract->setOperand(0, made[inst]);
      inst->replaceAllUsesWith(PoisonValue::get(inst->getType()));
      inst->eraseFromParent();
    }
    return true;
  }

private:
  // How many lanes, from the first on, all that uses `inst` asks for; all of them where that is not known.
  unsigned asked(Instruction &inst) {
    unsigned all = lanesOf(&inst), most = 0;
    for (Use &use : inst.uses()) {
      most = std::max(most, asked(use, all));
      if (most >= all)
        return all;
    }
    unsigned bits = std::max(8u, inst.getType()->getScalarSizeInBits());
    unsigned fewest = std::max<unsigned>(1, FEWEST_BITS / bits);
    return std::min<unsigned>(all, PowerOf2Ceil(std::max(most, fewest)));
  }

  unsigned asked(Use &use, unsigned all) {
    auto *user = cast<Instruction>(use.getUser());
    if (auto *extract = dyn_cast<ExtractElementInst>(user)) {
      auto *number = dyn_cast<ConstantInt>(extract->getIndexOperand());
      return number && number->getZExtValue() < all ? number->getZExtValue() + 1 : all;
    }
    auto found = wanted.find(user);
    if (found == wanted.end())
      return all;
    auto *shuffle = dyn_cast<ShuffleVectorInst>(user);
    if (!shuffle)
      return found->second;
    unsigned most = 0;
    for (int lane : shuffle->getShuffleMask().take_front(found->second)) {
      unsigned operand = lane < 0 ? 2 : lane >= int(all);
      if (operand == use.getOperandNo())
        most = std::max(most, unsigned(lane) - operand * all + 1);
    }
    return most;
  }

  // The first lanes of a vector.
  Value *first(IRBuilder<> &b, Value *value, unsigned lanes) {
    if (!vectorOf(value))
      return value;
    if (auto *constant = dyn_cast<Constant>(value); constant && constant->getSplatValue())
      return ConstantVector::getSplat(ElementCount::getFixed(lanes), constant->getSplatValue());
    Value *now = made.lookup(value) ? made.lookup(value) : value;
    if (lanesOf(now) == lanes)
      return now;
    return b.CreateShuffleVector(now, to_vector(seq<int>(0, lanes)));
  }

  Value *make(Instruction &inst) {
    IRBuilder<> b(&inst);
    unsigned lanes = wanted[&inst];
    if (auto *shuffle = dyn_cast<ShuffleVectorInst>(&inst))
      return makeShuffle(b, *shuffle, lanes);
    Instruction *copy = inst.clone();
    for (Use &operand : copy->operands())
      operand.set(first(b, operand.get(), lanes));
    copy->mutateType(FixedVectorType::get(inst.getType()->getScalarType(), lanes));
    return b.Insert(copy, inst.getName());
  }

  Value *makeShuffle(IRBuilder<> &b, ShuffleVectorInst &shuffle, unsigned lanes) {
    int all = lanesOf(shuffle.getOperand(0));
    SmallVector<int> mask(shuffle.getShuffleMask().take_front(lanes));
    unsigned most = 1;
    bool second = false;
    for (int lane : mask) {
      second |= lane >= all;
      most = std::max<unsigned>(most, lane < 0 ? 0 : lane % all + 1);
    }
    // Of operands that became narrower both are as wide as the one that did less.
    unsigned width = PowerOf2Ceil(most);
    for (Value *operand : shuffle.operands())
      if (!second && operand != shuffle.getOperand(0))
        continue;
      else if (Value *now = made.lookup(operand))
        width = std::max(width, lanesOf(now));
      else
        width = all;
    for (int &lane : mask)
      lane = lane >= all ? lane - all + int(width) : lane;
    Value *left = first(b, shuffle.getOperand(0), width);
    if (!second)
      return b.CreateShuffleVector(left, mask);
    return b.CreateShuffleVector(left, first(b, shuffle.getOperand(1), width), mask);
  }

  Function &function;
  DenseMap<Value *, unsigned> wanted;
  DenseMap<Value *, Value *> made;
};

} // namespace

PreservedAnalyses regrain_bridge::NarrowVectors::run(Function &function, FunctionAnalysisManager &) {
  if (!Narrowing(function).run())
    return PreservedAnalyses::all();
  PreservedAnalyses kept;
  kept.preserveSet<CFGAnalyses>();
  return kept;
}
