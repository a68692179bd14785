// What the parts of the stand-in share: state.cpp says what it is.
#pragma once
#include "../programs/abi.h"
#include "record.h"
#include <mutex>
#include <string>

// HIP's own handles are the CPU runtime's; what it does not have is here.
using Code = unsigned;
enum : Code {
  INVALID_VALUE = 1,
  NOT_INITIALIZED = 3,
  INVALID_DEVICE = 101,
  INVALID_IMAGE = 200,
  NO_BINARY = 209,
  UNSUPPORTED_LIMIT = 215,
  INVALID_KERNEL_FILE = 218,
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
};
enum { MAX_GPUS = 8 };

extern bool initialised;
// Codes that a GPU's calls return since a kernel failed, until it is reset.
extern Code failed[MAX_GPUS];
extern thread_local int current_gpu;

int gpu_count();
// The name of a GPU, as in "gfx90a:sramecc+:xnack-".
std::string gpu_name(int gpu);
// ROCm's major version.
int rocm();
std::string stream_name(cudaStream_t stream);
// Which GPU a stream or the start of memory belongs to: noted when it is made, the calling thread's where it was not.
void note_owner(const void *handle);
int owner(const void *handle);
// Forgets the modules of a GPU that the program has not unloaded.
void forget_modules(int gpu);

// One call: its text for the log, written with its code when it is over.
struct Call {
  std::string text;
  __attribute__((format(printf, 2, 3))) explicit Call(const char *format, ...);
  // What the call returns without being carried out, 0 for nothing.
  Code refused(const char *function, bool needs_gpu);
  Code done(Code code);
  Code misuse(Code code, const char *why);
};

#define EXPORT extern "C" __attribute__((visibility("default")))
#define DONE(code) return call.done(code)
#define MISUSE(code, why) return call.misuse(code, why)
// The start of a call that works without a GPU in order.
#define BARE(...) \
  Call call(__VA_ARGS__); \
  if (Code code = call.refused(__func__, false)) DONE(code)
// The start of a call that a failed GPU refuses.
#define ON_GPU(...) \
  Call call(__VA_ARGS__); \
  if (Code code = call.refused(__func__, true)) DONE(code)
#define DEVICE(gpu) if ((gpu) < 0 || (gpu) >= gpu_count()) MISUSE(INVALID_DEVICE, "no such device")
#define GIVEN(pointer) if (!(pointer)) MISUSE(INVALID_VALUE, "null pointer")
