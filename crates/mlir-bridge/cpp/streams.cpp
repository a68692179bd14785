// Stores past the caches: see streams.h.

#include "streams.h"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace {

constexpr StringRef ATTRIBUTE = "regrain-streams";

// `runtime::abi::Tls`: its name, its words, and where `streams` lies.
constexpr StringRef STATE = "__regrain_tls";
constexpr unsigned STATE_WORDS = 13;
constexpr uint64_t STREAMS = 100;

// Bytes of a line, and how many lines a processor surely fills side by side.
constexpr uint64_t LINE = 64;
constexpr size_t LINES = 4;

// What a store is to be a multiple of, or 0 for one that stays as it is: no instruction takes more than a register past the caches.
uint64_t alignmentOf(const StoreInst &store, const TargetTransformInfo &target) {
  auto *type = dyn_cast<FixedVectorType>(store.getValueOperand()->getType());
  if (!type || !store.isSimple() || !store.hasMetadata(LLVMContext::MD_nontemporal))
    return 0;
  uint64_t bytes = store.getDataLayout().getTypeStoreSize(type).getFixedValue();
  uint64_t most = target.getRegisterBitWidth(TargetTransformInfo::RGK_FixedWidthVector).getFixedValue() / 8;
  return bytes >= 16 && isPowerOf2_64(bytes) ? std::min(bytes, most) : 0;
}

// Whether other threads may take an operation as a sign that earlier stores are there, and the processor does nothing about it by itself:
// atomic operations of more than a store, and full fences, wait for all stores.
bool publishes(const Instruction &inst) {
  if (auto *fence = dyn_cast<FenceInst>(&inst))
    return fence->getOrdering() != AtomicOrdering::SequentiallyConsistent;
  auto *store = dyn_cast<StoreInst>(&inst);
  return store && !store->isSimple();
}

Value *whetherStreams(Function &function, uint32_t bytes) {
  Module &module = *function.getParent();
  IRBuilder<> b(&function.getEntryBlock(), function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  auto *type = ArrayType::get(b.getInt64Ty(), STATE_WORDS);
  GlobalVariable *state = module.getNamedGlobal(STATE);
  if (!state)
    state = new GlobalVariable(module, type, false, GlobalValue::ExternalLinkage, nullptr, STATE, nullptr,
                               GlobalValue::GeneralDynamicTLSModel);
  Value *field = b.CreateConstGEP1_64(b.getInt8Ty(), b.CreateThreadLocalAddress(state), STREAMS);
  return b.CreateICmpUGE(b.getInt32(bytes), b.CreateLoad(b.getInt32Ty(), field));
}

void stream(StoreInst *store, uint64_t alignment, Value *streams) {
  IRBuilder<> b(store);
  Value *address = b.CreatePtrToInt(store->getPointerOperand(), b.getInt64Ty());
  Value *aligned = b.CreateIsNull(b.CreateAnd(address, alignment - 1));
  Instruction *then = nullptr, *otherwise = nullptr;
  SplitBlockAndInsertIfThenElse(b.CreateAnd(streams, aligned), store->getIterator(), &then, &otherwise);
  auto *past = cast<StoreInst>(store->clone());
  past->setAlignment(Align(alignment));
  past->insertBefore(then->getIterator());
  store->setMetadata(LLVMContext::MD_nontemporal, nullptr);
  store->moveBefore(otherwise->getIterator());
}

} // namespace

PreservedAnalyses regrain_bridge::StreamStores::run(Function &function, FunctionAnalysisManager &analyses) {
  uint32_t bytes = 0;
  if (!function.hasFnAttribute(ATTRIBUTE) || !Triple(function.getParent()->getTargetTriple()).isX86() ||
      function.getFnAttribute(ATTRIBUTE).getValueAsString().getAsInteger(10, bytes))
    return PreservedAnalyses::all();
  const TargetTransformInfo &target = analyses.getResult<TargetIRAnalysis>(function);
  SmallVector<std::pair<StoreInst *, uint64_t>> stores;
  SmallVector<Instruction *> published;
  // LLVM would have the others go past the caches whatever they are, in small parts where they are not aligned.
  auto keep = [](StoreInst *store) { store->setMetadata(LLVMContext::MD_nontemporal, nullptr); };
  for (Instruction &inst : instructions(function)) {
    if (auto *store = dyn_cast<StoreInst>(&inst)) {
      if (uint64_t alignment = alignmentOf(*store, target))
        stores.emplace_back(store, alignment);
      else
        keep(store);
    }
    if (publishes(inst))
      published.push_back(&inst);
  }
  bool whole = all_of(stores, [](auto &store) { return store.second == LINE; });
  if (!whole && stores.size() > LINES) {
    for (auto [store, alignment] : stores)
      keep(store);
    stores.clear();
  }
  if (stores.empty())
    return PreservedAnalyses::all();
  Value *streams = whetherStreams(function, bytes);
  for (auto [store, alignment] : stores)
    stream(store, alignment, streams);
  for (Instruction *inst : published) {
    Instruction *then = SplitBlockAndInsertIfThen(streams, inst->getIterator(), /*Unreachable=*/false);
    IRBuilder<>(then).CreateFence(AtomicOrdering::SequentiallyConsistent);
  }
  return PreservedAnalyses::none();
}
