// The machine, and the primary contexts of its GPUs.
#include "standin.h"

#include <stdlib.h>

EXPORT CUresult cuInit(unsigned flags) {
  pthread_mutex_lock(&guard);
  CALL("cuInit(%u)", flags);
  int told = told_to_fail(__func__);
  if (told) DONE(told);
  if (flags) MISUSE(CUDA_ERROR_INVALID_VALUE, "flags");
  initialised = 1;
  for (int gpu = 0; gpu < MAX_GPUS; gpu++) contexts[gpu].gpu = gpu;
  DONE(0);
}

EXPORT CUresult cuDriverGetVersion(int *version) {
  BARE("cuDriverGetVersion"); GIVEN(version); *version = 12090; DONE(0);
}
EXPORT CUresult cuDeviceGetCount(int *count) { BARE("cuDeviceGetCount"); GIVEN(count); *count = gpu_count(); DONE(0); }
EXPORT CUresult cuDeviceGet(CUdevice *device, int index) {
  BARE("cuDeviceGet(%d)", index); DEVICE(index); *device = index; DONE(0);
}
EXPORT CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
  BARE("cuDeviceGetName(%d)", device); DEVICE(device); GIVEN(name);
  snprintf(name, (size_t)length, "Stand-in GPU %d", device);
  DONE(0);
}
// Of many parameters, which says nothing but that they came.
EXPORT CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
    const cuuint64_t *dim, const cuuint64_t *strides, const cuuint32_t *box, const cuuint32_t *elements,
    CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
    CUtensorMapFloatOOBfill fill) {
  (void)map, (void)address, (void)dim, (void)strides, (void)box, (void)elements, (void)interleave, (void)swizzle;
  BARE("cuTensorMapEncodeTiled(%d, %u, %d, %d)", type, rank, promotion, fill); DONE(0);
}
EXPORT CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
  BARE("cuDeviceGetUuid(%d)", device); DEVICE(device);
  memset(uuid, device, sizeof *uuid);
  DONE(0);
}
EXPORT CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device) {
  BARE("cuDeviceTotalMem(%d)", device); DEVICE(device); *bytes = memory_size(); DONE(0);
}
EXPORT CUresult cuDeviceGetPCIBusId(char *text, int length, CUdevice device) {
  BARE("cuDeviceGetPCIBusId(%d)", device); DEVICE(device);
  snprintf(text, (size_t)length, "0000:%02x:00.0", device + 1);
  DONE(0);
}

EXPORT CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice device) {
  BARE("cuDeviceGetAttribute(%d, %d)", which, device); DEVICE(device); GIVEN(value);
  if (which < 1 || which > 143) DONE(CUDA_ERROR_INVALID_VALUE);
  switch ((int)which) {
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: case 2: case 3: *value = 1024; break;
  case 4: *value = 64; break;
  case 5: *value = 0x7fffffff; break;
  case 6: case 7: *value = 65535; break;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: *value = 49152; break;
  case CU_DEVICE_ATTRIBUTE_WARP_SIZE: *value = 32; break;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = 108; break;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = capability(device) / 10; break;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = capability(device) % 10; break;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = 166912; break;
  default: *value = (int)which * 10;
  }
  DONE(0);
}

EXPORT CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
  BARE("cuDeviceCanAccessPeer(%d, %d)", device, peer); DEVICE(device); DEVICE(peer);
  *can = device != peer;
  DONE(0);
}
EXPORT CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute which, CUdevice from, CUdevice to) {
  BARE("cuDeviceGetP2PAttribute(%d, %d, %d)", which, from, to); DEVICE(from); DEVICE(to);
  *value = 1;
  DONE(0);
}

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  BARE("cuDevicePrimaryCtxRetain(%d)", device); DEVICE(device);
  contexts[device].users++;
  *context = (CUcontext)&contexts[device];
  DONE(0);
}

// Everything of a context goes.
static void destroy(struct context *context) {
  for (int at = block_count; at-- > 0;)
    if (blocks[at].gpu == context->gpu) drop(&blocks[at]);
  context->generation++;
  context->failed = 0;
}

EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  BARE("cuDevicePrimaryCtxRelease(%d)", device); DEVICE(device);
  if (!contexts[device].users) MISUSE(CUDA_ERROR_INVALID_CONTEXT, "not retained");
  if (--contexts[device].users == 0) destroy(&contexts[device]);
  DONE(0);
}
EXPORT CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  BARE("cuDevicePrimaryCtxReset(%d)", device); DEVICE(device); destroy(&contexts[device]); DONE(0);
}
EXPORT CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  BARE("cuDevicePrimaryCtxSetFlags(%d, %u)", device, flags); DEVICE(device);
  contexts[device].flags = (int)flags;
  DONE(0);
}
EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
  BARE("cuDevicePrimaryCtxGetState(%d)", device); DEVICE(device);
  *flags = (unsigned)contexts[device].flags;
  *active = contexts[device].users > 0;
  DONE(0);
}
// Not in the log: it is asked at every call.
EXPORT CUresult cuCtxGetCurrent(CUcontext *context) { *context = (CUcontext)current; return CUDA_SUCCESS; }
EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
  struct context *given = (struct context *)context;
  BARE("cuCtxSetCurrent(%d)", given ? given->gpu : -1);
  if (given && (given < contexts || given >= contexts + MAX_GPUS || !given->users))
    MISUSE(CUDA_ERROR_INVALID_CONTEXT, "not a live context");
  current = given;
  DONE(0);
}
EXPORT CUresult cuCtxGetDevice(CUdevice *device) {
  BARE("cuCtxGetDevice"); if (!current) DONE(CUDA_ERROR_INVALID_CONTEXT); *device = current->gpu; DONE(0);
}
EXPORT CUresult cuCtxSynchronize(void) { NEEDS_CONTEXT("cuCtxSynchronize"); DONE(0); }
EXPORT CUresult cuCtxGetLimit(size_t *value, CUlimit limit) {
  NEEDS_CONTEXT("cuCtxGetLimit(%d)", limit);
  if (limit >= 7) DONE(CUDA_ERROR_UNSUPPORTED_LIMIT);
  *value = current->limits[limit];
  DONE(0);
}
EXPORT CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  NEEDS_CONTEXT("cuCtxSetLimit(%d, %zu)", limit, value);
  if (limit >= 7) DONE(CUDA_ERROR_UNSUPPORTED_LIMIT);
  current->limits[limit] = value;
  DONE(0);
}
EXPORT CUresult cuCtxGetCacheConfig(CUfunc_cache *config) {
  NEEDS_CONTEXT("cuCtxGetCacheConfig"); *config = current->cache; DONE(0);
}
EXPORT CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  NEEDS_CONTEXT("cuCtxSetCacheConfig(%d)", config); current->cache = config; DONE(0);
}
EXPORT CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  NEEDS_CONTEXT("cuCtxGetStreamPriorityRange"); *least = 0; *greatest = -5; DONE(0);
}
EXPORT CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  struct context *other = (struct context *)peer;
  NEEDS_CONTEXT("cuCtxEnablePeerAccess(%d)", other->gpu);
  if (flags) DONE(CUDA_ERROR_INVALID_VALUE);
  if (other == current) DONE(CUDA_ERROR_INVALID_DEVICE);
  if (current->peers & 1u << other->gpu) DONE(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  current->peers |= 1u << other->gpu;
  DONE(0);
}
EXPORT CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  struct context *other = (struct context *)peer;
  NEEDS_CONTEXT("cuCtxDisablePeerAccess(%d)", other->gpu);
  if (!(current->peers & 1u << other->gpu)) DONE(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  current->peers &= ~(1u << other->gpu);
  DONE(0);
}
