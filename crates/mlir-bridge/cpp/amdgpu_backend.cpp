// LLVM's AMDGPU back end, driven as clang drives it for HIP: device libraries linked before the optimisations and
// internalised, the standard pipeline built with the target machine. Contraction is what the instructions allow: the
// device libraries count on operations that are not.

#include "gpu_backend.h"

#include "llvm-c/TargetMachine.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

#include <mutex>

using namespace llvm;
using namespace regrain_bridge;

extern "C" {
void LLVMInitializeAMDGPUTargetInfo(void);
void LLVMInitializeAMDGPUTarget(void);
void LLVMInitializeAMDGPUTargetMC(void);
void LLVMInitializeAMDGPUAsmPrinter(void);
void LLVMInitializeAMDGPUAsmParser(void);
}

namespace {

const char *const TRIPLE = "amdgcn-amd-amdhsa";

const Target *findTarget(std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUAsmParser();
  });
  return TargetRegistry::lookupTarget(Triple(TRIPLE), error);
}

// Whether the module's own code flushes denormal floats.
bool flushesDenormals(const Module &module) {
  return any_of(module, [](const Function &function) {
    return function.getFnAttribute("denormal-fp-math-f32").getValueAsString().starts_with("preserve-sign");
  });
}

// Gives the constants that device libraries ask for their values.
void defineConstants(Module &module, ArrayRef<RegrainAmdgpuConstant> constants) {
  for (const RegrainAmdgpuConstant &constant : constants) {
    GlobalVariable *variable = module.getNamedGlobal(constant.name);
    if (!variable || !variable->isDeclaration() || !variable->getValueType()->isIntegerTy())
      continue;
    uint64_t value = constant.value;
    if (variable->getName() == "__oclc_daz_opt")
      value = flushesDenormals(module);
    variable->setInitializer(ConstantInt::get(variable->getValueType(), value));
    variable->setConstant(true);
    variable->setVisibility(GlobalValue::DefaultVisibility);
    variable->setLinkage(GlobalValue::InternalLinkage);
  }
}

// A function that is declared with pointers of some address space, which the library takes as flat ones, gets a body that
// casts them and calls the library's.
void wrapDeclarations(Module &module, const Module &library) {
  for (Function &declared : make_early_inc_range(module)) {
    const Function *theirs = library.getFunction(declared.getName());
    if (!declared.isDeclaration() || !theirs || theirs->isIntrinsic())
      continue;
    FunctionType *from = declared.getFunctionType(), *to = theirs->getFunctionType();
    auto castable = [](Type *a, Type *b) { return a == b || (a->isPointerTy() && b->isPointerTy()); };
    if (from == to || from->getNumParams() != to->getNumParams() || from->getReturnType() != to->getReturnType() ||
        !std::equal(from->param_begin(), from->param_end(), to->param_begin(), castable))
      continue;
    std::string name = declared.getName().str();
    declared.setName(name + ".flat");
    declared.setLinkage(GlobalValue::InternalLinkage);
    declared.setAttributes(AttributeList());
    declared.addFnAttr(Attribute::AlwaysInline);
    FunctionCallee callee = module.getOrInsertFunction(name, to);
    IRBuilder<> builder(BasicBlock::Create(module.getContext(), "", &declared));
    SmallVector<Value *, 8> arguments;
    for (auto [argument, type] : zip(declared.args(), to->params()))
      arguments.push_back(argument.getType() == type ? &argument : builder.CreateAddrSpaceCast(&argument, type));
    CallInst *call = builder.CreateCall(callee, arguments);
    if (to->getReturnType()->isVoidTy())
      builder.CreateRetVoid();
    else
      builder.CreateRet(call);
  }
}

// What assembling needs, alive as long as the streamer.
struct Assembler {
  MCTargetOptions options;
  std::unique_ptr<MCRegisterInfo> registers;
  std::unique_ptr<MCAsmInfo> info;
  std::unique_ptr<MCInstrInfo> instructions;
  std::unique_ptr<MCSubtargetInfo> subtarget;
  std::unique_ptr<MCObjectFileInfo> sections;
  SourceMgr sources;
  std::unique_ptr<MCContext> context;
};

} // namespace

std::unique_ptr<TargetMachine> regrain_bridge::makeAmdgpuMachine(const RegrainAmdgpuOptions &options, std::string &error) {
  const Target *target = findTarget(error);
  if (!target)
    return nullptr;
  TargetOptions targetOptions;
  targetOptions.AllowFPOpFusion = FPOpFusion::Standard;
  targetOptions.MCOptions.AsmVerbose = true; // registers and occupancy stand in comments
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(Triple(TRIPLE), options.cpu, options.features,
                                                                     targetOptions, Reloc::PIC_, std::nullopt,
                                                                     codegenLevel(options.opt_level)));
  if (!machine)
    error = "cannot make an AMDGPU target machine";
  return machine;
}

bool regrainAmdgpuLink(LLVMModuleRef moduleRef, const RegrainAmdgpuOptions *options, MlirStringRef bitcode,
                       const RegrainAmdgpuConstant *constants, size_t num_constants, RegrainSink sink, void *user) {
  Reason reason{sink, user};
  Module &module = *unwrap(moduleRef);
  std::string error;
  auto machine = makeAmdgpuMachine(*options, error);
  if (!machine)
    return reason.fail(error);
  prepare(module, *machine);
  regrainForgetWideCharacters(moduleRef);
  ErrorCollector collector(module.getContext());
  auto buffer = MemoryBuffer::getMemBuffer(StringRef(bitcode.data, bitcode.length), "library", false);
  auto library = getLazyBitcodeModule(buffer->getMemBufferRef(), module.getContext());
  if (!library)
    return reason.fail(toString(library.takeError()));
  wrapDeclarations(module, **library);
  if (!linkNeeded(module, std::move(*library)) && collector.errors.empty())
    return reason.fail("cannot link a device library");
  defineConstants(module, ArrayRef(constants, num_constants));
  // The runtime sets where output goes.
  if (GlobalVariable *output = module.getNamedGlobal("__regrain_output"); output && !output->isDeclaration()) {
    output->setLinkage(GlobalValue::ExternalLinkage);
    output->setVisibility(GlobalValue::ProtectedVisibility);
  }
  // Nothing sets shared memory before a kernel runs, whatever C says.
  for (GlobalVariable &variable : module.globals())
    if (variable.getAddressSpace() == 3 && variable.hasInitializer())
      variable.setInitializer(PoisonValue::get(variable.getValueType()));
  return reason.outcome(collector);
}

bool regrainAmdgpuOptimize(LLVMModuleRef moduleRef, const RegrainAmdgpuOptions *options, RegrainSink sink, void *user) {
  Reason reason{sink, user};
  std::string error;
  auto machine = makeAmdgpuMachine(*options, error);
  if (!machine)
    return reason.fail(error);
  return optimize(*unwrap(moduleRef), *machine, options->opt_level, options->size_level, reason);
}

bool regrainAmdgpuEmit(LLVMModuleRef moduleRef, const RegrainAmdgpuOptions *options, RegrainSink sink, void *user) {
  Reason reason{sink, user};
  std::string error;
  auto machine = makeAmdgpuMachine(*options, error);
  if (!machine)
    return reason.fail(error);
  return emitAssembly(*unwrap(moduleRef), *machine, reason);
}

bool regrainAmdgpuAssemble(MlirStringRef text, const RegrainAmdgpuOptions *options, RegrainSink sink, void *user) {
  Reason reason{sink, user};
  std::string error;
  const Target *target = findTarget(error);
  if (!target)
    return reason.fail(error);
  Triple triple(TRIPLE);
  Assembler with;
  std::string said;
  auto keep = [](const SMDiagnostic &diagnostic, void *context) {
    raw_string_ostream stream(*static_cast<std::string *>(context));
    diagnostic.print(nullptr, stream, /*ShowColors=*/false);
  };
  with.sources.setDiagHandler(keep, &said);
  with.sources.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(StringRef(text.data, text.length), "assembly"),
                                  SMLoc());
  with.registers.reset(target->createMCRegInfo(triple));
  with.info.reset(target->createMCAsmInfo(*with.registers, triple, with.options));
  with.instructions.reset(target->createMCInstrInfo());
  with.subtarget.reset(target->createMCSubtargetInfo(triple, options->cpu, options->features));
  with.context = std::make_unique<MCContext>(triple, with.info.get(), with.registers.get(), with.subtarget.get(),
                                             &with.sources, &with.options);
  with.sections.reset(target->createMCObjectFileInfo(*with.context, /*PIC=*/true));
  with.context->setObjectFileInfo(with.sections.get());

  SmallVector<char, 0> object;
  raw_svector_ostream stream(object);
  MCAsmBackend *backend = target->createMCAsmBackend(*with.subtarget, *with.registers, with.options);
  std::unique_ptr<MCStreamer> streamer(target->createMCObjectStreamer(
      triple, *with.context, std::unique_ptr<MCAsmBackend>(backend), backend->createObjectWriter(stream),
      std::unique_ptr<MCCodeEmitter>(target->createMCCodeEmitter(*with.instructions, *with.context)),
      *with.subtarget));
  std::unique_ptr<MCAsmParser> parser(createMCAsmParser(with.sources, *with.context, *streamer, *with.info));
  std::unique_ptr<MCTargetAsmParser> syntax(
      target->createMCAsmParser(*with.subtarget, *parser, *with.instructions, with.options));
  if (!syntax)
    return reason.fail("LLVM has no assembler for AMDGPU");
  parser->setTargetParser(*syntax);
  if (parser->Run(/*NoInitialTextSection=*/false) || with.context->hadError())
    return reason.fail(said.empty() ? "the assembly is not accepted" : said);
  return succeed(stream.str(), sink, user);
}
