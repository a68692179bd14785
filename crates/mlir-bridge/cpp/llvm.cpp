//===- llvm.cpp - LLVM IR in and out, in process ------------------------------===//
//
// Bytes are the common currency: textual IR or bitcode in, bitcode out. The llvm::LLVMContext
// lives only inside the call, so no lifetime crosses the border.
//
//===--------------------------------------------------------------------------===//

#include "bridge.h"
#include "carry.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Target/LLVMIR/Import.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

MlirOperation regrainImportLLVM(MlirContext context, MlirStringRef bytes, MlirStringRef name, RegrainSink sink,
                                void *user) {
  llvm::LLVMContext llvmContext;
  llvm::SMDiagnostic problem;
  // The textual parser wants a terminated buffer, so copy.
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(unwrap(bytes), unwrap(name));
  std::unique_ptr<llvm::Module> source =
      llvm::parseIR(buffer->getMemBufferRef(), problem, llvmContext);
  if (!source) {
    std::string text;
    llvm::raw_string_ostream out(text);
    problem.print("", out, /*ShowColors=*/false);
    sink(text.data(), text.size(), user);
    return MlirOperation{nullptr};
  }
  std::string layout = source->getDataLayoutStr();
  std::string triple = source->getTargetTriple().str();
  regrain_bridge::ImportCarry carry(*source);

  MLIRContext *mlirContext = unwrap(context);
  OwningOpRef<ModuleOp> module =
      translateLLVMIRToModule(std::move(source), mlirContext, /*emitExpensiveWarnings=*/false,
                              /*dropDICompositeTypeElements=*/false, /*loadAllDialects=*/false);
  if (!module)
    return MlirOperation{nullptr};
  carry.finish(*module);
  auto text = [&](StringRef value) { return StringAttr::get(mlirContext, value); };
  (*module)->setAttr(LLVM::LLVMDialect::getDataLayoutAttrName(), text(layout));
  (*module)->setAttr(LLVM::LLVMDialect::getTargetTripleAttrName(), text(triple));
  return wrap(module.release().getOperation());
}

/// A function that has lost its body keeps no subprogram, which says that it is a definition: LLVM takes a
/// declaration with one for a broken module.
static void forgetDefinitions(Operation *root) {
  root->walk([](LLVM::LLVMFuncOp function) {
    if (!function.isExternal() || !function->getLoc()->findInstanceOf<FusedLocWith<LLVM::DISubprogramAttr>>())
      return;
    auto place = function->getLoc()->findInstanceOf<FileLineColLoc>();
    function->setLoc(place ? Location(place) : UnknownLoc::get(function.getContext()));
  });
}

bool regrainExportLLVM(MlirOperation op, MlirStringRef name, RegrainSink sink, void *user) {
  llvm::LLVMContext llvmContext;
  Operation *root = unwrap(op);
  forgetDefinitions(root);
  regrain_bridge::ExportCarry carry(root);
  std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(root, llvmContext, unwrap(name));
  if (!module)
    return false;
  carry.finish(*module);
  if (auto layout = root->getAttrOfType<StringAttr>(LLVM::LLVMDialect::getDataLayoutAttrName()))
    module->setDataLayout(layout.getValue());
  if (auto triple = root->getAttrOfType<StringAttr>(LLVM::LLVMDialect::getTargetTripleAttrName()))
    module->setTargetTriple(llvm::Triple(triple.getValue()));
  SmallVector<char, 0> bitcode;
  llvm::raw_svector_ostream out(bitcode);
  llvm::WriteBitcodeToFile(*module, out);
  sink(bitcode.data(), bitcode.size(), user);
  return true;
}

void regrainForgetWideCharacters(LLVMModuleRef ref) {
  llvm::NamedMDNode *flags = llvm::unwrap(ref)->getModuleFlagsMetadata();
  if (!flags)
    return;
  SmallVector<llvm::MDNode *> kept;
  for (llvm::MDNode *flag : flags->operands()) {
    auto *name = llvm::dyn_cast<llvm::MDString>(flag->getOperand(1));
    if (!name || name->getString() != "wchar_size")
      kept.push_back(flag);
  }
  flags->clearOperands();
  for (llvm::MDNode *flag : kept)
    flags->addOperand(flag);
}
