//===- gpu_backend.h - what LLVM's GPU back ends have in common -----------------===//
//
// Diagnostics as values, and the standard pipeline built with a target machine, so that the target's own passes run.
//
//===----------------------------------------------------------------------------===//

#ifndef REGRAIN_GPU_BACKEND_H
#define REGRAIN_GPU_BACKEND_H

#include "bridge.h"
#include "sink.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"

#include <memory>
#include <string>

namespace regrain_bridge {

// Collects errors while it lives (LLVM's default prints them and ends the process).
class ErrorCollector {
  struct Handler : llvm::DiagnosticHandler {
    std::string &text;
    explicit Handler(std::string &text) : text(text) {}
    bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
      if (info.getSeverity() != llvm::DS_Error)
        return true;
      llvm::raw_string_ostream stream(text);
      if (!text.empty())
        stream << '\n';
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
      return true;
    }
  };

public:
  explicit ErrorCollector(llvm::LLVMContext &context) : context(context), previous(context.getDiagnosticHandler()) {
    context.setDiagnosticHandler(std::make_unique<Handler>(errors));
  }
  ~ErrorCollector() { context.setDiagnosticHandler(std::move(previous)); }

  std::string errors;

private:
  llvm::LLVMContext &context;
  std::unique_ptr<llvm::DiagnosticHandler> previous;
};

// Where the reason of a failure goes.
struct Reason {
  RegrainSink sink;
  void *user;
  bool fail(const llvm::Twine &text) const { return regrain_bridge::fail(text.str(), sink, user); }
  bool outcome(const ErrorCollector &collector) const { return collector.errors.empty() || fail(collector.errors); }
};

// The machine of amdgpu_backend.cpp.
std::unique_ptr<llvm::TargetMachine> makeAmdgpuMachine(const RegrainAmdgpuOptions &options, std::string &error);

inline void prepare(llvm::Module &module, const llvm::TargetMachine &machine) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
}

inline llvm::CodeGenOptLevel codegenLevel(uint32_t level) {
  static const llvm::CodeGenOptLevel levels[] = {llvm::CodeGenOptLevel::None, llvm::CodeGenOptLevel::Less,
                                                 llvm::CodeGenOptLevel::Default, llvm::CodeGenOptLevel::Aggressive};
  return levels[level > 3 ? 3 : level];
}

inline llvm::OptimizationLevel pipelineLevel(uint32_t optLevel, uint32_t sizeLevel) {
  if (sizeLevel >= 2)
    return llvm::OptimizationLevel::Oz;
  if (sizeLevel == 1)
    return llvm::OptimizationLevel::Os;
  switch (optLevel) {
  case 0:
    return llvm::OptimizationLevel::O0;
  case 1:
    return llvm::OptimizationLevel::O1;
  case 2:
    return llvm::OptimizationLevel::O2;
  default:
    return llvm::OptimizationLevel::O3;
  }
}

// What clang's attribute propagation gives to functions of a builtin bitcode library: the attributes that say what
// the code is made for, so that the inliner sees caller and callee alike.
inline void adoptTargetAttributes(llvm::Function &function, const llvm::Function *model) {
  if (!model)
    return;
  for (llvm::StringRef name : {"target-cpu", "target-features", "denormal-fp-math", "denormal-fp-math-f32",
                         "no-trapping-math", "uniform-work-group-size"}) {
    llvm::Attribute attribute = model->getFnAttribute(name);
    if (attribute.isValid())
      function.addFnAttr(attribute);
  }
}

// Links what the module uses of a library, as internal functions with the attributes of the module's own.
inline bool linkNeeded(llvm::Module &module, std::unique_ptr<llvm::Module> library) {
  library->setTargetTriple(module.getTargetTriple());
  library->setDataLayout(module.getDataLayout());
  const llvm::Function *model = nullptr;
  for (const llvm::Function &function : module)
    if (!function.isDeclaration() && function.hasFnAttribute("target-cpu")) {
      model = &function;
      break;
    }
  for (llvm::Function &function : *library)
    adoptTargetAttributes(function, model);
  return !llvm::Linker::linkModules(module, std::move(library), llvm::Linker::LinkOnlyNeeded,
                                    [](llvm::Module &linked, const llvm::StringSet<> &names) {
                                      llvm::internalizeModule(linked, [&names](const llvm::GlobalValue &value) {
                                        return !value.hasName() || names.count(value.getName()) == 0;
                                      });
                                    });
}

// Runs LLVM's standard pipeline.
inline bool optimize(llvm::Module &module, llvm::TargetMachine &machine, uint32_t optLevel, uint32_t sizeLevel,
                     const Reason &reason) {
  prepare(module, machine);
  ErrorCollector collector(module.getContext());

  llvm::PipelineTuningOptions tuning;
  bool vectorize = optLevel > 1 && sizeLevel < 2;
  tuning.LoopUnrolling = optLevel > 1;
  tuning.LoopInterleaving = optLevel > 1;
  tuning.LoopVectorization = vectorize;
  tuning.SLPVectorization = vectorize;
  tuning.CallGraphProfile = false;

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::TargetLibraryInfoImpl library(machine.getTargetTriple());
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);

  llvm::OptimizationLevel level = pipelineLevel(optLevel, sizeLevel);
  llvm::ModulePassManager passes = level == llvm::OptimizationLevel::O0 ? builder.buildO0DefaultPipeline(level)
                                                                        : builder.buildPerModuleDefaultPipeline(level);
  passes.run(module, modules);
  return reason.outcome(collector);
}

// Lowers the module to assembly, which the sink gets. The module is of no use afterwards.
inline bool emitAssembly(llvm::Module &module, llvm::TargetMachine &machine, const Reason &reason) {
  prepare(module, machine);
  ErrorCollector collector(module.getContext());
  std::string error;
  {
    llvm::raw_string_ostream verifierText(error);
    if (llvm::verifyModule(module, &verifierText))
      return reason.fail(error);
  }
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::TargetLibraryInfoImpl library(machine.getTargetTriple());
  llvm::legacy::PassManager passes;
  passes.add(llvm::createTargetTransformInfoWrapperPass(machine.getTargetIRAnalysis()));
  passes.add(new llvm::TargetLibraryInfoWrapperPass(library));
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile,
                                  /*DisableVerify=*/true))
    return reason.fail("the back end cannot emit assembly");
  passes.run(module);
  return reason.outcome(collector) && regrain_bridge::succeed(stream.str(), reason.sink, reason.user);
}

} // namespace regrain_bridge

#endif
