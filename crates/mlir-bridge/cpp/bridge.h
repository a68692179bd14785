/*===- bridge.h - what Rust may call of cpp/, in plain C ------------------------===*
 *
 * The only place where these functions are declared: each file of cpp/ includes it, and build.rs has bindgen make the
 * Rust declarations (src/ffi.rs) of it. So it is C, and of C++ and LLVM it has C API handles alone.
 *
 * Handles are those of the C APIs of MLIR and LLVM and must be live; strings are lent for the call and copied where
 * they are kept. What has a comment "owned" is to be given back by the function it names.
 *
 *===----------------------------------------------------------------------------===*/

#ifndef REGRAIN_BRIDGE_H
#define REGRAIN_BRIDGE_H

#include "llvm-c/Types.h"
#include "llvm-c/TargetMachine.h"
#include "mlir-c/IR.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Takes bytes, perhaps in several calls; `user` is the caller's own. */
typedef void (*RegrainSink)(const char *data, size_t size, void *user);

/*===----------------------------------------------------------------------------===*
 * register.cpp: dialects and upstream passes
 *===----------------------------------------------------------------------------===*/

/* Adds a dialect to those of every registry that is filled later. */
void regrainAddDialect(MlirDialectHandle handle);
/* Inserts every dialect, extension and translation of LLVM IR that we use, and those of `regrainAddDialect`. */
void regrainFillRegistry(MlirDialectRegistry registry);
/* Inserts the dialects of `regrainAddDialect` alone: for a plugin, whose host tool has the others. */
void regrainInsertExtraDialects(MlirDialectRegistry registry);
/* Registers all passes of MLIR, once. */
void regrainRegisterUpstreamPasses(void);

/*===----------------------------------------------------------------------------===*
 * pass.cpp: passes written in Rust
 *===----------------------------------------------------------------------------===*/

/* A running pass. */
typedef struct RegrainPass RegrainPass;

/* Runs a pass on `op`; false on failure. `info` is that of the description; there is one of `values` for each option. */
typedef bool (*RegrainPassRun)(const void *info, MlirOperation op, RegrainPass *pass, const MlirStringRef *values,
                               size_t num_values);

typedef struct RegrainPassOption {
  MlirStringRef name;
  MlirStringRef value; /* what it is where a pipeline does not say */
  MlirStringRef description;
} RegrainPassOption;

typedef struct RegrainPassDesc {
  MlirStringRef name;
  MlirStringRef summary;
  MlirStringRef anchor; /* name of the operation; empty: any */
  const RegrainPassOption *options;
  size_t num_options;
  const MlirStringRef *dialects;
  size_t num_dialects;
  RegrainPassRun run;
  const void *info;
} RegrainPassDesc;

/* How running a pipeline ended. */
typedef enum RegrainOutcome {
  RegrainOutcomeDone,
  RegrainOutcomeNotParsed, /* the reason went to the sink */
  RegrainOutcomeFailed     /* diagnostics were emitted */
} RegrainOutcome;

/* Puts a pass into the global registry. What `desc` points at must never be freed; `desc` itself is copied. */
void regrainRegisterPass(const RegrainPassDesc *desc);
/* Puts a named pipeline (text of its passes) into the global registry. */
void regrainRegisterPipeline(MlirStringRef name, MlirStringRef summary, MlirStringRef text);
/* Runs the passes `text` (without anchor) on `op`, which is that of the running pass or nested in it. */
RegrainOutcome regrainPassRunPipeline(RegrainPass *pass, MlirOperation op, MlirStringRef text, RegrainSink sink,
                                      void *user);
/* Runs the passes `text` (without anchor) on `op`. */
RegrainOutcome regrainRunPipeline(MlirOperation op, MlirStringRef text, bool verify, RegrainSink sink, void *user);

/*===----------------------------------------------------------------------------===*
 * llvm.cpp, extract_kernel.cpp, parts.cpp: LLVM IR in and out
 *===----------------------------------------------------------------------------===*/

/* Imports LLVM IR (text or bitcode) as an owned module. Null on failure; an error of the text goes to the sink, errors
 * of the translation to the context's diagnostic handlers. */
MlirOperation regrainImportLLVM(MlirContext context, MlirStringRef bytes, MlirStringRef name, RegrainSink sink,
                                void *user);
/* Exports a module as bitcode to the sink. On failure diagnostics were emitted. */
bool regrainExportLLVM(MlirOperation module, MlirStringRef name, RegrainSink sink, void *user);
/* Gives the sink the bitcode of a module with function `name`, what it reaches, and all variables; false on failure,
 * and the sink gets the reason. */
bool regrainExtractKernel(MlirStringRef bitcode, MlirStringRef name, RegrainSink sink, void *user);
/* Says of the functions of a module which part they are in, of at most `most` of some `least` instructions each, and makes what parts
 * have of one another hidden symbols with `unit` in their names. Gives the number of parts; 1 if nothing was done. */
unsigned regrainMarkParts(LLVMModuleRef module, MlirStringRef unit, uint64_t least, unsigned most);
/* Reads a part of such a module; null on failure, and the sink gets the reason. */
LLVMModuleRef regrainReadPart(LLVMContextRef context, MlirStringRef bitcode, unsigned part, RegrainSink sink, void *user);

/*===----------------------------------------------------------------------------===*
 * checks.cpp, debug_info.cpp, clone_function.cpp, float_flags.cpp, shared_indices.cpp, single_thread_atomics.cpp, unroll_arrays.cpp,
 * known_arguments.cpp: functions and their instructions
 *===----------------------------------------------------------------------------===*/

/* Gives an `llvm.func` a subprogram of its own if its operations have one of another function. */
void regrainScopeDebugInfo(MlirOperation function);
/* Leaves line tables of a module's debug information. */
void regrainKeepLineTables(LLVMModuleRef module);
/* Leaves all of it, with CUDA's variables of a thread in each function. */
void regrainKeepVariables(LLVMModuleRef module);
/* Gives a global variable what is said of another one for debuggers. */
void regrainCopyVariableInfo(LLVMValueRef to, LLVMValueRef from);
/* Takes from a module what it says of the width of wchar_t. */
void regrainForgetWideCharacters(LLVMModuleRef module);
/* A copy of a function definition in the same module, with its attributes and metadata. */
LLVMValueRef regrainCloneFunction(LLVMValueRef function);
/* Takes the permission to contract (a*b+c to one rounding) from all operations of a function. */
void regrainForbidContraction(LLVMValueRef function);
/* Makes conversions of floating-point numbers to integers of less than 32 bits go through 32 bits with a sign. */
void regrainWidenConversions(LLVMModuleRef module, bool saturates);
/* Gives a sign to unsigned indices into shared memory that are computed by subtraction: addresses of 32 bits wrap. */
void regrainWrapSharedIndices(LLVMModuleRef module);
/* Makes functions of the device library that are given addresses by the program's code part of it (see checks.cpp). */
void regrainInlineForChecks(LLVMModuleRef module);
/* Lets a module tell a checker what is checked (`kinds`), what variables it has and, if `accesses`, of each access of its code. A place in a file
 * whose path has one of `headers`, one a line, is that of the caller. */
void regrainInsertChecks(LLVMModuleRef module, MlirStringRef unit, MlirStringRef headers, unsigned kinds, bool accesses);
/* Contracts what a sum of each expression takes in, as clang left it, to `llvm.fmuladd`. */
void regrainContractExpressions(LLVMModuleRef module);
/* Makes loads and stores of atomic operations of scope `singlethread`. */
void regrainLowerSingleThreadAtomics(LLVMModuleRef module);
/* Unrolls the loops that count up the addresses in arrays of a function, where that makes all of them constant and takes at
 * most `limit` instructions; none with a call whose name begins with, or whose assembly contains, one of `barriers`.
 * Whether any was. */
bool regrainUnrollArrays(LLVMModuleRef module, const MlirStringRef *barriers, size_t num_barriers, uint64_t limit);
/* Makes a device module one that a program loads while it runs: what it wants of the runtime stands in a table
 * beside its image, whose name is given (see loaded.cpp). */
void regrainTakeFromProgram(LLVMModuleRef module, MlirStringRef image);
/* Leaves a declaration of a function. */
void regrainForgetBody(LLVMValueRef function);
bool regrainInlineCall(LLVMValueRef call);
/* Makes constants of the integer arguments of calls of `callee` that branches before the call know, or what they are
 * computed of. */
void regrainKnowArguments(LLVMModuleRef module, MlirStringRef callee);

/*===----------------------------------------------------------------------------===*
 * regions.cpp: loop nests of a host module as functions of their own
 *===----------------------------------------------------------------------------===*/

/* Makes functions of the nests that may run in parallel, those alone that stand in `scops` of the source at `path` if there are any
 * (`FIRST LAST` for each, lines). The sink gets a line for each, its fields divided by tabs: `region`, name, file, line, for each
 * parameter a number of its object or 0, `NAME=NUMBER` for variables, `repeated` if it may be called again, nothing; `group`, the same of a function that calls several,
 * their names at the end; or `not` (a loop), `scop`, file, line, reason. */
void regrainOutlineRegions(LLVMModuleRef module, MlirStringRef path, MlirStringRef scops, RegrainSink sink, void *user);
/* Puts the bodies of private functions that a function calls in place of the calls. */
void regrainInlineMembers(LLVMValueRef function);
/* Calls `begin` before loops of the host that call functions of `names`, a line each, and access no memory beside, and `end` behind them; how many. */
unsigned regrainMarkResident(LLVMModuleRef module, MlirStringRef names, LLVMValueRef begin, LLVMValueRef end);
/* Takes all debug information from a module. */
void regrainStripDebugInfo(LLVMModuleRef module);

/*===----------------------------------------------------------------------------===*
 * managed.cpp: managed variables, which are annotated by `mark`
 *===----------------------------------------------------------------------------===*/

/* The sink gets a line FILE:LINE for each of a module. */
bool regrainFindManaged(LLVMModuleRef module, const char *mark, RegrainSink sink, void *user);
/* Puts the managed variables of device code into a section, which is kept; annotations go. */
void regrainPlaceManaged(LLVMModuleRef module, const char *mark, const char *section);
/* Lets the host's code reach managed variables by pointers that the runtime sets. False where the address of one stands in a
 * constant: the sink gets FILE:LINE of that variable. */
bool regrainManagedShadows(LLVMModuleRef module, const char *mark, RegrainSink sink, void *user);

/*===----------------------------------------------------------------------------===*
 * small_pointers.cpp: pointers of 32 bits on a host with 64
 *===----------------------------------------------------------------------------===*/

/* Makes what is done with pointers of address space `space`, which have 32 bits and the null pointer -1, right for the
 * layout of a host with pointers of 64 bits. `near` is a global within 2 GiB of all memory of the space; null: that is the
 * stack. False: the sink gets what has no counterpart. */
bool regrainWidenPointers(LLVMModuleRef module, unsigned space, LLVMValueRef near, RegrainSink sink, void *user);

/*===----------------------------------------------------------------------------===*
 * lift.cpp: branches to structured control flow
 *===----------------------------------------------------------------------------===*/

/* Lifts one `llvm.func`. True: its body is structured. Else the function is as it was, and the sink gets the reason. */
bool regrainLiftControlFlow(MlirOperation function, RegrainSink reason, void *user);

/*===----------------------------------------------------------------------------===*
 * ir.cpp: what MLIR's C API lacks
 *===----------------------------------------------------------------------------===*/

/* MLIR's IRMapping; owned, `regrainMappingDestroy`. Look-ups give null for what is not there. */
typedef struct RegrainMapping RegrainMapping;
RegrainMapping *regrainMappingCreate(void);
void regrainMappingDestroy(RegrainMapping *mapping);
RegrainMapping *regrainMappingClone(const RegrainMapping *mapping);
void regrainMappingMapValue(RegrainMapping *mapping, MlirValue from, MlirValue to);
void regrainMappingMapBlock(RegrainMapping *mapping, MlirBlock from, MlirBlock to);
MlirValue regrainMappingLookupValue(const RegrainMapping *mapping, MlirValue from);
MlirBlock regrainMappingLookupBlock(const RegrainMapping *mapping, MlirBlock from);
MlirOperation regrainMappingLookupOp(const RegrainMapping *mapping, MlirOperation from);
/* A detached copy, owned; `regions` says whether with what is in its regions. */
MlirOperation regrainCloneOp(MlirOperation op, RegrainMapping *mapping, bool regions);
void regrainCloneRegionInto(MlirRegion from, MlirRegion to, RegrainMapping *mapping);

/* Moves the operations from `first` to the end of its block (or up to, without, `last`) into `to`, before `before` or
 * at the end. */
void regrainSpliceOps(MlirOperation first, MlirOperation last, MlirBlock to, MlirOperation before);
/* The operation before `op` in its block; null for the first. */
MlirOperation regrainPrevOp(MlirOperation op);
/* Moves all blocks of `from` to the end of `to`. */
void regrainMoveBlocks(MlirRegion from, MlirRegion to);
/* Splits the block before `at`; the new block holds `at` and what follows. */
MlirBlock regrainSplitBlock(MlirOperation at);
void regrainMoveBlockBefore(MlirBlock block, MlirBlock before);
void regrainDropAllReferences(MlirOperation op);
void regrainInsertOperands(MlirOperation op, uint32_t index, size_t num_values, const MlirValue *values);
void regrainEraseOperands(MlirOperation op, uint32_t index, uint32_t length);
MlirOperation regrainRegionParent(MlirRegion region);

/* Questions about one operation. */
typedef enum RegrainQuery {
  RegrainQueryTerminator,
  RegrainQueryPure,
  RegrainQueryMemoryEffectFree,
  RegrainQuerySpeculatable,
  RegrainQueryIsolatedFromAbove,
  RegrainQuerySymbol,
  RegrainQuerySymbolTable,
  RegrainQueryTriviallyDead,
  RegrainQueryRegistered,
  RegrainQueryRecursiveEffects
} RegrainQuery;
bool regrainQuery(MlirOperation op, RegrainQuery query);
/* The overflow flags of an integer operation: 1 for nsw, 2 for nuw. */
uint32_t regrainOverflowFlags(MlirOperation op);
/* The fast-math flags of a floating-point operation: 1 where it may be contracted, 2 for any other flag, 4 where its order may change, 8
 * where no operand is taken for NaN or for a zero with a sign, 16 where a function may be another one that is close to it. */
uint32_t regrainFastMathFlags(MlirOperation op);
/* LLVM's number of the calling convention that an attribute is, or -1. */
int64_t regrainCallingConvention(MlirAttribute attr);

typedef enum RegrainEffect {
  RegrainEffectRead,
  RegrainEffectWrite,
  RegrainEffectAllocate,
  RegrainEffectFree
} RegrainEffect;
/* Takes one memory effect; the value is null where the effect is on the whole resource. */
typedef void (*RegrainEffectSink)(RegrainEffect effect, MlirValue value, MlirStringRef resource, void *user);
/* Reports the effects of `op` and its regions; false if they are not known. */
bool regrainEffects(MlirOperation op, RegrainEffectSink sink, void *user);

/* MLIR's DominanceInfo; owned, `regrainDominanceDestroy`. */
typedef struct RegrainDominance RegrainDominance;
RegrainDominance *regrainDominanceCreate(MlirOperation root);
void regrainDominanceDestroy(RegrainDominance *info);
/* Whether a value may be used by an operation, and whether `a` properly dominates `b`. */
bool regrainValueDominates(const RegrainDominance *info, MlirValue value, MlirOperation op);
bool regrainOpDominates(const RegrainDominance *info, MlirOperation a, MlirOperation b);

bool regrainIsLLVMFunctionType(MlirType type);
bool regrainIsVarArg(MlirType type);
/* Number of elements of an llvm array, or -1. */
int64_t regrainLLVMArrayLength(MlirType type);
/* Size (with tail padding) and ABI alignment in bytes by the data layout that holds at `op`. */
void regrainTypeLayout(MlirOperation op, MlirType type, uint64_t *size, uint64_t *alignment);

/*===----------------------------------------------------------------------------===*
 * ir.cpp: diagnostics and parsing
 *===----------------------------------------------------------------------------===*/

typedef enum RegrainSeverity {
  RegrainSeverityNote,
  RegrainSeverityWarning,
  RegrainSeverityError,
  RegrainSeverityRemark
} RegrainSeverity;
/* Emits a diagnostic at `location`, with notes at other places. */
void regrainEmit(MlirLocation location, RegrainSeverity severity, MlirStringRef message, size_t num_notes,
                 const MlirLocation *note_locations, const MlirStringRef *notes);

/* Collects what a context reports as text like clang's; owned, `regrainCaptureEnd`, which gives it to the sink. */
typedef struct RegrainCapture RegrainCapture;
RegrainCapture *regrainCaptureBegin(MlirContext context);
void regrainCaptureEnd(RegrainCapture *capture, RegrainSink sink, void *user);

/* Parses a module, owned; null on failure. All diagnostics go to the sink as text, with the source line. */
MlirOperation regrainParseModule(MlirContext context, MlirStringRef source, MlirStringRef name, RegrainSink sink,
                                 void *user);

/*===----------------------------------------------------------------------------===*
 * nvptx_backend.cpp, amdgpu_adapt.cpp, amdgpu_backend.cpp, optimise.cpp: code generation and optimisation by LLVM
 *===----------------------------------------------------------------------------===*/

typedef struct RegrainNvptxOptions {
  const char *cpu;       /* as in "sm_80" */
  const char *features;  /* as in "+ptx88" */
  const char *libdevice; /* path of its bitcode, or null */
  uint32_t opt_level;    /* 0 to 3 */
  uint32_t size_level;   /* 0, 1 (-Os), 2 (-Oz) */
  uint32_t fuses;        /* whether products and sums become one operation wherever they meet */
  uint32_t exact_root;   /* whether libdevice's square root of floats is rounded as IEEE has it */
  uint32_t near_quotient; /* whether quotients of floats may be two units in the last place off */
} RegrainNvptxOptions;

/* Stages, in order; each leaves the module valid. False on failure, and the sink gets the reason. */
bool regrainNvptxLinkLibdevice(LLVMModuleRef module, const RegrainNvptxOptions *options, RegrainSink sink, void *user);
bool regrainNvptxOptimize(LLVMModuleRef module, const RegrainNvptxOptions *options, RegrainSink sink, void *user);
/* Where it succeeds, the sink gets the PTX. The module is of no use afterwards. */
bool regrainNvptxEmit(LLVMModuleRef module, const RegrainNvptxOptions *options, RegrainSink sink, void *user);

typedef struct RegrainAmdgpuOptions {
  const char *cpu;       /* as in "gfx90a" */
  const char *features;  /* as in "+wavefrontsize64" */
  uint32_t opt_level;    /* 0 to 3 */
  uint32_t size_level;   /* 0, 1 (-Os), 2 (-Oz) */
  uint32_t code_object;  /* version of the code object: 4, 5, 6 */
  uint32_t wave;         /* threads of a wave */
  uint32_t unit_simds;   /* SIMDs that the waves of one block are spread over */
  uint32_t simd_waves;   /* waves that a SIMD holds */
} RegrainAmdgpuOptions;

/* A control constant of AMD's device libraries. */
typedef struct RegrainAmdgpuConstant {
  const char *name;
  uint64_t value;
} RegrainAmdgpuConstant;

/* Makes what clang gives for NVPTX, without its intrinsics, what clang gives for AMDGPU: calling convention, address
 * spaces, attributes. False on failure, and the sink gets the reason. */
bool regrainAmdgpuAdapt(LLVMModuleRef module, const RegrainAmdgpuOptions *options, RegrainSink sink, void *user);
/* Links what the module uses of a library (bitcode) and defines the control constants that it asks for. */
bool regrainAmdgpuLink(LLVMModuleRef module, const RegrainAmdgpuOptions *options, MlirStringRef library,
                       const RegrainAmdgpuConstant *constants, size_t num_constants, RegrainSink sink, void *user);
bool regrainAmdgpuOptimize(LLVMModuleRef module, const RegrainAmdgpuOptions *options, RegrainSink sink, void *user);
/* Where it succeeds, the sink gets the assembly. The module is of no use afterwards. */
bool regrainAmdgpuEmit(LLVMModuleRef module, const RegrainAmdgpuOptions *options, RegrainSink sink, void *user);
/* Where it succeeds, the sink gets an object file made of assembly. */
bool regrainAmdgpuAssemble(MlirStringRef text, const RegrainAmdgpuOptions *options, RegrainSink sink, void *user);

/* Runs a pipeline in the textual form of `opt -passes=`; false on failure, and the sink gets the reason. */
bool regrainOptimiseForHost(LLVMModuleRef module, MlirStringRef passes, LLVMTargetMachineRef machine, RegrainSink sink,
                            void *user);
/* The vector registers of a processor: the width that code had best use, and how many there are. */
typedef struct {
  unsigned bits;
  unsigned count;
} RegrainVectorRegisters;
RegrainVectorRegisters regrainVectorRegisters(LLVMTargetMachineRef machine);
/* Whether the processor has a feature, in LLVM's words ("avx2"). */
bool regrainHasFeature(LLVMTargetMachineRef machine, MlirStringRef feature);

/*===----------------------------------------------------------------------------===*
 * timing.cpp: where time goes
 *===----------------------------------------------------------------------------===*/

/* From now on passes are measured, and what stands between `Enter` and `Leave`, in seconds of the thread's processor time. */
void regrainTimingStart(void);
void regrainTimingEnter(MlirStringRef section);
void regrainTimingLeave(MlirStringRef section, MlirStringRef name);
/* Counts what another process took. */
void regrainTimingAdd(MlirStringRef section, MlirStringRef name, double seconds);
/* The sink gets lines of section, name and seconds, with tabs between; LLVM's timers of code generation print on standard error. */
void regrainTimingReport(RegrainSink sink, void *user);

/*===----------------------------------------------------------------------------===*
 * structure.cpp: what operations are, as bytes
 *===----------------------------------------------------------------------------===*/

/* The structure of the roots and of what they reach in the module, as bytes that depend on no printed form, name of ours, location or
 * context. Attributes named in `left_out` count for nothing. */
void regrainStructure(const MlirOperation *roots, size_t num_roots, MlirOperation module, const MlirStringRef *left_out,
                      size_t num_left_out, RegrainSink sink, void *user);

/*===----------------------------------------------------------------------------===*
 * transforms.cpp: MLIR's own transformations and sets
 *===----------------------------------------------------------------------------===*/

/* Common subexpressions below an operation; whether anything changed. */
bool regrainEliminateCommonSubexpressions(MlirOperation op);
/* Moves what computes the same in every round before a loop, where it cannot fault; gives the number of operations. */
size_t regrainMoveLoopInvariantCode(MlirOperation loop);
/* Whether no integer point satisfies all inequalities. Each has a coefficient for each variable and a constant behind them; their
 * sum is not negative. */
bool regrainIsIntegerEmpty(size_t variables, const int64_t *inequalities, size_t count);

/*===----------------------------------------------------------------------------===*
 * opt.cpp: a tool
 *===----------------------------------------------------------------------------===*/

/* The main function of mlir-opt over everything that is registered; gives the process's exit code. */
int regrainOptMain(int argc, char **argv, const char *tool);

/*===----------------------------------------------------------------------------===*
 * clang.cpp: LLVM's tools, for programs that link clang and lld (the others never refer to these)
 *===----------------------------------------------------------------------------===*/

/* The main function of clang, whose path is the first argument; gives the process's exit code. */
int regrainClang(int count, const char **arguments);
/* The same of ld.lld. */
int regrainLld(int count, const char **arguments);

#ifdef __cplusplus
}
#endif

#endif
