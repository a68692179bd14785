//===- timing.cpp - where time goes (`-ftime-report`) ----------------------------===//

#include "timing.h"

#include "bridge.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Analysis/LazyCallGraph.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IR/PassTimingInfo.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"

#include <atomic>
#include <ctime>
#include <mutex>

using namespace llvm;

namespace {

struct Frame {
  double start;
  double inner = 0;
};

std::atomic<bool> timed = false;
std::mutex guard;
StringMap<StringMap<double>> table;
thread_local StringMap<std::vector<Frame>> open;

double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

constexpr StringLiteral LLVM_PASSES = "passes of LLVM";
constexpr StringLiteral LLVM_FUNCTIONS = "functions in LLVM's passes";
constexpr StringLiteral MLIR_PASSES = "passes on the parallel form";

std::string unitName(const Any &unit) {
  if (const auto *function = any_cast<const Function *>(&unit))
    return (*function)->getName().str();
  if (const auto *loop = any_cast<const Loop *>(&unit))
    return (*loop)->getHeader()->getParent()->getName().str();
  if (const auto *component = any_cast<const LazyCallGraph::SCC *>(&unit))
    return (*component)->size() ? (*component)->begin()->getFunction().getName().str() : "";
  return "(module)";
}

struct TimedPasses : mlir::PassInstrumentation {
  void runBeforePass(mlir::Pass *, mlir::Operation *) override { regrain_bridge::enter(MLIR_PASSES); }
  void runAfterPass(mlir::Pass *pass, mlir::Operation *) override {
    regrain_bridge::leave(MLIR_PASSES, pass->getArgument().empty() ? pass->getName() : pass->getArgument());
  }
  void runAfterPassFailed(mlir::Pass *pass, mlir::Operation *op) override { runAfterPass(pass, op); }
};

} // namespace

bool regrain_bridge::isTimed() { return timed; }

void regrain_bridge::enter(StringRef section) {
  if (timed)
    open[section].push_back({now()});
}

void regrain_bridge::leave(StringRef section, StringRef name) {
  if (!timed || open[section].empty())
    return;
  std::vector<Frame> &frames = open[section];
  Frame frame = frames.back();
  frames.pop_back();
  double taken = now() - frame.start;
  if (!frames.empty())
    frames.back().inner += taken;
  std::scoped_lock lock(guard);
  table[section][name] += taken - frame.inner;
}

void regrain_bridge::timePasses(PassInstrumentationCallbacks &callbacks) {
  if (!timed)
    return;
  auto before = [](StringRef, Any) {
    enter(LLVM_PASSES);
    enter(LLVM_FUNCTIONS);
  };
  auto after = [](StringRef name, const std::string &unit) {
    leave(LLVM_PASSES, name);
    leave(LLVM_FUNCTIONS, unit);
  };
  callbacks.registerBeforeNonSkippedPassCallback(before);
  callbacks.registerAfterPassCallback(
      [after](StringRef name, Any unit, const PreservedAnalyses &) { after(name, unitName(unit)); });
  callbacks.registerAfterPassInvalidatedCallback(
      [after](StringRef name, const PreservedAnalyses &) { after(name, "(removed)"); });
  callbacks.registerBeforeAnalysisCallback(before);
  callbacks.registerAfterAnalysisCallback([after](StringRef name, Any unit) { after(name, unitName(unit)); });
}

void regrain_bridge::timePasses(mlir::PassManager &manager) {
  if (timed)
    manager.addInstrumentation(std::make_unique<TimedPasses>());
}

void regrainTimingStart() {
  timed = true;
  TimePassesIsEnabled = true;
}

void regrainTimingAdd(MlirStringRef section, MlirStringRef name, double seconds) {
  if (!timed)
    return;
  std::scoped_lock lock(guard);
  table[{section.data, section.length}][{name.data, name.length}] += seconds;
}

void regrainTimingEnter(MlirStringRef section) { regrain_bridge::enter({section.data, section.length}); }

void regrainTimingLeave(MlirStringRef section, MlirStringRef name) {
  regrain_bridge::leave({section.data, section.length}, {name.data, name.length});
}

void regrainTimingReport(RegrainSink sink, void *user) {
  std::string text;
  raw_string_ostream out(text);
  {
    std::scoped_lock lock(guard);
    for (const auto &section : table)
      for (const auto &row : section.second)
        out << section.first() << '\t' << row.first() << '\t' << format("%.6f", row.second) << '\n';
  }
  reportAndResetTimings();
  sink(text.data(), text.size(), user);
}
