// Gathers for processors that have none, or slow ones: see gathers.h.

#include "gathers.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace {

// What is true of each lane's access as it is of all.
constexpr unsigned KEPT[] = {LLVMContext::MD_tbaa, LLVMContext::MD_alias_scope, LLVMContext::MD_noalias,
                             LLVMContext::MD_access_group};

// Masked gathers go in groups of so many lanes, most of which take part as a whole or not at all.
constexpr unsigned GROUP = 8;

// The lanes of vectors: each made once, behind the vector itself, or all where they are asked for.
class Lanes {
public:
  explicit Lanes(Function &function) : function(function) {}
  explicit Lanes(IRBuilder<> &here) : function(*here.GetInsertBlock()->getParent()), here(&here) {}

  Value *lane(Value *vector, unsigned number) {
    if (!vector->getType()->isVectorTy())
      return vector;
    if (auto *constant = dyn_cast<Constant>(vector))
      if (Constant *element = constant->getAggregateElement(number))
        return element;
    if (Value *same = getSplatValue(vector))
      return same;
    if (Value *known = made.lookup({vector, number}))
      return known;
    Value *element = make(vector, number);
    made[{vector, number}] = element;
    return element;
  }

private:
  Value *make(Value *vector, unsigned number) {
    auto *inst = dyn_cast<Instruction>(vector);
    if (!inst)
      return builder(vector).CreateExtractElement(vector, number);
    if (auto *address = dyn_cast<GetElementPtrInst>(inst)) {
      SmallVector<Value *> indices;
      Value *base = lane(address->getPointerOperand(), number);
      for (Value *index : address->indices())
        indices.push_back(lane(index, number));
      return builder(vector).CreateGEP(address->getSourceElementType(), base, indices, "", address->getNoWrapFlags());
    }
    if (isa<SExtInst>(inst) || isa<ZExtInst>(inst)) {
      Value *narrow = lane(inst->getOperand(0), number);
      return builder(vector).CreateCast(cast<CastInst>(inst)->getOpcode(), narrow, inst->getType()->getScalarType());
    }
    if (isFoldedSum(*inst)) {
      Value *from = lane(inst->getOperand(0), number);
      return builder(vector).CreateAdd(from, lane(inst->getOperand(1), number), "", inst->hasNoUnsignedWrap(),
                                       inst->hasNoSignedWrap());
    }
    if (auto *load = dyn_cast<LoadInst>(inst); load && !here && load->isSimple() && liesAsArray(*load))
      return loadBeside(*load, number);
    return builder(vector).CreateExtractElement(vector, number);
  }

  // Beside the load of all lanes: no store is in between.
  Value *loadBeside(LoadInst &load, unsigned number) {
    Type *element = load.getType()->getScalarType();
    uint64_t offset = load.getDataLayout().getTypeStoreSize(element) * number;
    IRBuilder<> b = builder(&load);
    Value *address = b.CreateConstInBoundsGEP1_64(element, load.getPointerOperand(), number);
    LoadInst *one = b.CreateAlignedLoad(element, address, commonAlignment(load.getAlign(), offset));
    one->copyMetadata(load, KEPT);
    return one;
  }

  // A sum that may be part of an address.
  static bool isFoldedSum(Instruction &inst) {
    return inst.getOpcode() == Instruction::Add && isa<Constant>(inst.getOperand(1)) &&
           getSplatValue(inst.getOperand(1));
  }

  static bool liesAsArray(LoadInst &load) {
    Type *element = load.getType()->getScalarType();
    const DataLayout &layout = load.getDataLayout();
    return element->isIntegerTy() && layout.getTypeSizeInBits(element) == 8 * layout.getTypeAllocSize(element);
  }

  // Where lanes of a value are made.
  IRBuilder<> builder(Value *value) {
    if (here)
      return IRBuilder<>(here->GetInsertBlock(), here->GetInsertPoint());
    BasicBlock &entry = function.getEntryBlock();
    auto *inst = dyn_cast<Instruction>(value);
    auto at = inst ? *inst->getInsertionPointAfterDef() : entry.getFirstNonPHIOrDbgOrAlloca();
    return IRBuilder<>(inst ? inst->getParent() : &entry, at);
  }

  Function &function;
  IRBuilder<> *here = nullptr;
  DenseMap<std::pair<Value *, unsigned>, Value *> made;
};

bool isOfAllLanes(Value *mask) {
  auto *constant = dyn_cast<Constant>(mask);
  return constant && constant->isAllOnesValue();
}

FixedVectorType *typeOf(IntrinsicInst *gather) { return cast<FixedVectorType>(gather->getType()); }

// One lane of a gather, where it takes part.
Value *loadLane(IRBuilder<> &b, IntrinsicInst *gather, Lanes &lanes, unsigned number) {
  Value *address = lanes.lane(gather->getArgOperand(0), number);
  Align align = gather->getParamAlign(0).valueOrOne();
  LoadInst *one = b.CreateAlignedLoad(typeOf(gather)->getElementType(), address, align);
  one->copyMetadata(*gather, KEPT);
  return one;
}

Value *gatherAll(IntrinsicInst *gather, Lanes &lanes) {
  IRBuilder<> b(gather);
  Value *all = PoisonValue::get(gather->getType());
  for (unsigned number = 0; number < typeOf(gather)->getNumElements(); ++number)
    all = b.CreateInsertElement(all, loadLane(b, gather, lanes, number), number);
  return all;
}

// A group of lanes before the gather: all at once, none, or those of its bits one by one.
Value *gatherGroup(IntrinsicInst *gather, Value *bits, unsigned first) {
  LLVMContext &context = gather->getContext();
  IRBuilder<> before(gather);
  auto numbers = to_vector(seq<int>(first, first + GROUP));
  Value *kept = before.CreateShuffleVector(gather->getArgOperand(2), numbers);
  Type *group = IntegerType::get(context, GROUP);
  Value *own = before.CreateTrunc(before.CreateLShr(bits, first), group);
  BasicBlock *head = gather->getParent();
  BasicBlock *tail = SplitBlock(head, gather);
  BasicBlock *whole = BasicBlock::Create(context, "", head->getParent(), tail);
  BasicBlock *some = BasicBlock::Create(context, "", head->getParent(), tail);
  head->getTerminator()->eraseFromParent();
  auto *which = IRBuilder<>(head).CreateSwitch(own, some, 2);
  which->addCase(cast<ConstantInt>(Constant::getAllOnesValue(group)), whole);
  which->addCase(cast<ConstantInt>(Constant::getNullValue(group)), tail);

  IRBuilder<> b(whole);
  Value *all = PoisonValue::get(kept->getType());
  Lanes lanes(b);
  for (unsigned number = 0; number < GROUP; ++number)
    all = b.CreateInsertElement(all, loadLane(b, gather, lanes, first + number), number);
  b.CreateBr(tail);

  Value *part = kept;
  for (unsigned number = 0; number < GROUP; ++number) {
    BasicBlock *takes = BasicBlock::Create(context, "", head->getParent(), tail);
    BasicBlock *next = BasicBlock::Create(context, "", head->getParent(), tail);
    b.SetInsertPoint(some);
    Value *bit = b.CreateAnd(own, ConstantInt::get(group, 1 << number));
    b.CreateCondBr(b.CreateIsNotNull(bit), takes, next);
    b.SetInsertPoint(takes);
    Lanes one(b);
    Value *with = b.CreateInsertElement(part, loadLane(b, gather, one, first + number), number);
    b.CreateBr(next);
    b.SetInsertPoint(next);
    PHINode *either = b.CreatePHI(part->getType(), 2);
    either->addIncoming(part, some);
    either->addIncoming(with, takes);
    part = either;
    some = next;
  }
  IRBuilder<>(some).CreateBr(tail);

  IRBuilder<> joined(tail, tail->begin());
  PHINode *result = joined.CreatePHI(kept->getType(), 3);
  result->addIncoming(kept, head);
  result->addIncoming(all, whole);
  result->addIncoming(part, some);
  return result;
}

Value *gatherGroups(IntrinsicInst *gather) {
  unsigned lanes = typeOf(gather)->getNumElements();
  IRBuilder<> b(gather);
  Value *bits = b.CreateFreeze(b.CreateBitCast(gather->getArgOperand(1), b.getIntNTy(lanes)));
  SmallVector<Value *> groups;
  for (unsigned first = 0; first < lanes; first += GROUP)
    groups.push_back(gatherGroup(gather, bits, first));
  b.SetInsertPoint(gather);
  return concatenateVectors(b, groups);
}

} // namespace

PreservedAnalyses regrain_bridge::ScalariseGathers::run(Function &function, FunctionAnalysisManager &analyses) {
  const TargetTransformInfo &target = analyses.getResult<TargetIRAnalysis>(function);
  SmallVector<IntrinsicInst *> gathers;
  for (Instruction &inst : instructions(function)) {
    auto *call = dyn_cast<IntrinsicInst>(&inst);
    if (!call || call->getIntrinsicID() != Intrinsic::masked_gather || !isa<FixedVectorType>(call->getType()))
      continue;
    Align align = call->getParamAlign(0).valueOrOne();
    bool known = isOfAllLanes(call->getArgOperand(1)) || typeOf(call)->getNumElements() % GROUP == 0;
    if (known && (!target.isLegalMaskedGather(typeOf(call), align) ||
                  target.forceScalarizeMaskedGather(typeOf(call), align)))
      gathers.push_back(call);
  }
  Lanes lanes(function);
  for (IntrinsicInst *gather : gathers) {
    bool all = isOfAllLanes(gather->getArgOperand(1));
    gather->replaceAllUsesWith(all ? gatherAll(gather, lanes) : gatherGroups(gather));
  }
  for (IntrinsicInst *gather : gathers)
    gather->eraseFromParent();
  return gathers.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}
