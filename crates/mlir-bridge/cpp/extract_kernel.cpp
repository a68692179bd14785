//===- extract_kernel.cpp - one function of a module with what it reaches --------===//
//
// Bodies are read from the bitcode only where they are reached, so that taking each of many
// kernels out of a module costs what the kernels cost, not that times the size of the module.
//
//===--------------------------------------------------------------------------===//

#include "bridge.h"
#include "reached.h"
#include "sink.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"

using namespace llvm;
using namespace regrain_bridge;

Error regrain_bridge::readBodies(Reached &reached) {
  while (Constant *constant = reached.next()) {
    for (Value *operand : constant->operands())
      reached.add(operand);
    auto *function = dyn_cast<Function>(constant);
    if (!function)
      continue;
    if (Error error = function->materialize())
      return error;
    for (Value *operand : function->operands())
      reached.add(operand);
    for (BasicBlock &block : *function)
      for (Instruction &instruction : block)
        for (Value *operand : instruction.operands())
          reached.add(operand);
  }
  return Error::success();
}

void regrain_bridge::removeUnreferenced(Module &module) {
  ModuleAnalysisManager modules;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  LoopAnalysisManager loops;
  PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  GlobalDCEPass().run(module, modules);
}

namespace {

/// Makes everything but `kernel` removable. Variables stay what they are to the outside: so does what may be assumed of them.
Error reduce(Module &module, Function &kernel) {
  for (StringRef list : {"llvm.used", "llvm.compiler.used"})
    if (GlobalVariable *variable = module.getNamedGlobal(list))
      variable->eraseFromParent();
  Reached reached;
  reached.add(&kernel);
  for (GlobalVariable &variable : module.globals())
    reached.add(&variable);
  for (GlobalAlias &alias : module.aliases())
    reached.add(&alias);
  for (GlobalIFunc &resolved : module.ifuncs())
    reached.add(&resolved);
  if (Error error = readBodies(reached))
    return error;
  for (Function &function : module) {
    if (&function == &kernel || function.isDeclaration())
      continue;
    function.setComdat(nullptr);
    // A body that was read along with another's, without being reached, goes as well.
    if (reached.contains(&function))
      function.setLinkage(GlobalValue::InternalLinkage);
    else
      function.deleteBody();
  }
  if (Error error = module.materializeAll())
    return error;
  removeUnreferenced(module);
  return Error::success();
}

bool failed(Error error, RegrainSink sink, void *user) {
  return fail(toString(std::move(error)), sink, user);
}

} // namespace

bool regrainExtractKernel(MlirStringRef bitcode, MlirStringRef name, RegrainSink sink, void *user) {
  LLVMContext context;
  MemoryBufferRef buffer(StringRef(bitcode.data, bitcode.length), "device");
  Expected<std::unique_ptr<Module>> module = getLazyBitcodeModule(buffer, context);
  if (!module)
    return failed(module.takeError(), sink, user);
  Function *kernel = (*module)->getFunction(StringRef(name.data, name.length));
  if (!kernel || kernel->isDeclaration())
    return failed(createStringError("it is not defined there"), sink, user);
  if (Error error = (*module)->materializeMetadata())
    return failed(std::move(error), sink, user);
  if (Error error = reduce(**module, *kernel))
    return failed(std::move(error), sink, user);
  std::string made;
  raw_string_ostream out(made);
  WriteBitcodeToFile(**module, out);
  return succeed(made, sink, user);
}
