//===- carry.cpp - facts of LLVM IR that MLIR's import and export drop ---------===//

#include "carry.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/ModRef.h"

using namespace mlir;
using namespace regrain_bridge;

static constexpr StringRef asmAttributesName = "regrain.asm_attributes";
static constexpr StringRef gridConstantName = "regrain.grid_constant";
static constexpr StringRef gridConstantLLVM = "nvvm.grid_constant";
/// Between the text of an assembly string and the number of its entry.
static constexpr char mark = '\x01';

//===--------------------------------------------------------------------------===//
// Attributes of a call as text
//===--------------------------------------------------------------------------===//

static std::string attributesToText(llvm::AttributeSet attributes) {
  std::vector<std::string> words;
  for (llvm::Attribute attribute : attributes) {
    if (attribute.hasKindAsEnum() && attribute.getKindAsEnum() == llvm::Attribute::Memory)
      words.push_back("memory=" +
                      std::to_string(attribute.getMemoryEffects().toIntValue()));
    else if (attribute.isEnumAttribute())
      words.push_back(llvm::Attribute::getNameFromAttrKind(attribute.getKindAsEnum()).str());
  }
  return llvm::join(words, " ");
}

static void setAttributesFromText(llvm::CallBase &call, StringRef text) {
  SmallVector<StringRef> words;
  text.split(words, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef word : words) {
    uint32_t effects = 0;
    if (word.consume_front("memory=")) {
      if (!word.getAsInteger(10, effects))
        call.addFnAttr(llvm::Attribute::getWithMemoryEffects(
            call.getContext(), llvm::MemoryEffects::createFromIntValue(effects)));
      continue;
    }
    llvm::Attribute::AttrKind kind = llvm::Attribute::getAttrKindFromName(word);
    if (kind != llvm::Attribute::None && llvm::Attribute::isEnumAttrKind(kind) &&
        llvm::Attribute::canUseAsFnAttr(kind))
      call.addFnAttr(kind);
  }
}

//===--------------------------------------------------------------------------===//
// Marks in assembly strings
//===--------------------------------------------------------------------------===//

static std::string withMark(StringRef text, size_t index) {
  return (text + Twine(mark) + Twine(index)).str();
}

/// Splits a marked string; the number, or -1 if there is no mark.
static std::pair<StringRef, int64_t> splitMark(StringRef text) {
  size_t at = text.rfind(mark);
  int64_t index = -1;
  if (at == StringRef::npos || text.substr(at + 1).getAsInteger(10, index))
    return {text, -1};
  return {text.take_front(at), index};
}

static void setAsmString(llvm::CallBase &call, StringRef text) {
  auto *old = cast<llvm::InlineAsm>(call.getCalledOperand());
  call.setCalledOperand(llvm::InlineAsm::get(
      old->getFunctionType(), text, old->getConstraintString(), old->hasSideEffects(),
      old->isAlignStack(), old->getDialect(), old->canThrow()));
}

template <typename Visit> static void forEachAsmCall(llvm::Module &module, Visit visit) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = dyn_cast<llvm::CallBase>(&instruction); call && call->isInlineAsm())
        visit(*call, cast<llvm::InlineAsm>(call->getCalledOperand())->getAsmString());
}

//===--------------------------------------------------------------------------===//
// Import
//===--------------------------------------------------------------------------===//

ImportCarry::ImportCarry(llvm::Module &source) {
  forEachAsmCall(source, [&](llvm::CallBase &call, StringRef text) {
    std::string attributes = attributesToText(call.getAttributes().getFnAttrs());
    if (attributes.empty())
      return;
    setAsmString(call, withMark(text, asmAttributes.size()));
    asmAttributes.push_back(std::move(attributes));
  });
  for (const llvm::GlobalVariable &global : source.globals())
    if (global.isExternallyInitialized())
      externallyInitialized.push_back(global.getName().str());
  for (const llvm::Function &function : source)
    for (const llvm::Argument &argument : function.args())
      if (function.getAttributes().hasParamAttr(argument.getArgNo(), gridConstantLLVM))
        gridConstants.emplace_back(function.getName().str(), argument.getArgNo());
}

void ImportCarry::finish(ModuleOp module) {
  auto *context = module.getContext();
  if (!asmAttributes.empty())
    module.walk([&](LLVM::InlineAsmOp op) {
      auto [text, index] = splitMark(op.getAsmString());
      if (index < 0 || static_cast<size_t>(index) >= asmAttributes.size())
        return;
      StringAttr attributes = StringAttr::get(context, asmAttributes[index]);
      op.setAsmString(StringAttr::get(context, text).getValue());
      op->setDiscardableAttr(asmAttributesName, attributes);
    });
  for (const std::string &name : externallyInitialized)
    if (auto global = module.lookupSymbol<LLVM::GlobalOp>(name))
      global.setExternallyInitialized(true);
  for (const auto &[name, index] : gridConstants)
    if (auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
      function.setArgAttr(index, gridConstantName, UnitAttr::get(context));
}

//===--------------------------------------------------------------------------===//
// Export
//===--------------------------------------------------------------------------===//

ExportCarry::ExportCarry(Operation *root) : root(root) {
  root->walk([&](LLVM::InlineAsmOp op) {
    if (!op->hasAttrOfType<StringAttr>(asmAttributesName))
      return;
    originals.emplace_back(op, op.getAsmString().str());
    op.setAsmString(withMark(originals.back().second, originals.size() - 1));
  });
}

ExportCarry::~ExportCarry() {
  for (auto &[op, text] : originals)
    op.setAsmString(text);
}

void ExportCarry::finish(llvm::Module &module) {
  if (!originals.empty())
    forEachAsmCall(module, [&](llvm::CallBase &call, StringRef marked) {
      auto [text, index] = splitMark(marked);
      if (index < 0 || static_cast<size_t>(index) >= originals.size())
        return;
      LLVM::InlineAsmOp op = originals[index].first;
      setAttributesFromText(call, op->getAttrOfType<StringAttr>(asmAttributesName).getValue());
      setAsmString(call, text.str());
    });
  root->walk([&](LLVM::LLVMFuncOp function) {
    llvm::Function *made = module.getFunction(function.getSymName());
    for (unsigned i = 0, e = function.getNumArguments(); made && i < e; ++i)
      if (function.getArgAttr(i, gridConstantName))
        made->addParamAttr(i, llvm::Attribute::get(module.getContext(), gridConstantLLVM));
  });
}
