// Gathers and scatters for processors that have none, or slow ones: see gathers.h.

#include "gathers.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace {

// What is true of each lane's access as it is of all.
constexpr unsigned KEPT[] = {LLVMContext::MD_tbaa, LLVMContext::MD_alias_scope, LLVMContext::MD_noalias,
                             LLVMContext::MD_access_group};

// Masked gathers go in groups of so many lanes, most of which take part as a whole or not at all.
constexpr unsigned GROUP = 8;

// Up to so many lanes of a group go one by one all the same: the instruction of a processor that has a slow one takes as long for one lane
// as for all.
constexpr unsigned FEW = 2;

// A function with more gathers leaves them to such an instruction: what stands for them otherwise is most of its code.
constexpr size_t MANY_GATHERS = 32;

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

// One lane of a gather.
Value *loadFrom(IRBuilder<> &b, IntrinsicInst *gather, Value *address) {
  Align align = gather->getParamAlign(0).valueOrOne();
  LoadInst *one = b.CreateAlignedLoad(typeOf(gather)->getElementType(), address, align);
  one->copyMetadata(*gather, KEPT);
  return one;
}

Value *gatherAll(IntrinsicInst *gather, Lanes &lanes) {
  IRBuilder<> b(gather);
  Value *all = PoisonValue::get(gather->getType());
  for (unsigned number = 0; number < typeOf(gather)->getNumElements(); ++number)
    all = b.CreateInsertElement(all, loadFrom(b, gather, lanes.lane(gather->getArgOperand(0), number)), number);
  return all;
}

// The group of lanes that begins with lane `first`, of what an address is made of. With `taken`, those that take no part are what that lane
// of the group is: they access what it does.
class Group {
public:
  Group(IRBuilder<> &b, unsigned first, Value *taking = nullptr, Value *taken = nullptr)
      : b(b), first(first), taking(taking), taken(taken) {}

  Value *of(Value *vector) {
    if (!vector->getType()->isVectorTy())
      return vector;
    if (Value *same = getSplatValue(vector))
      return same;
    auto *inst = dyn_cast<Instruction>(vector);
    if (auto *address = dyn_cast_or_null<GetElementPtrInst>(inst)) {
      SmallVector<Value *> indices;
      Value *base = of(address->getPointerOperand());
      for (Value *index : address->indices())
        indices.push_back(of(index));
      return b.CreateGEP(address->getSourceElementType(), base, indices, "", address->getNoWrapFlags());
    }
    if (inst && (isa<SExtInst>(inst) || isa<ZExtInst>(inst))) {
      Value *narrow = of(inst->getOperand(0));
      Type *to = narrow->getType()->getWithNewType(inst->getType()->getScalarType());
      return b.CreateCast(cast<CastInst>(inst)->getOpcode(), narrow, to);
    }
    Value *own = b.CreateShuffleVector(vector, to_vector(seq<int>(first, first + GROUP)));
    if (!taken)
      return own;
    return b.CreateSelect(taking, own, b.CreateVectorSplat(GROUP, b.CreateExtractElement(own, taken)));
  }

private:
  IRBuilder<> &b;
  unsigned first;
  Value *taking;
  Value *taken;
};

// A group of lanes at `b`, by an instruction: of lanes that take no part it accesses nothing.
Value *gatherSome(IRBuilder<> &b, IntrinsicInst *gather, Value *taking, Value *kept, unsigned first) {
  Value *addresses = Group(b, first).of(gather->getArgOperand(0));
  if (!addresses->getType()->isVectorTy())
    addresses = b.CreateVectorSplat(GROUP, addresses);
  Align align = gather->getParamAlign(0).valueOrOne();
  CallInst *call = b.CreateMaskedGather(kept->getType(), addresses, align, taking, kept);
  call->copyMetadata(*gather, KEPT);
  return call;
}

// Branches to a block for lane `number` if its bit is set, and on to another else, both before block `behind`. The builder goes on in the
// lane's; the other one is given.
BasicBlock *branchToLane(IRBuilder<> &b, Value *bits, unsigned number, BasicBlock *behind) {
  BasicBlock *takes = BasicBlock::Create(b.getContext(), "", behind->getParent(), behind);
  BasicBlock *next = BasicBlock::Create(b.getContext(), "", behind->getParent(), behind);
  APInt set = APInt::getOneBitSet(bits->getType()->getIntegerBitWidth(), number);
  Value *bit = b.CreateAnd(bits, ConstantInt::get(bits->getType(), set));
  b.CreateCondBr(b.CreateIsNotNull(bit), takes, next);
  b.SetInsertPoint(takes);
  return next;
}

// A group of lanes at `b`, each behind a branch; the builder goes on behind the last.
Value *gatherFew(IRBuilder<> &b, IntrinsicInst *gather, Value *own, Value *kept, unsigned first) {
  BasicBlock *behind = b.GetInsertBlock()->getNextNode();
  Value *part = kept;
  for (unsigned number = 0; number < GROUP; ++number) {
    BasicBlock *from = b.GetInsertBlock();
    BasicBlock *next = branchToLane(b, own, number, behind);
    BasicBlock *takes = b.GetInsertBlock();
    Lanes one(b);
    Value *loaded = loadFrom(b, gather, one.lane(gather->getArgOperand(0), first + number));
    Value *with = b.CreateInsertElement(part, loaded, number);
    b.CreateBr(next);
    b.SetInsertPoint(next);
    PHINode *either = b.CreatePHI(part->getType(), 2);
    either->addIncoming(part, from);
    either->addIncoming(with, takes);
    part = either;
  }
  return part;
}

// The lanes of a group one after the other, where each has an address.
Value *gatherEach(IRBuilder<> &b, IntrinsicInst *gather, function_ref<Value *(unsigned)> address) {
  Value *all = PoisonValue::get(FixedVectorType::get(typeOf(gather)->getElementType(), GROUP));
  for (unsigned number = 0; number < GROUP; ++number)
    all = b.CreateInsertElement(all, loadFrom(b, gather, address(number)), number);
  return all;
}

// A group of lanes before the gather: none, or some. Which ones take part often differs from one time to the next, so that more than a few
// have no branch for each. They go by an instruction where there is one, however slow. Without it lanes that take no part load what the
// first of the others does, and a group of which all take part goes without that.
Value *gatherGroup(IntrinsicInst *gather, Value *mask, Value *bits, unsigned first, bool instruction) {
  LLVMContext &context = gather->getContext();
  IRBuilder<> before(gather);
  auto numbers = to_vector(seq<int>(first, first + GROUP));
  Value *kept = before.CreateShuffleVector(gather->getArgOperand(2), numbers);
  Type *group = IntegerType::get(context, GROUP);
  Value *own = before.CreateTrunc(before.CreateLShr(bits, first), group);
  BasicBlock *head = gather->getParent();
  BasicBlock *tail = SplitBlock(head, gather);
  BasicBlock *some = BasicBlock::Create(context, "", head->getParent(), tail);
  head->getTerminator()->eraseFromParent();
  auto *which = IRBuilder<>(head).CreateSwitch(own, some, 2);
  which->addCase(cast<ConstantInt>(Constant::getNullValue(group)), tail);
  IRBuilder<> joined(tail, tail->begin());
  PHINode *result = joined.CreatePHI(kept->getType(), 3);
  result->addIncoming(kept, head);

  IRBuilder<> b(some);
  Value *taking = b.CreateShuffleVector(mask, numbers);
  if (instruction) {
    BasicBlock *many = BasicBlock::Create(context, "", head->getParent(), tail);
    BasicBlock *few = BasicBlock::Create(context, "", head->getParent(), tail);
    Value *count = b.CreateUnaryIntrinsic(Intrinsic::ctpop, own);
    b.CreateCondBr(b.CreateICmpULE(count, ConstantInt::get(group, FEW)), few, many);
    b.SetInsertPoint(many);
    result->addIncoming(gatherSome(b, gather, taking, kept, first), many);
    b.CreateBr(tail);
    b.SetInsertPoint(few);
    Value *part = gatherFew(b, gather, own, kept, first);
    result->addIncoming(part, b.GetInsertBlock());
  } else {
    Value *taken = b.CreateBinaryIntrinsic(Intrinsic::cttz, own, b.getTrue());
    Value *addresses = Group(b, first, taking, taken).of(gather->getArgOperand(0));
    Lanes lanes(b);
    Value *part = gatherEach(b, gather, [&](unsigned number) { return lanes.lane(addresses, number); });
    result->addIncoming(b.CreateSelect(taking, part, kept), some);
  }
  b.CreateBr(tail);

  if (!instruction) {
    BasicBlock *whole = BasicBlock::Create(context, "", head->getParent(), tail);
    which->addCase(cast<ConstantInt>(Constant::getAllOnesValue(group)), whole);
    b.SetInsertPoint(whole);
    Lanes lanes(b);
    Value *from = gather->getArgOperand(0);
    Value *all = gatherEach(b, gather, [&](unsigned number) { return lanes.lane(from, first + number); });
    result->addIncoming(all, whole);
    b.CreateBr(tail);
  }
  return result;
}

Value *gatherGroups(IntrinsicInst *gather, bool instruction) {
  unsigned lanes = typeOf(gather)->getNumElements();
  IRBuilder<> b(gather);
  Value *mask = b.CreateFreeze(gather->getArgOperand(1));
  Value *bits = b.CreateBitCast(mask, b.getIntNTy(lanes));
  SmallVector<Value *> groups;
  for (unsigned first = 0; first < lanes; first += GROUP)
    groups.push_back(gatherGroup(gather, mask, bits, first, instruction));
  b.SetInsertPoint(gather);
  return concatenateVectors(b, groups);
}

// The type of a gather's elements as numbers of less than a word.
IntegerType *partOfWord(IntrinsicInst *gather) {
  Type *element = typeOf(gather)->getElementType();
  unsigned bits = element->getPrimitiveSizeInBits();
  bool within = gather->getParamAlign(0).valueOrOne().value() * 8 >= bits;
  return (bits == 8 || bits == 16) && within ? Type::getIntNTy(element->getContext(), bits) : nullptr;
}

// A gather of parts of words out of the words that they lie in, which no page ends in.
Value *gatherWords(IntrinsicInst *gather, IntegerType *part) {
  IRBuilder<> b(gather);
  Value *addresses = gather->getArgOperand(0), *mask = gather->getArgOperand(1), *kept = gather->getArgOperand(2);
  Type *word = gather->getType()->getWithNewType(b.getInt32Ty());
  Type *number = gather->getType()->getWithNewType(b.getInt64Ty());
  Value *inside = ConstantInt::get(number, ~uint64_t(3), /*IsSigned=*/false, /*ImplicitTrunc=*/true);
  Value *words = b.CreateIntrinsic(Intrinsic::ptrmask, {addresses->getType(), number}, {addresses, inside});
  CallInst *call = b.CreateMaskedGather(word, words, Align(4), mask);
  call->copyMetadata(*gather, KEPT);
  Value *bytes = b.CreateAnd(b.CreateTrunc(b.CreatePtrToInt(addresses, number), word), ConstantInt::get(word, 3));
  Value *first = b.CreateLShr(call, b.CreateShl(bytes, ConstantInt::get(word, 3)));
  Value *parts = b.CreateTrunc(first, gather->getType()->getWithNewType(part));
  Value *own = b.CreateBitCast(parts, gather->getType());
  return isa<UndefValue>(kept) ? own : b.CreateSelect(mask, own, kept);
}

// Whether a gather is an instruction of the processor.
bool isInstruction(const TargetTransformInfo &target, FixedVectorType *type, Align align) {
  return target.isLegalMaskedGather(type, align) && !target.forceScalarizeMaskedGather(type, align);
}

// A function with more scatters that the processor lacks has them taken apart here: LLVM's pass for them begins with the function's first
// block again behind each.
constexpr size_t MANY_SCATTERS = 32;

// Whether a scatter is one that LLVM's pass would make branches of.
bool becomesBranches(const TargetTransformInfo &target, const IntrinsicInst &scatter) {
  auto *type = dyn_cast<FixedVectorType>(scatter.getArgOperand(0)->getType());
  if (!type || isa<Constant>(scatter.getArgOperand(2)))
    return false;
  Align align = scatter.getParamAlign(1).valueOrOne();
  return !target.isLegalMaskedScatter(type, align) || target.forceScalarizeMaskedScatter(type, align);
}

// The lanes of a scatter one after the other, each behind a branch.
void scatterEach(IntrinsicInst *scatter) {
  Value *values = scatter->getArgOperand(0);
  auto *type = cast<FixedVectorType>(values->getType());
  BasicBlock *head = scatter->getParent();
  BasicBlock *tail = SplitBlock(head, scatter);
  head->getTerminator()->eraseFromParent();
  IRBuilder<> b(head);
  Value *mask = b.CreateFreeze(scatter->getArgOperand(2));
  Value *bits = b.CreateBitCast(mask, b.getIntNTy(type->getNumElements()));
  for (unsigned number = 0; number < type->getNumElements(); ++number) {
    BasicBlock *next = branchToLane(b, bits, number, tail);
    Lanes one(b);
    Value *address = one.lane(scatter->getArgOperand(1), number);
    StoreInst *store = b.CreateAlignedStore(one.lane(values, number), address, scatter->getParamAlign(1).valueOrOne());
    store->copyMetadata(*scatter, KEPT);
    b.CreateBr(next);
    b.SetInsertPoint(next);
  }
  b.CreateBr(tail);
  scatter->eraseFromParent();
}

} // namespace

PreservedAnalyses regrain_bridge::ScalariseScatters::run(Function &function, FunctionAnalysisManager &analyses) {
  const TargetTransformInfo &target = analyses.getResult<TargetIRAnalysis>(function);
  SmallVector<IntrinsicInst *> scatters;
  for (Instruction &inst : instructions(function))
    if (auto *call = dyn_cast<IntrinsicInst>(&inst); call && call->getIntrinsicID() == Intrinsic::masked_scatter)
      if (becomesBranches(target, *call))
        scatters.push_back(call);
  if (scatters.size() <= MANY_SCATTERS)
    return PreservedAnalyses::all();
  // The last one first: what is behind a scatter in its block moves to another.
  for (IntrinsicInst *scatter : reverse(scatters))
    scatterEach(scatter);
  return PreservedAnalyses::none();
}

PreservedAnalyses regrain_bridge::ScalariseGathers::run(Function &function, FunctionAnalysisManager &analyses) {
  const TargetTransformInfo &target = analyses.getResult<TargetIRAnalysis>(function);
  SmallVector<IntrinsicInst *> gathers;
  for (Instruction &inst : instructions(function)) {
    auto *call = dyn_cast<IntrinsicInst>(&inst);
    if (!call || call->getIntrinsicID() != Intrinsic::masked_gather || !isa<FixedVectorType>(call->getType()))
      continue;
    Align align = call->getParamAlign(0).valueOrOne();
    bool known = isOfAllLanes(call->getArgOperand(1)) || typeOf(call)->getNumElements() % GROUP == 0;
    if (known && !isInstruction(target, typeOf(call), align))
      gathers.push_back(call);
  }
  if (gathers.empty())
    return PreservedAnalyses::all();
  // Other gathers than those of groups are gone.
  if (!slow.empty() && !function.hasFnAttribute("target-features")) {
    StringRef own = machine->getTargetFeatureString();
    function.addFnAttr("target-features", own.empty() ? slow : (own + "," + slow).str());
  }
  TargetTransformInfo forced = machine->getTargetTransformInfo(function);
  Lanes lanes(function);
  SmallVector<IntrinsicInst *> gone;
  bool many = function.hasOptSize() || gathers.size() > MANY_GATHERS;
  for (IntrinsicInst *gather : gathers) {
    auto goByInstruction = [&](Type *element, Align align) {
      return isInstruction(forced, FixedVectorType::get(element, GROUP), align);
    };
    IntegerType *part = partOfWord(gather);
    Value *made;
    bool ofAll = isOfAllLanes(gather->getArgOperand(1));
    if (ofAll && !many) {
      made = gatherAll(gather, lanes);
    } else if (part && goByInstruction(Type::getInt32Ty(function.getContext()), Align(4))) {
      made = gatherWords(gather, part);
    } else {
      bool instruction = goByInstruction(typeOf(gather)->getElementType(), gather->getParamAlign(0).valueOrOne());
      if (instruction && many)
        continue;
      made = ofAll ? gatherAll(gather, lanes) : gatherGroups(gather, instruction);
    }
    gather->replaceAllUsesWith(made);
    gone.push_back(gather);
  }
  for (IntrinsicInst *gather : gone)
    gather->eraseFromParent();
  return PreservedAnalyses::none();
}
