// Modules and launches.
//
// Without STANDIN_HIP_MODULES kernels do nothing, and a module's variables are memory with what the code object says.
// With it, a module is the translation unit of a shared object that has all of its kernels, or all units of a shared
// object that have them together, where device code was linked: they are registered with
// the CPU runtime in here, as clang's host code would do it, and launched there.
#include "code_object.h"
#include "emulated.h"
#include "standin.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>

namespace {
struct Function {
  struct Module *module;
  std::string name;
  Kernel kernel;
};

// Never freed, so that a stale handle is recognised.
struct Module {
  int gpu;
  bool alive = true;
  CodeObject code;
  std::vector<const Emulated *> units;
  std::map<std::string, char *> variables; // their storage, where kernels do nothing
  std::map<std::string, std::unique_ptr<Function>> functions;
};

std::mutex guard;
std::vector<std::unique_ptr<Module>> modules;
// The CPU runtime knows a kernel by its stub, a variable by its shadow: any address that is nobody else's.
std::map<std::pair<const Emulated *, std::string>, std::unique_ptr<char>> stubs;

Module *find(const void *handle) {
  std::lock_guard<std::mutex> lock(guard);
  for (auto &module : modules)
    if (module.get() == handle && module->alive) return module.get();
  return nullptr;
}

Function *find_function(const void *handle) {
  std::lock_guard<std::mutex> lock(guard);
  for (auto &module : modules)
    for (auto &function : module->functions)
      if (function.second.get() == handle && module->alive) return function.second.get();
  return nullptr;
}

// The units of a shared object that have all kernels of a code object together.
std::vector<const Emulated *> units_together(const CodeObject &code) {
  std::map<std::string, std::vector<const Emulated *>> files;
  for (const Emulated &unit : emulated()) files[unit.file].push_back(&unit);
  for (auto &file : files) {
    bool all = true;
    for (auto &kernel : code.kernels) {
      bool held = false;
      for (const Emulated *unit : file.second) held |= unit->holds(kernel.first);
      all &= held;
    }
    if (all) return file.second;
  }
  return {};
}

// The unit that has all kernels of a code object; one that no other live module of the GPU is, if there are several.
std::vector<const Emulated *> units_of(const CodeObject &code, int gpu) {
  std::set<const Emulated *> taken;
  for (auto &module : modules)
    if (module->alive && module->gpu == gpu) taken.insert(module->units.begin(), module->units.end());
  const Emulated *found = nullptr;
  for (const Emulated &unit : emulated()) {
    bool all = true;
    for (auto &kernel : code.kernels) all &= unit.holds(kernel.first);
    if (all && (!found || taken.count(found))) found = &unit;
  }
  return found ? std::vector<const Emulated *>{found} : units_together(code);
}

char *stub(const Emulated *unit, const std::string &name) {
  auto &kept = stubs[{unit, name}];
  if (!kept) kept.reset(new char);
  return kept.get();
}

// Registers a unit with the CPU runtime, once, and gives its variables the values that they are loaded with.
void prepare(const Emulated &unit) {
  static std::set<const Emulated *> known;
  for (uint32_t i = 0; i < unit.image->num_vars; i++) {
    // Constants cannot be written, and never differ.
    void *at = unit.image->vars[i].address;
    const std::string &initial = unit.initial[i];
    if (memcmp(at, initial.data(), initial.size())) memcpy(at, initial.data(), initial.size());
  }
  if (!known.insert(&unit).second) return;
  void **handle = __cudaRegisterFatBinary(new fatbin_wrapper{0x466243b1, 1, unit.image, nullptr});
  for (uint32_t i = 0; i < unit.image->num_kernels; i++) {
    const char *name = unit.image->kernels[i].name;
    __cudaRegisterFunction(handle, stub(&unit, name), nullptr, name, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  }
  for (uint32_t i = 0; i < unit.image->num_vars; i++) {
    const regrain_cpu_var &variable = unit.image->vars[i];
    __cudaRegisterVar(handle, stub(&unit, std::string("variable ") + variable.name), nullptr, variable.name, 0,
        variable.size, 0, 0);
  }
  __cudaRegisterFatBinaryEnd(handle);
}

// Storage of the variables of a module whose kernels do nothing.
bool allocate_variables(Module &module) {
  for (auto &found : module.code.variables) {
    void *storage = nullptr;
    size_t size = found.second.size;
    if (found.second.managed ? cudaMallocManaged(&storage, size) : cudaMalloc(&storage, size)) return false;
    memset(storage, 0, size);
    memcpy(storage, found.second.initial.data(), found.second.initial.size());
    module.variables[found.first] = static_cast<char *>(storage);
  }
  return true;
}
} // namespace

void forget_modules(int gpu) {
  std::lock_guard<std::mutex> lock(guard);
  for (auto &module : modules)
    if (module->gpu == gpu) module->alive = false;
}

EXPORT Code hipModuleLoadData(void **handle, const void *bytes) {
  ON_GPU("hipModuleLoadData"); GIVEN(bytes);
  auto made = std::make_unique<Module>();
  if (!read_code_object(bytes, made->code)) MISUSE(INVALID_IMAGE, "not a code object of AMD's");
  call.text += "(" + made->code.arch + ")";
  std::string gpu = gpu_name(current_gpu);
  if (!made->code.arch.empty() && made->code.arch != gpu.substr(0, gpu.find(':'))) DONE(rocm() < 6 ? INVALID_KERNEL_FILE : NO_BINARY);
  std::lock_guard<std::mutex> lock(guard);
  made->gpu = current_gpu;
  if (*setting("STANDIN_HIP_MODULES", "")) {
    made->units = units_of(made->code, current_gpu);
    if (made->units.empty()) MISUSE(INVALID_IMAGE, "no shared object of STANDIN_HIP_MODULES has all of its kernels");
    for (const Emulated *unit : made->units) prepare(*unit);
  } else if (!allocate_variables(*made)) {
    DONE(cudaErrorMemoryAllocation);
  }
  *handle = made.get();
  modules.push_back(std::move(made));
  DONE(0);
}
EXPORT Code hipModuleUnload(void *handle) {
  BARE("hipModuleUnload");
  Module *module = find(handle);
  if (!module) MISUSE(INVALID_HANDLE, "not a live module");
  module->alive = false;
  for (auto &variable : module->variables) cudaFree(variable.second);
  DONE(0);
}
EXPORT Code hipModuleGetFunction(void **function, void *handle, const char *name) {
  ON_GPU("hipModuleGetFunction(%s)", name);
  Module *module = find(handle);
  if (!module) MISUSE(INVALID_HANDLE, "not a live module");
  if (module->gpu != current_gpu) MISUSE(INVALID_HANDLE, "a module of another GPU");
  auto kernel = module->code.kernels.find(name);
  if (kernel == module->code.kernels.end()) DONE(NOT_FOUND);
  std::lock_guard<std::mutex> lock(guard);
  auto &kept = module->functions[name];
  if (!kept) kept.reset(new Function{module, name, kernel->second});
  *function = kept.get();
  DONE(0);
}
EXPORT Code hipModuleGetGlobal(void **pointer, size_t *size, void *handle, const char *name) {
  ON_GPU("hipModuleGetGlobal(%s)", name);
  Module *module = find(handle);
  if (!module) MISUSE(INVALID_HANDLE, "not a live module");
  for (const Emulated *unit : module->units) {
    for (uint32_t i = 0; i < unit->image->num_vars; i++) {
      const regrain_cpu_var &variable = unit->image->vars[i];
      if (strcmp(variable.name, name)) continue;
      *pointer = variable.address;
      *size = variable.size;
      DONE(0);
    }
  }
  if (!module->units.empty()) DONE(NOT_FOUND);
  auto found = module->variables.find(name);
  if (found == module->variables.end()) DONE(NOT_FOUND);
  *pointer = found->second;
  *size = module->code.variables[name].size;
  DONE(0);
}
EXPORT Code hipFuncGetAttribute(int *value, unsigned which, void *handle) {
  ON_GPU("hipFuncGetAttribute(%u)", which);
  Function *function = find_function(handle);
  if (!function) MISUSE(INVALID_HANDLE, "not a live kernel");
  const Kernel &kernel = function->kernel;
  const uint32_t values[] = {kernel.threads, kernel.shared, 0, kernel.local, kernel.registers, 0, 0, 0, 65536, 0};
  if (which > 9) DONE(INVALID_VALUE);
  *value = int(values[which]);
  DONE(0);
}
EXPORT Code hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *count, void *handle, int threads,
    size_t shared, unsigned flags) {
  ON_GPU("hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(%d, %zu, %u)", threads, shared, flags);
  if (!find_function(handle)) MISUSE(INVALID_HANDLE, "not a live kernel");
  if (threads <= 0) DONE(INVALID_VALUE);
  *count = 2048 / threads;
  DONE(0);
}

namespace {
struct Shape {
  dim3 grid, block;
  unsigned shared;
  cudaStream_t stream;
  bool cooperative;
};

// The arguments of a launch, for the log: "device" for an address of the GPU's.
std::string arguments(const Kernel &kernel, void **params) {
  std::string text = ", args";
  for (size_t i = 0; i < kernel.sizes.size(); i++) {
    uint64_t value = 0;
    uint32_t size = kernel.sizes[i];
    memcpy(&value, params[i], size < 8 ? size : 8);
    cudaPointerAttributes found;
    char word[40];
    if (size == 8 && !cudaPointerGetAttributes(&found, reinterpret_cast<void *>(value))
        && found.type != cudaMemoryTypeUnregistered) {
      text += " device";
      continue;
    }
    snprintf(word, sizeof word, size > 8 ? " 0x%llx..." : " %lld",
        static_cast<long long>(size == 4 ? uint64_t(int64_t(int32_t(value))) : value));
    text += word;
  }
  return text;
}

Code start(Call &call, void *handle, const Shape &shape, void **params, void **extra) {
  Function *function = find_function(handle);
  if (!function) MISUSE(INVALID_HANDLE, "not a live kernel");
  if (function->module->gpu != current_gpu) MISUSE(INVALID_HANDLE, "a kernel of another GPU");
  char dims[160];
  const dim3 &grid = shape.grid, &block = shape.block;
  snprintf(dims, sizeof dims, "(%.40s, grid %u %u %u, block %u %u %u, shared %u, ", function->name.c_str(), grid.x,
      grid.y, grid.z, block.x, block.y, block.z, shape.shared);
  call.text += dims + stream_name(shape.stream);
  if (shape.stream == cudaStreamLegacy) MISUSE(INVALID_HANDLE, "a handle that not all versions have");
  if (owner(shape.stream) != current_gpu && uintptr_t(shape.stream) > 2)
    MISUSE(INVALID_HANDLE, "a stream of another GPU");
  if (extra) MISUSE(INVALID_VALUE, "extra");
  if (!grid.x || !grid.y || !grid.z || !block.x || !block.y || !block.z) MISUSE(INVALID_VALUE, "an empty dimension");
  if (uint64_t(block.x) * block.y * block.z > function->kernel.threads) DONE(cudaErrorInvalidConfiguration);
  if (shape.shared + function->kernel.shared > 65536) DONE(INVALID_VALUE);
  if (!function->kernel.sizes.empty() && !params) MISUSE(INVALID_VALUE, "no parameters");
  call.text += arguments(function->kernel, params) + ")";
  std::string fails = setting("LIBAMDHIP64_KERNEL_FAIL", "");
  if (fails.rfind(function->name + "=", 0) == 0)
    failed[current_gpu] = Code(atoi(fails.c_str() + function->name.size() + 1));
  const Emulated *unit = nullptr;
  for (const Emulated *one : function->module->units)
    if (one->holds(function->name)) unit = one;
  if (!unit) DONE(0);
  // What is registered runs: the CPU runtime takes more than 48 KiB of shared memory once it is told.
  char *stub_of_kernel;
  {
    std::lock_guard<std::mutex> lock(guard);
    stub_of_kernel = stub(unit, function->name);
  }
  if (shape.shared) cudaFuncSetAttribute(stub_of_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shape.shared));
  auto launch = shape.cooperative ? cudaLaunchCooperativeKernel : cudaLaunchKernel;
  DONE(launch(stub_of_kernel, grid, block, params, shape.shared, shape.stream));
}
} // namespace

EXPORT Code hipModuleLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
    unsigned bz, unsigned shared, cudaStream_t stream, void **params, void **extra) {
  ON_GPU("hipModuleLaunchKernel");
  return start(call, function, {{gx, gy, gz}, {bx, by, bz}, shared, stream, false}, params, extra);
}
EXPORT Code hipModuleLaunchCooperativeKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
    unsigned by, unsigned bz, unsigned shared, cudaStream_t stream, void **params) {
  ON_GPU("hipModuleLaunchCooperativeKernel");
  return start(call, function, {{gx, gy, gz}, {bx, by, bz}, shared, stream, true}, params, nullptr);
}
