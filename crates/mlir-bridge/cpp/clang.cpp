//===- clang.cpp - clang and lld as parts of our own programs ---------------------===//
//
// Most of what clang takes for a short source is to start: its libraries are loaded and relocated each time. A program that has all of them in itself
// starts in a fifth of the time, so it is clang for what it compiles itself. This is clang's own main function as far as a compilation needs it: no
// files of arguments, plugins, crash reports or traces, for which there is the clang that is installed.
//
//===------------------------------------------------------------------------------===//

#include "bridge.h"

#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/DiagnosticFrontend.h"
#include "clang/CodeGen/CodeGenAction.h"
#include "clang/CodeGen/ObjectFilePCHContainerWriter.h"
#include "clang/Driver/Compilation.h"
#include "clang/Driver/Driver.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/TextDiagnosticBuffer.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "clang/Serialization/ObjectFilePCHContainerReader.h"
#include "lld/Common/Driver.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/Timer.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/TargetParser/Host.h"

#include <unistd.h>

using namespace clang;

LLD_HAS_DRIVER(elf)

// Polly is part of the installed clang and does nothing there unless `-mllvm` asks it to, which we are not asked.
llvm::PassPluginLibraryInfo getPollyPluginInfo();
llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "Polly", "", [](llvm::PassBuilder &) {}};
}

namespace {
// The backends that are part of our programs.
void initializeTargets() {
#define INITIALIZE(target)                                                                                              \
  LLVMInitialize##target##TargetInfo();                                                                                 \
  LLVMInitialize##target##Target();                                                                                     \
  LLVMInitialize##target##TargetMC();                                                                                   \
  LLVMInitialize##target##AsmPrinter();
  INITIALIZE(X86)
  INITIALIZE(AArch64)
  INITIALIZE(NVPTX)
  INITIALIZE(AMDGPU)
#undef INITIALIZE
  LLVMInitializeX86AsmParser();
  LLVMInitializeAArch64AsmParser();
  LLVMInitializeAMDGPUAsmParser();
}

// What the backend cannot go on with is an error like others.
void sayFatal(void *diagnostics, const char *message, bool) {
  static_cast<DiagnosticsEngine *>(diagnostics)->Report(diag::err_fe_error_backend) << message;
  llvm::sys::RunInterruptHandlers();
  exit(1);
}

// What makes code; null for all else that clang does.
std::unique_ptr<FrontendAction> actionOf(const FrontendOptions &options) {
  switch (options.ProgramAction) {
  case frontend::EmitAssembly:
    return std::make_unique<EmitAssemblyAction>();
  case frontend::EmitBC:
    return std::make_unique<EmitBCAction>();
  case frontend::EmitLLVM:
    return std::make_unique<EmitLLVMAction>();
  case frontend::EmitObj:
    return std::make_unique<EmitObjAction>();
  default:
    return nullptr;
  }
}

// LLVM's own options, as clang's driver has some for GPUs.
void setOptions(const std::vector<std::string> &options) {
  if (options.empty())
    return;
  SmallVector<const char *, 8> arguments{"clang (LLVM option parsing)"};
  for (const std::string &option : options)
    arguments.push_back(option.c_str());
  arguments.push_back(nullptr);
  llvm::cl::ParseCommandLineOptions(arguments.size() - 1, arguments.data());
}

// `clang -cc1`. What we do not do, the installed clang does.
int compile(SmallVectorImpl<const char *> &arguments) {
  auto containers = std::make_shared<PCHContainerOperations>();
  containers->registerWriter(std::make_unique<ObjectFilePCHContainerWriter>());
  containers->registerReader(std::make_unique<ObjectFilePCHContainerReader>());
  // Diagnostics of arguments are kept until the options of diagnostics are known.
  auto buffer = std::make_unique<TextDiagnosticBuffer>();
  DiagnosticOptions early;
  DiagnosticsEngine earlyDiagnostics(DiagnosticIDs::create(), early, buffer.get(), /*ShouldOwnClient=*/false);
  auto invocation = std::make_shared<CompilerInvocation>();
  const bool isValid =
      CompilerInvocation::CreateFromArgs(*invocation, ArrayRef(arguments).drop_front(2), earlyDiagnostics, arguments[0]);
  auto action = actionOf(invocation->getFrontendOpts());
  if (isValid && !action) {
    arguments.push_back(nullptr);
    execv(arguments[0], const_cast<char **>(arguments.data()));
    return 1;
  }
  auto instance = std::make_unique<CompilerInstance>(std::move(invocation), std::move(containers));
  instance->createVirtualFileSystem(llvm::vfs::getRealFileSystem(), buffer.get());
  instance->createDiagnostics();
  llvm::install_fatal_error_handler(sayFatal, &instance->getDiagnostics());
  buffer->FlushDiagnostics(instance->getDiagnostics());
  if (!isValid) {
    instance->getDiagnosticClient().finish();
    return 1;
  }
  setOptions(instance->getFrontendOpts().LLVMArgs);
  const bool isFine = !instance->getDiagnostics().hasErrorOccurred() && instance->ExecuteAction(*action);
  llvm::TimerGroup::printAll(llvm::errs());
  llvm::TimerGroup::clearAll();
  llvm::remove_fatal_error_handler();
  if (instance->getFrontendOpts().DisableFree) {
    llvm::BuryPointer(std::move(action));
    llvm::BuryPointer(std::move(instance));
  }
  return isFine ? 0 : 1;
}
} // namespace

int regrainClang(int count, const char **arguments) {
  initializeTargets();
  SmallVector<const char *, 256> all(arguments, arguments + count);
  if (all.size() > 1 && StringRef(all[1]) == "-cc1")
    return compile(all);
  auto options = CreateAndPopulateDiagOpts(all);
  auto *printer = new TextDiagnosticPrinter(llvm::errs(), *options);
  printer->setPrefix("clang");
  DiagnosticsEngine diagnostics(DiagnosticIDs::create(), *options, printer);
  auto files = llvm::vfs::getRealFileSystem();
  ProcessWarningOptions(diagnostics, *options, *files, /*ReportDiags=*/false);
  driver::Driver driver(all[0], llvm::sys::getDefaultTargetTriple(), diagnostics, "clang LLVM compiler", files);
  auto inProcess = [](SmallVectorImpl<const char *> &command) { return compile(command); };
  driver.CC1Main = inProcess;
  std::unique_ptr<driver::Compilation> compilation(driver.BuildCompilation(all));
  int result = 1;
  if (compilation && !compilation->containsError()) {
    SmallVector<std::pair<int, const driver::Command *>, 4> failing;
    result = driver.ExecuteCompilation(*compilation, failing);
    for (const auto &command : failing)
      result = result ? result : command.first;
  }
  diagnostics.getClient()->finish();
  return result;
}

int regrainLld(int count, const char **arguments) {
  const lld::DriverDef drivers[] = {{lld::Gnu, &lld::elf::link}};
  return lld::lldMain(ArrayRef(arguments, count), llvm::outs(), llvm::errs(), drivers).retCode;
}
