//===- pass.cpp - passes written in Rust, in MLIR's global registry -----------===//
//
// `RustPass` is an mlir::Pass whose name, options and body come from a table that the Rust side
// leaks on purpose: registrations live as long as the process.
//
//===--------------------------------------------------------------------------===//

#include "bridge.h"
#include "registry.h"
#include "sink.h"
#include "timing.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Pass.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Wrap.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/TypeID.h"

#include <deque>

using namespace mlir;

namespace {
struct Registered {
  RegrainPassDesc desc;
  TypeID id;
};

class RustPass : public Pass {
public:
  explicit RustPass(const Registered *info) : Pass(info->id, anchorOf(*info)), info(info) {
    addOptions();
  }
  RustPass(const RustPass &other) : Pass(other), info(other.info) { addOptions(); }

  StringRef getName() const override { return unwrap(info->desc.name); }
  StringRef getArgument() const override { return unwrap(info->desc.name); }
  StringRef getDescription() const override { return unwrap(info->desc.summary); }

  void getDependentDialects(DialectRegistry &registry) const override {
    for (size_t i = 0; i < info->desc.num_dialects; ++i)
      regrain_bridge::insertDialect(registry, unwrap(info->desc.dialects[i]));
  }

  LogicalResult run(OpPassManager &pipeline, Operation *op) { return runPipeline(pipeline, op); }

protected:
  void runOnOperation() override {
    std::vector<std::string> owned;
    owned.reserve(options.size());
    for (const auto &option : options)
      owned.push_back(option.getValue());
    std::vector<MlirStringRef> values;
    for (const std::string &value : owned)
      values.push_back(wrap(StringRef(value)));
    if (!info->desc.run(info->desc.info, wrap(getOperation()), reinterpret_cast<RegrainPass *>(this),
                        values.data(), values.size()))
      signalPassFailure();
  }
  bool canScheduleOn(RegisteredOperationName name) const override {
    return !getOpName() || name.getStringRef() == *getOpName();
  }
  bool canScheduleOn(Operation *op) const override {
    return !getOpName() || op->getName().getStringRef() == *getOpName();
  }
  std::unique_ptr<Pass> clonePass() const override { return std::make_unique<RustPass>(*this); }

private:
  static std::optional<StringRef> anchorOf(const Registered &info) {
    StringRef anchor = unwrap(info.desc.anchor);
    return anchor.empty() ? std::nullopt : std::optional<StringRef>(anchor);
  }
  void addOptions() {
    for (size_t i = 0; i < info->desc.num_options; ++i) {
      const RegrainPassOption &option = info->desc.options[i];
      options.emplace_back(*this, unwrap(option.name), llvm::cl::desc(unwrap(option.description)),
                           llvm::cl::init(unwrap(option.value).str()));
    }
  }

  const Registered *info;
  std::deque<Option<std::string>> options;
};

const Registered *remember(const RegrainPassDesc &desc) {
  static TypeIDAllocator ids;
  static std::deque<Registered> all;
  all.push_back({desc, ids.allocate()});
  return &all.back();
}
} // namespace

void regrainRegisterPass(const RegrainPassDesc *desc) {
  const Registered *info = remember(*desc);
  registerPass([info]() -> std::unique_ptr<Pass> { return std::make_unique<RustPass>(info); });
}

void regrainRegisterPipeline(MlirStringRef name, MlirStringRef summary, MlirStringRef text) {
  std::string passes = unwrap(text).str();
  registerPassPipeline(
      unwrap(name), unwrap(summary),
      [passes](OpPassManager &manager, StringRef options,
               function_ref<LogicalResult(const Twine &)> error) -> LogicalResult {
        if (!options.empty())
          return error("this pipeline takes no options");
        std::string reason;
        llvm::raw_string_ostream out(reason);
        if (failed(parsePassPipeline(passes, manager, out)))
          return error(reason);
        return success();
      },
      [](function_ref<void(const detail::PassOptions &)>) {});
}

static bool parseOn(OpPassManager &manager, StringRef text, RegrainSink sink, void *user) {
  std::string reason;
  llvm::raw_string_ostream out(reason);
  if (succeeded(parsePassPipeline(text, manager, out)))
    return true;
  return regrain_bridge::fail(reason, sink, user);
}

static RegrainOutcome outcome(LogicalResult result) {
  return succeeded(result) ? RegrainOutcomeDone : RegrainOutcomeFailed;
}

RegrainOutcome regrainPassRunPipeline(RegrainPass *pass, MlirOperation op, MlirStringRef text, RegrainSink sink,
                                      void *user) {
  Operation *root = unwrap(op);
  OpPassManager manager(root->getName().getStringRef());
  if (!parseOn(manager, unwrap(text), sink, user))
    return RegrainOutcomeNotParsed;
  return outcome(reinterpret_cast<RustPass *>(pass)->run(manager, root));
}

RegrainOutcome regrainRunPipeline(MlirOperation op, MlirStringRef text, bool verify, RegrainSink sink, void *user) {
  Operation *root = unwrap(op);
  PassManager manager(root->getContext(), root->getName().getStringRef());
  manager.enableVerifier(verify);
  regrain_bridge::timePasses(manager);
  if (!parseOn(manager, unwrap(text), sink, user))
    return RegrainOutcomeNotParsed;
  return outcome(manager.run(root));
}
