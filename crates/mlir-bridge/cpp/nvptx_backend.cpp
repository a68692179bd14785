// LLVM's NVPTX back end, driven as clang drives it for CUDA: libdevice linked before the optimisations and
// internalised, the standard pipeline built with the target machine, floating-point contraction allowed everywhere or
// where the operations say so.
// What the C API lacks for this: target options, lazy linking of only what is needed, diagnostics as values.

#include "gpu_backend.h"
#include "llvm_options.h"

#include "llvm-c/TargetMachine.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MemoryBuffer.h"

#include <mutex>

using namespace llvm;
using namespace regrain_bridge;

extern "C" {
void LLVMInitializeNVPTXTargetInfo(void);
void LLVMInitializeNVPTXTarget(void);
void LLVMInitializeNVPTXTargetMC(void);
void LLVMInitializeNVPTXAsmPrinter(void);
}

namespace {

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
  targetOptions.AllowFPOpFusion = options.fuses ? FPOpFusion::Fast : FPOpFusion::Standard;
  targetOptions.MCOptions.AsmVerbose = true; // comments, as in the output of clang -S
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
      triple, options.cpu, options.features, targetOptions, Reloc::Static, std::nullopt,
      codegenLevel(options.opt_level)));
  if (!machine)
    error = "cannot make an NVPTX target machine";
  return machine;
}

/// Answers libdevice's question for exact square roots, to which LLVM says no.
void askForExactRoots(Module &module) {
  Function *reflect = module.getFunction("__nvvm_reflect");
  if (!reflect)
    return;
  for (User *user : llvm::make_early_inc_range(reflect->users())) {
    auto *call = dyn_cast<CallInst>(user);
    StringRef question;
    if (!call || call->arg_size() != 1 || !getConstantStringInfo(call->getArgOperand(0), question) ||
        question != "__CUDA_PREC_SQRT")
      continue;
    call->replaceAllUsesWith(ConstantInt::get(call->getType(), 1));
    call->eraseFromParent();
  }
}

/// libdevice's `__mul24` says that its product fits 32 bits, which nvcc's own does not need: of one that is widened LLVM would make a product of
/// 64 bits.
void wrapProducts(Module &module) {
  if (Function *product = module.getFunction("__nv_mul24"))
    for (Instruction &instruction : instructions(*product))
      if (instruction.getOpcode() == Instruction::Mul)
        instruction.setHasNoSignedWrap(false);
}

/// Divides floats as nvcc's -prec-div=false has it: `div.full`, and `rcp.approx` for a reciprocal.
void divideNearly(BinaryOperator &division) {
  if (llvm::PatternMatch::match(division.getOperand(0), llvm::PatternMatch::m_FPOne())) {
    division.setHasApproxFunc(true);
    return;
  }
  DenormalMode mode = division.getFunction()->getDenormalMode(APFloat::IEEEsingle());
  IRBuilder<> builder(&division);
  Value *quotient = builder.CreateIntrinsic(
      mode.Output == DenormalMode::PreserveSign ? Intrinsic::nvvm_div_full_ftz : Intrinsic::nvvm_div_full,
      {division.getOperand(0), division.getOperand(1)});
  division.replaceAllUsesWith(quotient);
  division.eraseFromParent();
}

/// LLVM itself knows exact quotients, and those of -use_fast_math, which are 0 where a divisor is very large.
void divideNearly(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : llvm::make_early_inc_range(instructions(function))) {
      bool divides = instruction.getOpcode() == Instruction::FDiv && instruction.getType()->isFloatTy();
      if (divides && !instruction.hasApproxFunc())
        divideNearly(cast<BinaryOperator>(instruction));
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
  if (!linkNeeded(module, std::move(*library)) && collector.errors.empty())
    return reason.fail("cannot link libdevice");
  wrapProducts(module);
  if (options->exact_root)
    askForExactRoots(module);
  return reason.outcome(collector);
}

bool regrainNvptxOptimize(LLVMModuleRef moduleRef, const RegrainNvptxOptions *options, RegrainSink sink, void *user) {
  Reason reason{sink, user};
  Module &module = *unwrap(moduleRef);
  std::string error;
  auto machine = makeMachine(*options, error);
  if (!machine)
    return reason.fail(error);
  return optimize(module, *machine, options->opt_level, options->size_level, reason);
}

bool regrainNvptxEmit(LLVMModuleRef moduleRef, const RegrainNvptxOptions *options, RegrainSink sink, void *user) {
  Reason reason{sink, user};
  Module &module = *unwrap(moduleRef);
  std::string error;
  auto machine = makeMachine(*options, error);
  if (!machine)
    return reason.fail(error);
  if (options->near_quotient)
    divideNearly(module);
  return emitAssembly(module, *machine, reason);
}
