// The machine: GPUs, their figures and settings.
#include "standin.h"

#include <cstdlib>
#include <cstring>

EXPORT Code hipInit(unsigned flags) {
  Call call("hipInit(%u)", flags);
  if (int told = told_to_fail(__func__)) DONE(Code(told));
  if (flags) MISUSE(INVALID_VALUE, "flags");
  if (!gpu_count()) DONE(cudaErrorNoDevice);
  if (!initialised) {
    // The runtime in here runs on the CPU, whatever the program's own was told.
    std::string told = setting("REGRAIN_DEVICE", "");
    int device;
    setenv("REGRAIN_DEVICE", "cpu", 1);
    Code chosen = cudaGetDevice(&device);
    if (told.empty()) unsetenv("REGRAIN_DEVICE"); else setenv("REGRAIN_DEVICE", told.c_str(), 1);
    if (chosen) DONE(chosen);
  }
  initialised = true;
  DONE(0);
}
EXPORT Code hipDriverGetVersion(int *version) {
  BARE("hipDriverGetVersion"); GIVEN(version); *version = rocm() * 10000000 + 200000; DONE(0);
}
EXPORT Code hipRuntimeGetVersion(int *version) {
  BARE("hipRuntimeGetVersion"); GIVEN(version); *version = rocm() * 10000000 + 200000; DONE(0);
}
EXPORT Code hipGetDeviceCount(int *count) { BARE("hipGetDeviceCount"); GIVEN(count); *count = gpu_count(); DONE(0); }
// Not in the log: it is asked at every call.
EXPORT Code hipGetDevice(int *gpu) { *gpu = current_gpu; return 0; }
EXPORT Code hipSetDevice(int gpu) { BARE("hipSetDevice(%d)", gpu); DEVICE(gpu); current_gpu = gpu; DONE(0); }
EXPORT Code hipDeviceGetName(char *name, int length, int gpu) {
  BARE("hipDeviceGetName(%d)", gpu); DEVICE(gpu); GIVEN(name);
  snprintf(name, size_t(length), "Stand-in AMD GPU %d", gpu);
  DONE(0);
}
EXPORT Code hipDeviceGetUuid(char *uuid, int gpu) {
  BARE("hipDeviceGetUuid(%d)", gpu); DEVICE(gpu); memset(uuid, gpu, 16); DONE(0);
}
EXPORT Code hipDeviceTotalMem(size_t *bytes, int gpu) {
  BARE("hipDeviceTotalMem(%d)", gpu); DEVICE(gpu);
  size_t free;
  DONE(cudaMemGetInfo(&free, bytes));
}
EXPORT Code hipDeviceGetPCIBusId(char *text, int length, int gpu) {
  BARE("hipDeviceGetPCIBusId(%d)", gpu); DEVICE(gpu);
  snprintf(text, size_t(length), "0000:%02x:00.0", gpu + 1);
  DONE(0);
}

// The layouts of ROCm 5, and of 6 and later: size, and where the GPU's name stands.
static Code properties(Call &call, char *bytes, int gpu, size_t size, size_t name_at) {
  DEVICE(gpu); GIVEN(bytes);
  if (atoi(setting("LIBAMDHIP64_NAMELESS", "0"))) DONE(INVALID_VALUE);
  memset(bytes, 0, size);
  snprintf(bytes, 256, "Stand-in AMD GPU %d", gpu);
  snprintf(bytes + name_at, 256, "%s", gpu_name(gpu).c_str());
  DONE(0);
}
EXPORT Code hipGetDeviceProperties(char *bytes, int gpu) {
  BARE("hipGetDeviceProperties(%d)", gpu);
  return properties(call, bytes, gpu, 792, 396);
}
EXPORT Code hipGetDevicePropertiesR0600(char *bytes, int gpu) {
  BARE("hipGetDevicePropertiesR0600(%d)", gpu);
  if (rocm() < 6) DONE(cudaErrorNotSupported);
  return properties(call, bytes, gpu, 1472, 1160);
}

EXPORT Code hipDeviceGetAttribute(int *value, int which, int gpu) {
  BARE("hipDeviceGetAttribute(%d, %d)", which, gpu); DEVICE(gpu); GIVEN(value);
  std::string name = gpu_name(gpu);
  bool wave64 = name.rfind("gfx9", 0) == 0;
  switch (which) {
  case 56: case 26: case 27: *value = 1024; break;
  case 28: *value = 1024; break;
  case 29: *value = 0x7fffffff; break;
  case 30: *value = 65536; break;
  case 31: *value = -1; break; // a limit of 32 bits without a sign
  case 57: *value = 2048; break;
  case 71: *value = 65536; break;
  case 3: case 8: case 10: case 24: case 85: *value = 1; break;
  case 74: case 10002: *value = 65536; break;
  case 87: *value = wave64 ? 64 : 32; break;
  case 63: *value = 104; break;
  case 23: *value = wave64 ? 9 : atoi(name.substr(3, 2).c_str()); break;
  case 61: *value = name[wave64 ? 4 : 5] - '0'; break;
  default:
    if (which < 0 || (which > 91 && which < 10000) || which > 10020) DONE(INVALID_VALUE);
    *value = which * 10;
  }
  DONE(0);
}

EXPORT Code hipDeviceCanAccessPeer(int *can, int gpu, int peer) {
  BARE("hipDeviceCanAccessPeer(%d, %d)", gpu, peer); DEVICE(gpu); DEVICE(peer); *can = gpu != peer; DONE(0);
}
EXPORT Code hipDeviceGetP2PAttribute(int *value, int which, int from, int to) {
  BARE("hipDeviceGetP2PAttribute(%d, %d, %d)", which, from, to); DEVICE(from); DEVICE(to);
  if (which < 0 || which > 3) MISUSE(INVALID_VALUE, "no such attribute");
  *value = 1;
  DONE(0);
}
static unsigned peers[MAX_GPUS];
EXPORT Code hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  ON_GPU("hipDeviceEnablePeerAccess(%d)", peer); DEVICE(peer);
  if (flags) DONE(INVALID_VALUE);
  if (peer == current_gpu) DONE(INVALID_DEVICE);
  if (peers[current_gpu] & 1u << peer) DONE(cudaErrorPeerAccessAlreadyEnabled);
  peers[current_gpu] |= 1u << peer;
  DONE(0);
}
EXPORT Code hipDeviceDisablePeerAccess(int peer) {
  ON_GPU("hipDeviceDisablePeerAccess(%d)", peer); DEVICE(peer);
  if (!(peers[current_gpu] & 1u << peer)) DONE(cudaErrorPeerAccessNotEnabled);
  peers[current_gpu] &= ~(1u << peer);
  DONE(0);
}

EXPORT Code hipDeviceSynchronize() { ON_GPU("hipDeviceSynchronize"); DONE(cudaDeviceSynchronize()); }
EXPORT Code hipDeviceReset() {
  BARE("hipDeviceReset");
  forget_modules(current_gpu);
  failed[current_gpu] = 0;
  // All GPUs share the CPU's memory: with several of them the others keep theirs.
  DONE(gpu_count() > 1 ? Code(0) : Code(cudaDeviceReset()));
}
EXPORT Code hipGetDeviceFlags(unsigned *flags) { BARE("hipGetDeviceFlags"); DONE(cudaGetDeviceFlags(flags)); }
EXPORT Code hipSetDeviceFlags(unsigned flags) { BARE("hipSetDeviceFlags(%u)", flags); DONE(cudaSetDeviceFlags(flags)); }
EXPORT Code hipDeviceGetLimit(size_t *value, unsigned limit) {
  ON_GPU("hipDeviceGetLimit(%u)", limit);
  if (limit > 2) DONE(UNSUPPORTED_LIMIT);
  DONE(cudaDeviceGetLimit(value, cudaLimit(limit)));
}
EXPORT Code hipDeviceSetLimit(unsigned limit, size_t value) {
  ON_GPU("hipDeviceSetLimit(%u, %zu)", limit, value);
  if (limit > 2) DONE(UNSUPPORTED_LIMIT);
  DONE(cudaDeviceSetLimit(cudaLimit(limit), value));
}
EXPORT Code hipDeviceGetCacheConfig(cudaFuncCache *config) {
  ON_GPU("hipDeviceGetCacheConfig"); DONE(cudaDeviceGetCacheConfig(config));
}
EXPORT Code hipDeviceSetCacheConfig(cudaFuncCache config) {
  ON_GPU("hipDeviceSetCacheConfig(%d)", config); DONE(cudaDeviceSetCacheConfig(config));
}
EXPORT Code hipDeviceGetSharedMemConfig(cudaSharedMemConfig *config) {
  ON_GPU("hipDeviceGetSharedMemConfig"); DONE(cudaDeviceGetSharedMemConfig(config));
}
EXPORT Code hipDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
  ON_GPU("hipDeviceSetSharedMemConfig(%d)", config); DONE(cudaDeviceSetSharedMemConfig(config));
}
EXPORT Code hipDeviceGetStreamPriorityRange(int *least, int *greatest) {
  ON_GPU("hipDeviceGetStreamPriorityRange"); DONE(cudaDeviceGetStreamPriorityRange(least, greatest));
}
