// Memory: allocation and pointers.
#include "standin.h"

#include <stdlib.h>

EXPORT CUresult cuMemAlloc(CUdeviceptr *pointer, size_t size) {
  NEEDS_CONTEXT("cuMemAlloc(%zu)", size); GIVEN(size);
  void *start = allocate(size, ON_DEVICE, 0);
  if (!start) DONE(CUDA_ERROR_OUT_OF_MEMORY);
  *pointer = (CUdeviceptr)start;
  DONE(0);
}
EXPORT CUresult cuMemAllocManaged(CUdeviceptr *pointer, size_t size, unsigned flags) {
  NEEDS_CONTEXT("cuMemAllocManaged(%zu, %u)", size, flags); GIVEN(size);
  void *start = allocate(size, MANAGED, flags);
  if (!start) DONE(CUDA_ERROR_OUT_OF_MEMORY);
  *pointer = (CUdeviceptr)start;
  DONE(0);
}
EXPORT CUresult cuMemAllocPitch(CUdeviceptr *pointer, size_t *pitch, size_t width, size_t height, unsigned element) {
  NEEDS_CONTEXT("cuMemAllocPitch(%zu, %zu, %u)", width, height, element); GIVEN(width); GIVEN(height);
  if (element != 4 && element != 8 && element != 16) MISUSE(CUDA_ERROR_INVALID_VALUE, "element size");
  *pitch = (width + 511) / 512 * 512;
  void *start = allocate(*pitch * height, ON_DEVICE, 0);
  if (!start) DONE(CUDA_ERROR_OUT_OF_MEMORY);
  *pointer = (CUdeviceptr)start;
  DONE(0);
}
EXPORT CUresult cuMemFree(CUdeviceptr pointer) {
  NEEDS_CONTEXT("cuMemFree");
  struct block *block = block_of((void *)pointer);
  if (!block || block->start != (void *)pointer || block->kind > MANAGED)
    MISUSE(CUDA_ERROR_INVALID_VALUE, "not the start of an allocation");
  drop(block);
  DONE(0);
}
EXPORT CUresult cuMemHostAlloc(void **pointer, size_t size, unsigned flags) {
  NEEDS_CONTEXT("cuMemHostAlloc(%zu, %u)", size, flags); GIVEN(size);
  *pointer = allocate(size, HOST, flags);
  DONE(*pointer ? 0 : CUDA_ERROR_OUT_OF_MEMORY);
}
EXPORT CUresult cuMemFreeHost(void *pointer) {
  NEEDS_CONTEXT("cuMemFreeHost");
  struct block *block = block_of(pointer);
  if (!block || block->start != pointer || block->kind != HOST)
    MISUSE(CUDA_ERROR_INVALID_VALUE, "not the start of an allocation");
  drop(block);
  DONE(0);
}
EXPORT CUresult cuMemHostRegister(void *pointer, size_t size, unsigned flags) {
  NEEDS_CONTEXT("cuMemHostRegister(%zu, %u)", size, flags); GIVEN(pointer);
  if (block_of(pointer)) DONE(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  blocks[block_count++] = (struct block){pointer, size, REGISTERED, current->gpu, flags};
  DONE(0);
}
EXPORT CUresult cuMemHostUnregister(void *pointer) {
  NEEDS_CONTEXT("cuMemHostUnregister");
  struct block *block = block_of(pointer);
  if (!block || block->kind != REGISTERED) DONE(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  drop(block);
  DONE(0);
}
EXPORT CUresult cuMemHostGetDevicePointer(CUdeviceptr *pointer, void *host, unsigned flags) {
  NEEDS_CONTEXT("cuMemHostGetDevicePointer"); REACHABLE(host, 1);
  if (flags) MISUSE(CUDA_ERROR_INVALID_VALUE, "flags");
  *pointer = (CUdeviceptr)host;
  DONE(0);
}
EXPORT CUresult cuMemHostGetFlags(unsigned *flags, void *host) {
  NEEDS_CONTEXT("cuMemHostGetFlags"); REACHABLE(host, 1); *flags = block_of(host)->flags; DONE(0);
}
EXPORT CUresult cuMemGetInfo(size_t *available, size_t *total) {
  NEEDS_CONTEXT("cuMemGetInfo");
  *total = memory_size();
  *available = *total - used[current->gpu];
  DONE(0);
}

EXPORT CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **data,
    CUdeviceptr pointer) {
  NEEDS_CONTEXT("cuPointerGetAttributes(%u)", count);
  struct block *block = block_of((void *)pointer);
  int on_host = block && block->kind != ON_DEVICE;
  for (unsigned at = 0; at < count; at++) {
    switch ((int)attributes[at]) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: *(unsigned *)data[at] = !block ? 0
        : block->kind == HOST || block->kind == REGISTERED ? 1 : 2; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *(CUdeviceptr *)data[at] = block ? pointer : 0; break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER: *(void **)data[at] = on_host ? (void *)pointer : NULL; break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: *(unsigned *)data[at] = block && block->kind == MANAGED; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)data[at] = block ? block->gpu : -2; break;
    default: MISUSE(CUDA_ERROR_INVALID_VALUE, "an attribute that this stand-in does not know");
    }
  }
  DONE(0);
}

CUresult on_managed(CUdeviceptr pointer, size_t count) {
  struct block *block = block_of((void *)pointer);
  return block && block->kind == MANAGED && within((void *)pointer, count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
EXPORT CUresult cuMemPrefetchAsync(CUdeviceptr pointer, size_t count, CUdevice to, CUstream stream) {
  NEEDS_CONTEXT("cuMemPrefetchAsync(%zu, %d, %s)", count, to, stream_name(stream)); IS_STREAM(stream);
  DONE(on_managed(pointer, count));
}
EXPORT CUresult cuMemPrefetchAsync_v2(CUdeviceptr pointer, size_t count, CUmemLocation to, unsigned flags,
    CUstream stream) {
  NEEDS_CONTEXT("cuMemPrefetchAsync_v2(%zu, %d:%d, %u, %s)", count, to.type, to.id, flags, stream_name(stream));
  IS_STREAM(stream);
  DONE(on_managed(pointer, count));
}
EXPORT CUresult cuMemAdvise(CUdeviceptr pointer, size_t count, CUmem_advise advice, CUdevice device) {
  NEEDS_CONTEXT("cuMemAdvise(%zu, %d, %d)", count, advice, device);
  DONE(on_managed(pointer, count));
}
EXPORT CUresult cuMemAdvise_v2(CUdeviceptr pointer, size_t count, CUmem_advise advice, CUmemLocation to) {
  NEEDS_CONTEXT("cuMemAdvise_v2(%zu, %d, %d:%d)", count, advice, to.type, to.id);
  DONE(on_managed(pointer, count));
}

EXPORT CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t size, CUstream stream) {
  NEEDS_CONTEXT("cuMemAllocAsync(%zu, %s)", size, stream_name(stream)); IS_STREAM(stream); GIVEN(size);
  void *start = allocate(size, ON_DEVICE, 0);
  if (!start) DONE(CUDA_ERROR_OUT_OF_MEMORY);
  *pointer = (CUdeviceptr)start;
  DONE(0);
}
EXPORT CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
  NEEDS_CONTEXT("cuMemFreeAsync(%s)", stream_name(stream)); IS_STREAM(stream);
  struct block *block = block_of((void *)pointer);
  if (!block || block->start != (void *)pointer) MISUSE(CUDA_ERROR_INVALID_VALUE, "not the start of an allocation");
  drop(block);
  DONE(0);
}
EXPORT CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device) {
  static struct handle *pools[MAX_GPUS];
  BARE("cuDeviceGetDefaultMemPool(%d)", device); DEVICE(device);
  if (!current) current = &contexts[device];
  if (!pools[device]) pools[device] = make(POOL);
  *pool = (CUmemoryPool)pools[device];
  DONE(0);
}
EXPORT CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute which, void *value) {
  NEEDS_CONTEXT("cuMemPoolGetAttribute(%d)", which); IS(pool, POOL);
  *(uint64_t *)value = (uint64_t)find(pool, POOL)->attributes[which & 15];
  DONE(0);
}
EXPORT CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute which, void *value) {
  NEEDS_CONTEXT("cuMemPoolSetAttribute(%d)", which); IS(pool, POOL);
  find(pool, POOL)->attributes[which & 15] = (int)*(uint64_t *)value;
  DONE(0);
}
