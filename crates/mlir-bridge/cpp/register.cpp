//===- register.cpp - dialects and upstream passes ----------------------------===//
//
// One place that says which dialects, extensions and translations a context of ours knows.
//
//===--------------------------------------------------------------------------===//

#include "bridge.h"
#include "registry.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"

#include <mutex>
#include <vector>

using namespace mlir;

/// The dialects of `regrainAddDialect`. Threads may add and read at the same time.
class ExtraDialects {
public:
  void add(MlirDialectHandle handle) {
    std::lock_guard<std::mutex> guard(lock);
    if (llvm::none_of(handles, [&](MlirDialectHandle known) { return known.ptr == handle.ptr; }))
      handles.push_back(handle);
  }
  std::vector<MlirDialectHandle> list() {
    std::lock_guard<std::mutex> guard(lock);
    return handles;
  }

private:
  std::mutex lock;
  std::vector<MlirDialectHandle> handles;
};

static ExtraDialects &extraDialects() {
  static ExtraDialects dialects;
  return dialects;
}

static StringRef namespaceOf(MlirDialectHandle handle) {
  MlirStringRef name = mlirDialectHandleGetNamespace(handle);
  return StringRef(name.data, name.length);
}

void regrain_bridge::fillRegistry(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerAllToLLVMIRTranslations(registry);
  registerAllFromLLVMIRTranslations(registry);
  for (MlirDialectHandle handle : extraDialects().list())
    mlirDialectHandleInsertDialect(handle, wrap(&registry));
}

bool regrain_bridge::insertDialect(DialectRegistry &registry, StringRef name) {
  for (MlirDialectHandle handle : extraDialects().list()) {
    if (namespaceOf(handle) == name) {
      mlirDialectHandleInsertDialect(handle, wrap(&registry));
      return true;
    }
  }
  static DialectRegistry *all = [] {
    auto *made = new DialectRegistry;
    registerAllDialects(*made);
    return made;
  }();
  DialectAllocatorFunctionRef allocator = all->getDialectAllocator(name);
  if (!allocator)
    return false;
  // The type id is only compared with earlier insertions of the same name: load the dialect in a
  // scratch context once to learn it.
  static std::mutex lock;
  static llvm::StringMap<TypeID> ids;
  std::lock_guard<std::mutex> guard(lock);
  auto known = ids.find(name);
  if (known == ids.end()) {
    MLIRContext scratch(*all, MLIRContext::Threading::DISABLED);
    Dialect *dialect = scratch.getOrLoadDialect(name);
    known = ids.try_emplace(name, dialect->getTypeID()).first;
  }
  std::string owned = name.str();
  registry.insert(known->second, owned,
                  [owned](MLIRContext *context) { return all->getDialectAllocator(owned)(context); });
  return true;
}

void regrainAddDialect(MlirDialectHandle handle) {
  extraDialects().add(handle);
}

void regrainFillRegistry(MlirDialectRegistry registry) {
  regrain_bridge::fillRegistry(*unwrap(registry));
}

void regrainInsertExtraDialects(MlirDialectRegistry registry) {
  for (MlirDialectHandle handle : extraDialects().list())
    mlirDialectHandleInsertDialect(handle, registry);
}

void regrainRegisterUpstreamPasses() {
  static std::once_flag once;
  std::call_once(once, [] { registerAllPasses(); });
}
