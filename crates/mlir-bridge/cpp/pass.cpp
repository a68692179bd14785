//===- pass.cpp - passes written in Rust, in MLIR's global registry -----------===//
//
// `RustPass` is an mlir::Pass whose name, options and body come from a table that the Rust side
// leaks on purpose: registrations live as long as the process.
//
//===--------------------------------------------------------------------------===//

#include "bridge.h"

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

extern "C" {
struct RegrainPassOption {
  MlirStringRef name, value, description;
};
struct RegrainPassDesc {
  MlirStringRef name, summary;
  MlirStringRef anchor; // empty: any operation
  const RegrainPassOption *options;
  size_t numOptions;
  const MlirStringRef *dialects;
  size_t numDialects;
  const void *rust;
};
/// Runs the pass; false on failure. `values` holds one string for each option.
bool regrainRustRunPass(const void *rust, MlirOperation op, void *pass, const MlirStringRef *values,
                        size_t numValues);
}

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
    for (size_t i = 0; i < info->desc.numDialects; ++i)
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
    if (!regrainRustRunPass(info->desc.rust, wrap(getOperation()), this, values.data(),
                            values.size()))
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
    for (size_t i = 0; i < info->desc.numOptions; ++i) {
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

/// Puts a pass into the global registry. The memory that `desc` points at must never be freed.
extern "C" void regrainRegisterPass(const RegrainPassDesc *desc) {
  const Registered *info = remember(*desc);
  registerPass([info]() -> std::unique_ptr<Pass> { return std::make_unique<RustPass>(info); });
}

/// Puts a named pipeline (text of its passes) into the global registry.
extern "C" void regrainRegisterPipeline(MlirStringRef name, MlirStringRef summary,
                                        MlirStringRef text) {
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
  sink(reason.data(), reason.size(), user);
  return false;
}

/// Runs the passes `text` (without anchor) on `op`, from inside a running pass.
/// Returns 0 on success, 1 if the text does not parse (message to sink), 2 if a pass failed.
extern "C" int regrainPassRunPipeline(void *pass, MlirOperation op, MlirStringRef text,
                                      RegrainSink sink, void *user) {
  Operation *root = unwrap(op);
  OpPassManager manager(root->getName().getStringRef());
  if (!parseOn(manager, unwrap(text), sink, user))
    return 1;
  return succeeded(static_cast<RustPass *>(pass)->run(manager, root)) ? 0 : 2;
}

/// Runs the passes `text` (without anchor) on `op`; same results as above.
extern "C" int regrainRunPipeline(MlirOperation op, MlirStringRef text, bool verify, RegrainSink sink,
                                  void *user) {
  Operation *root = unwrap(op);
  PassManager manager(root->getContext(), root->getName().getStringRef());
  manager.enableVerifier(verify);
  if (!parseOn(manager, unwrap(text), sink, user))
    return 1;
  return succeeded(manager.run(root)) ? 0 : 2;
}
