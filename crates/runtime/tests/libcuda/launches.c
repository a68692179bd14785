// Modules and launches.
#include "standin.h"

#include <stdlib.h>

EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *bytes) {
  NEEDS_CONTEXT("cuModuleLoadData"); GIVEN(bytes);
  struct image *image = standin_read(bytes);
  if (!image) MISUSE(CUDA_ERROR_INVALID_IMAGE, "neither ELF, PTX nor a fat binary");
  struct handle *made = make(MODULE);
  made->image = image;
  for (struct variable *variable = image->variables; variable; variable = variable->next) {
    variable->address = allocate(variable->size ? variable->size : 1, variable->managed ? MANAGED : ON_DEVICE, 0);
    if (!variable->address) DONE(CUDA_ERROR_OUT_OF_MEMORY);
    memset(variable->address, 0, variable->size);
  }
  snprintf(call, sizeof call, "cuModuleLoadData(%s)", image->what);
  *module = (CUmodule)made;
  DONE(0);
}
EXPORT CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  NEEDS_CONTEXT("cuModuleGetFunction(%s)", name); IS(module, MODULE);
  struct handle *from = find(module, MODULE);
  if (from->gpu != current->gpu) MISUSE(CUDA_ERROR_INVALID_HANDLE, "a module of another GPU");
  for (struct kernel *kernel = from->image->kernels; kernel; kernel = kernel->next) {
    if (strcmp(kernel->name, name)) continue;
    struct handle *made = make(FUNCTION);
    snprintf(made->name, sizeof made->name, "%s", name);
    memcpy(made->sizes, kernel->sizes, sizeof made->sizes);
    made->params = kernel->params;
    made->attributes[0] = 1024;
    made->attributes[4] = 32;
    made->attributes[5] = made->attributes[6] = capability(current->gpu);
    made->attributes[8] = 49152;
    *function = (CUfunction)made;
    DONE(0);
  }
  DONE(CUDA_ERROR_NOT_FOUND);
}
EXPORT CUresult cuModuleGetGlobal(CUdeviceptr *pointer, size_t *size, CUmodule module, const char *name) {
  NEEDS_CONTEXT("cuModuleGetGlobal(%s)", name); IS(module, MODULE);
  for (struct variable *variable = find(module, MODULE)->image->variables; variable; variable = variable->next) {
    if (strcmp(variable->name, name)) continue;
    *pointer = (CUdeviceptr)variable->address;
    *size = variable->size;
    DONE(0);
  }
  DONE(CUDA_ERROR_NOT_FOUND);
}
EXPORT CUresult cuFuncGetAttribute(int *value, CUfunction_attribute which, CUfunction function) {
  NEEDS_CONTEXT("cuFuncGetAttribute(%d)", which); IS(function, FUNCTION);
  if (which < 0 || which > 15) DONE(CUDA_ERROR_INVALID_VALUE);
  *value = find(function, FUNCTION)->attributes[which];
  DONE(0);
}
EXPORT CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute which, int value) {
  NEEDS_CONTEXT("cuFuncSetAttribute(%d, %d)", which, value); IS(function, FUNCTION);
  if (which < 8 || which > 15 || (which == 8 && value > 166912)) DONE(CUDA_ERROR_INVALID_VALUE);
  find(function, FUNCTION)->attributes[which] = value;
  DONE(0);
}
EXPORT CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
  NEEDS_CONTEXT("cuFuncSetCacheConfig(%d)", config); IS(function, FUNCTION); DONE(0);
}
EXPORT CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size) {
  NEEDS_CONTEXT("cuFuncGetParamInfo(%zu)", index); IS(function, FUNCTION);
  struct handle *of = find(function, FUNCTION);
  if (index >= (size_t)of->params) DONE(CUDA_ERROR_INVALID_VALUE);
  *offset = 0;
  for (size_t at = 0; at <= index; at++) {
    uint32_t bytes = of->sizes[at], natural = bytes & -bytes, align = natural > 16 ? 16 : natural;
    *offset = (*offset + align - 1) / align * align;
    if (at < index) *offset += bytes;
  }
  *size = of->sizes[index];
  DONE(0);
}
EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *count, CUfunction function, int threads,
    size_t shared, unsigned flags) {
  NEEDS_CONTEXT("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(%d, %zu, %u)", threads, shared, flags);
  IS(function, FUNCTION);
  if (threads <= 0) DONE(CUDA_ERROR_INVALID_VALUE);
  *count = 2048 / threads;
  DONE(0);
}
EXPORT CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *size, CUfunction function, int count, int threads) {
  NEEDS_CONTEXT("cuOccupancyAvailableDynamicSMemPerBlock(%d, %d)", count, threads); IS(function, FUNCTION);
  GIVEN(count);
  *size = (size_t)(166912 / count);
  DONE(0);
}

// What a launch has in common, whichever function starts it.
static CUresult start(char *call, size_t room, CUfunction function, const unsigned dims[6], unsigned shared,
    CUstream stream, void **params) {
  struct handle *kernel = find(function, FUNCTION);
  if (!kernel) MISUSE(CUDA_ERROR_INVALID_HANDLE, "not a live kernel");
  if (kernel->gpu != current->gpu) MISUSE(CUDA_ERROR_INVALID_HANDLE, "a kernel of another GPU");
  IS_STREAM(stream);
  if ((uintptr_t)stream > 2 && find(stream, STREAM)->gpu != current->gpu)
    MISUSE(CUDA_ERROR_INVALID_HANDLE, "a stream of another GPU");
  size_t length = strlen(call);
  length += (size_t)snprintf(call + length, room - length, "(%s, grid %u %u %u, block %u %u %u, shared %u, %s, args",
      kernel->name, dims[0], dims[1],
                             dims[2], dims[3], dims[4], dims[5], shared, stream_name(stream));
  for (int at = 0; at < 6; at++)
    if (!dims[at]) MISUSE(CUDA_ERROR_INVALID_VALUE, "an empty dimension");
  if (dims[3] > 1024 || dims[4] > 1024 || dims[5] > 64 || (uint64_t)dims[3] * dims[4] * dims[5] > 1024)
    MISUSE(CUDA_ERROR_INVALID_VALUE, "block too large");
  if (shared > (unsigned)kernel->attributes[8]) DONE(CUDA_ERROR_INVALID_VALUE);
  if (kernel->params && !params) MISUSE(CUDA_ERROR_INVALID_VALUE, "no parameters");
  for (int at = 0; at < kernel->params && length + 40 < room; at++) {
    unsigned char bytes[16] = {0};
    uint32_t size = kernel->sizes[at];
    memcpy(bytes, params[at], size < sizeof bytes ? size : sizeof bytes);
    if (block_of(*(void **)bytes) && size == 8) {
      length += (size_t)snprintf(call + length, room - length, " device");
      continue;
    }
    uint64_t value;
    memcpy(&value, bytes, 8);
    length += (size_t)snprintf(call + length, room - length, size > 8 ? " 0x%llx..." : " %lld",
        (long long)(size == 4 ? (uint64_t)(int64_t)(int32_t)value : value));
  }
  snprintf(call + length, room - length, ")");
  const char *fails = setting("LIBCUDA_KERNEL_FAIL", "");
  size_t name = strlen(kernel->name);
  if (!strncmp(fails, kernel->name, name) && fails[name] == '=') current->failed = atoi(fails + name + 1);
  DONE(0);
}

EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
    unsigned bz, unsigned shared,
                               CUstream stream, void **params, void **extra) {
  NEEDS_CONTEXT("cuLaunchKernel");
  if (extra) MISUSE(CUDA_ERROR_INVALID_VALUE, "extra");
  return start(call, sizeof call, function, (unsigned[]){gx, gy, gz, bx, by, bz}, shared, stream, params);
}
EXPORT CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
    unsigned by, unsigned bz,
                                          unsigned shared, CUstream stream, void **params) {
  NEEDS_CONTEXT("cuLaunchCooperativeKernel");
  return start(call, sizeof call, function, (unsigned[]){gx, gy, gz, bx, by, bz}, shared, stream, params);
}
EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction function, void **params, void **extra) {
  NEEDS_CONTEXT("cuLaunchKernelEx");
  if (extra) MISUSE(CUDA_ERROR_INVALID_VALUE, "extra");
  for (unsigned at = 0; at < c->numAttrs; at++) snprintf(call + strlen(call), sizeof call - strlen(call), "[%d:%u]",
      c->attrs[at].id, c->attrs[at].value.clusterDim.x);
  return start(call, sizeof call, function,
      (unsigned[]){c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY, c->blockDimZ}, c->sharedMemBytes,
               c->hStream, params);
}
