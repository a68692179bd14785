// LLVM's NVPTX back end, driven as clang drives it for CUDA: libdevice linked before the optimisations and
// internalised, the standard pipeline built with the target machine, floating-point contraction allowed everywhere.
// What the C API lacks for this: target options, lazy linking of only what is needed, diagnostics as values.

#include "bridge.h"
#include "llvm_options.h"
#include "sink.h"

#include "llvm-c/TargetMachine.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"

#include <mutex>

using namespace llvm;

extern "C" {
void LLVMInitializeNVPTXTargetInfo(void);
void LLVMInitializeNVPTXTarget(void);
void LLVMInitializeNVPTXTargetMC(void);
void LLVMInitializeNVPTXAsmPrinter(void);
}

namespace {

// Collects errors while it lives (LLVM's default prints them and ends the process).
class ErrorCollector {
  struct Handler : DiagnosticHandler {
    std::string &text;
    explicit Handler(std::string &text) : text(text) {}
    bool handleDiagnostics(const DiagnosticInfo &info) override {
      if (info.getSeverity() != DS_Error)
        return true;
      raw_string_ostream stream(text);
      if (!text.empty())
        stream << '\n';
      DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
      return true;
    }
  };

public:
  explicit ErrorCollector(LLVMContext &context) : context(context), previous(context.getDiagnosticHandler()) {
    context.setDiagnosticHandler(std::make_unique<Handler>(errors));
  }
  ~ErrorCollector() { context.setDiagnosticHandler(std::move(previous)); }

  std::string errors;

private:
  LLVMContext &context;
  std::unique_ptr<DiagnosticHandler> previous;
};

// Where the reason of a failure goes.
struct Reason {
  RegrainSink sink;
  void *user;
  bool fail(const Twine &text) const { return regrain_bridge::fail(text.str(), sink, user); }
  bool outcome(const ErrorCollector &collector) const { return collector.errors.empty() || fail(collector.errors); }
};

void initializeOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    // clang passes this for the device: a loop that copies may become memcpy though there is no library.
    regrain_bridge::setLLVMOption("enable-memcpyopt-without-libcalls", "true");
  });
}

std::unique_ptr<TargetMachine> makeMachine(const RegrainNvptxOptions &options, std::string &error) {
  initializeOnce();
  Triple triple("nvptx64-nvidia-cuda");
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  TargetOptions targetOptions;
  targetOptions.AllowFPOpFusion = FPOpFusion::Fast;
  targetOptions.MCOptions.AsmVerbose = true; // comments, as in the output of clang -S
  static const CodeGenOptLevel levels[] = {CodeGenOptLevel::None, CodeGenOptLevel::Less, CodeGenOptLevel::Default,
                                           CodeGenOptLevel::Aggressive};
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
      triple, options.cpu, options.features, targetOptions, Reloc::Static, std::nullopt,
      levels[options.opt_level > 3 ? 3 : options.opt_level]));
  if (!machine)
    error = "cannot make an NVPTX target machine";
  return machine;
}

void prepare(Module &module, const TargetMachine &machine) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
}

// What clang's attribute propagation gives to functions of a builtin bitcode library: the attributes that say what
// the code is made for, so that the inliner sees caller and callee alike.
void adoptTargetAttributes(Function &function, const Function *model) {
  if (!model)
    return;
  for (StringRef name : {"target-cpu", "target-features", "denormal-fp-math", "denormal-fp-math-f32",
                         "no-trapping-math", "uniform-work-group-size"}) {
    Attribute attribute = model->getFnAttribute(name);
    if (attribute.isValid())
      function.addFnAttr(attribute);
  }
}

OptimizationLevel pipelineLevel(const RegrainNvptxOptions &options) {
  if (options.size_level >= 2)
    return OptimizationLevel::Oz;
  if (options.size_level == 1)
    return OptimizationLevel::Os;
  switch (options.opt_level) {
  case 0:
    return OptimizationLevel::O0;
  case 1:
    return OptimizationLevel::O1;
  case 2:
    return OptimizationLevel::O2;
  default:
    return OptimizationLevel::O3;
  }
}

} // namespace

bool regrainNvptxLinkLibdevice(LLVMModuleRef moduleRef, const RegrainNvptxOptions *options, RegrainSink sink, void *user) {
  Reason reason{sink, user};
  Module &module = *unwrap(moduleRef);
  if (!options->libdevice)
    return true;
  bool wanted = llvm::any_of(module, [](const Function &f) {
    return f.isDeclaration() && f.getName().starts_with("__nv_") && !f.use_empty();
  });
  if (!wanted)
    return true;

  ErrorCollector collector(module.getContext());
  auto buffer = MemoryBuffer::getFile(options->libdevice);
  if (!buffer)
    return reason.fail(Twine(options->libdevice) + ": " + buffer.getError().message());
  auto library = getOwningLazyBitcodeModule(std::move(*buffer), module.getContext());
  if (!library)
    return reason.fail(Twine(options->libdevice) + ": " + toString(library.takeError()));

  std::string error;
  auto machine = makeMachine(*options, error);
  if (!machine)
    return reason.fail(error);
  prepare(module, *machine);
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());

  const Function *model = nullptr;
  for (const Function &function : module)
    if (!function.isDeclaration() && function.hasFnAttribute("target-cpu")) {
      model = &function;
      break;
    }
  for (Function &function : **library)
    adoptTargetAttributes(function, model);

  bool failed = Linker::linkModules(module, std::move(*library), Linker::LinkOnlyNeeded,
                                    [](Module &linked, const StringSet<> &names) {
                                      internalizeModule(linked, [&names](const GlobalValue &value) {
                                        return !value.hasName() || names.count(value.getName()) == 0;
                                      });
                                    });
  if (failed && collector.errors.empty())
    return reason.fail("cannot link libdevice");
  return reason.outcome(collector);
}

bool regrainNvptxOptimize(LLVMModuleRef moduleRef, const RegrainNvptxOptions *options, RegrainSink sink, void *user) {
  Reason reason{sink, user};
  Module &module = *unwrap(moduleRef);
  std::string error;
  auto machine = makeMachine(*options, error);
  if (!machine)
    return reason.fail(error);
  prepare(module, *machine);
  ErrorCollector collector(module.getContext());

  PipelineTuningOptions tuning;
  bool vectorize = options->opt_level > 1 && options->size_level < 2;
  tuning.LoopUnrolling = options->opt_level > 1;
  tuning.LoopInterleaving = options->opt_level > 1;
  tuning.LoopVectorization = vectorize;
  tuning.SLPVectorization = vectorize;
  tuning.CallGraphProfile = false;

  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager sccs;
  ModuleAnalysisManager modules;
  PassBuilder builder(machine.get(), tuning);
  TargetLibraryInfoImpl library(machine->getTargetTriple());
  functions.registerPass([&] { return TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);

  OptimizationLevel level = pipelineLevel(*options);
  ModulePassManager passes = level == OptimizationLevel::O0 ? builder.buildO0DefaultPipeline(level)
                                                            : builder.buildPerModuleDefaultPipeline(level);
  passes.run(module, modules);
  return reason.outcome(collector);
}

bool regrainNvptxEmit(LLVMModuleRef moduleRef, const RegrainNvptxOptions *options, RegrainSink sink, void *user) {
  Reason reason{sink, user};
  Module &module = *unwrap(moduleRef);
  std::string error;
  auto machine = makeMachine(*options, error);
  if (!machine)
    return reason.fail(error);
  prepare(module, *machine);
  ErrorCollector collector(module.getContext());
  {
    raw_string_ostream verifierText(error);
    if (verifyModule(module, &verifierText))
      return reason.fail(error);
  }

  SmallVector<char, 0> text;
  raw_svector_ostream stream(text);
  TargetLibraryInfoImpl library(machine->getTargetTriple());
  legacy::PassManager passes;
  passes.add(createTargetTransformInfoWrapperPass(machine->getTargetIRAnalysis()));
  passes.add(new TargetLibraryInfoWrapperPass(library));
  if (machine->addPassesToEmitFile(passes, stream, nullptr, CodeGenFileType::AssemblyFile, /*DisableVerify=*/true))
    return reason.fail("the NVPTX back end cannot emit assembly");
  passes.run(module);

  return reason.outcome(collector) && regrain_bridge::succeed(stream.str(), sink, user);
}
