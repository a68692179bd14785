// A stand-in for AMD's HIP library, for tests on machines without a GPU. It records calls, checks their arguments, and
// carries them out by a copy of this runtime that it holds for itself, on the CPU: memory, streams and events are that
// one's. Kernels do nothing, or run in the form for the CPU that is emulated (modules.cpp).
//
// Build:  build.sh
// Use:    LD_LIBRARY_PATH=<folder of libamdhip64.so.7>
//         GLIBC_TUNABLES=glibc.rtld.optional_static_tls=1000000, as the CPU's blocks have their shared memory in the
//         static block of thread-local storage, where a library that is loaded late gets little else
//
// LIBAMDHIP64_LOG          file to which each call is appended, as "t<thread> g<GPU> <call> = <code>"; a wrong call
//                          gives a line with "MISUSE"
// LIBAMDHIP64_GPUS         number of GPUs (1)
// LIBAMDHIP64_ARCH         their names, as in "gfx90a:sramecc+:xnack-,gfx1030": the last one holds for the rest (gfx90a)
// LIBAMDHIP64_NAMELESS     1: the GPUs' names cannot be asked for
// LIBAMDHIP64_ROCM         major version that it behaves as (7)
// LIBAMDHIP64_FAIL         as LIBCUDA_FAIL of the stand-in for libcuda
// LIBAMDHIP64_KERNEL_FAIL  "name=719": that kernel fails when it runs: what follows on its GPU returns the code, until
//                          the GPU is reset
// STANDIN_HIP_MODULES      folder of shared objects with the CPU's forms of kernels: `regrain --offload-arch=cpu
//                          -fregrain-emulate=<chip> -fPIC -c`, linked by `clang -shared` with module.c
#include "standin.h"

#include <cstdarg>
#include <cstdlib>
#include <map>

extern "C" const char *const standin_log = "LIBAMDHIP64_LOG", *const standin_fail = "LIBAMDHIP64_FAIL";
bool initialised;
Code failed[MAX_GPUS];
thread_local int current_gpu;
static std::mutex guard;

extern "C" int standin_gpu() { return initialised ? current_gpu : -1; }
int gpu_count() { return atoi(setting("LIBAMDHIP64_GPUS", "1")); }
int rocm() { return atoi(setting("LIBAMDHIP64_ROCM", "7")); }

std::string gpu_name(int gpu) {
  std::string list = setting("LIBAMDHIP64_ARCH", "gfx90a:sramecc+:xnack-");
  for (size_t comma; gpu > 0 && (comma = list.find(',')) != std::string::npos; gpu--) list.erase(0, comma + 1);
  return list.substr(0, list.find(','));
}

static std::map<const void *, int> owners;
void note_owner(const void *handle) {
  std::lock_guard<std::mutex> lock(guard);
  owners[handle] = current_gpu;
}
int owner(const void *handle) {
  std::lock_guard<std::mutex> lock(guard);
  auto found = owners.find(handle);
  return found == owners.end() ? current_gpu : found->second;
}

std::string stream_name(cudaStream_t stream) {
  if (!stream) return "legacy";
  return stream == cudaStreamPerThread ? "per-thread" : stream == cudaStreamLegacy ? "wild" : "stream";
}

Call::Call(const char *format, ...) {
  char line[512];
  va_list list;
  va_start(list, format);
  vsnprintf(line, sizeof line, format, list);
  va_end(list);
  text = line;
}

Code Call::refused(const char *function, bool needs_gpu) {
  std::lock_guard<std::mutex> lock(guard);
  if (Code told = Code(told_to_fail(function))) return told;
  if (!initialised) {
    record("MISUSE %s: before hipInit", text.c_str());
    return NOT_INITIALIZED;
  }
  return needs_gpu ? failed[current_gpu] : 0;
}

Code Call::done(Code code) {
  std::lock_guard<std::mutex> lock(guard);
  record("%s = %u", text.c_str(), code);
  return code;
}

Code Call::misuse(Code code, const char *why) {
  {
    std::lock_guard<std::mutex> lock(guard);
    record("MISUSE %s: %s", text.c_str(), why);
  }
  return done(code);
}
