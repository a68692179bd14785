// Memory, copies, arrays and pools: the CPU runtime's.
#include "standin.h"

EXPORT Code hipMalloc(void **pointer, size_t size) {
  ON_GPU("hipMalloc(%zu)", size); GIVEN(pointer);
  Code code = cudaMalloc(pointer, size);
  if (!code) note_owner(*pointer);
  DONE(code);
}
EXPORT Code hipFree(void *pointer) { ON_GPU("hipFree"); DONE(cudaFree(pointer)); }
EXPORT Code hipMallocManaged(void **pointer, size_t size, unsigned flags) {
  ON_GPU("hipMallocManaged(%zu, %u)", size, flags); GIVEN(pointer); DONE(cudaMallocManaged(pointer, size, flags));
}
EXPORT Code hipHostMalloc(void **pointer, size_t size, unsigned flags) {
  ON_GPU("hipHostMalloc(%zu, %#x)", size, flags); GIVEN(pointer); DONE(cudaHostAlloc(pointer, size, flags & 7));
}
EXPORT Code hipHostFree(void *pointer) { ON_GPU("hipHostFree"); DONE(cudaFreeHost(pointer)); }
EXPORT Code hipHostRegister(void *pointer, size_t size, unsigned flags) {
  ON_GPU("hipHostRegister(%zu, %u)", size, flags); DONE(cudaHostRegister(pointer, size, flags));
}
EXPORT Code hipHostUnregister(void *pointer) { ON_GPU("hipHostUnregister"); DONE(cudaHostUnregister(pointer)); }
EXPORT Code hipHostGetDevicePointer(void **pointer, void *host, unsigned flags) {
  ON_GPU("hipHostGetDevicePointer"); DONE(cudaHostGetDevicePointer(pointer, host, flags));
}
// HIP tells flags of its own too.
EXPORT Code hipHostGetFlags(unsigned *flags, void *host) {
  ON_GPU("hipHostGetFlags");
  Code code = cudaHostGetFlags(flags, host);
  *flags |= 0x40000000;
  DONE(code);
}
EXPORT Code hipMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
  ON_GPU("hipMallocPitch(%zu, %zu)", width, height); DONE(cudaMallocPitch(pointer, pitch, width, height));
}
EXPORT Code hipMemGetInfo(size_t *free, size_t *total) { ON_GPU("hipMemGetInfo"); DONE(cudaMemGetInfo(free, total)); }
EXPORT Code hipMemPrefetchAsync(const void *pointer, size_t count, int gpu, cudaStream_t stream) {
  ON_GPU("hipMemPrefetchAsync(%zu, %d, %s)", count, gpu, stream_name(stream).c_str());
  if (gpu < -1 || gpu >= gpu_count()) MISUSE(INVALID_DEVICE, "no such device");
  DONE(cudaMemPrefetchAsync(pointer, count, gpu < 0 ? gpu : 0, stream));
}
EXPORT Code hipMemAdvise(const void *pointer, size_t count, unsigned advice, int gpu) {
  ON_GPU("hipMemAdvise(%zu, %u, %d)", count, advice, gpu);
  DONE(cudaMemAdvise(pointer, count, cudaMemoryAdvise(advice), gpu < 0 ? gpu : 0));
}
EXPORT Code hipPointerGetAttribute(void *value, unsigned which, void *pointer) {
  ON_GPU("hipPointerGetAttribute(%u)", which);
  cudaPointerAttributes found;
  if (cudaPointerGetAttributes(&found, pointer) || found.type == cudaMemoryTypeUnregistered) DONE(INVALID_VALUE);
  unsigned before = rocm() < 6; // hipMemoryType counted from 0
  switch (which) {
  case 2: *static_cast<unsigned *>(value) = (found.type == cudaMemoryTypeHost ? 1 : 2) - before; break;
  case 3: *static_cast<void **>(value) = found.devicePointer; break;
  case 4: *static_cast<void **>(value) = found.hostPointer; break;
  case 8: *static_cast<bool *>(value) = found.type == cudaMemoryTypeManaged; break;
  case 9: *static_cast<int *>(value) = owner(pointer); break;
  default: MISUSE(INVALID_VALUE, "an attribute that is not known here");
  }
  DONE(0);
}

#define KIND(kind) if ((kind) > 4) MISUSE(21, "no such direction")
EXPORT Code hipMemcpy(void *to, const void *from, size_t count, unsigned kind) {
  ON_GPU("hipMemcpy(%zu, %u)", count, kind); KIND(kind); DONE(cudaMemcpy(to, from, count, cudaMemcpyKind(kind)));
}
EXPORT Code hipMemcpyAsync(void *to, const void *from, size_t count, unsigned kind, cudaStream_t stream) {
  ON_GPU("hipMemcpyAsync(%zu, %u, %s)", count, kind, stream_name(stream).c_str()); KIND(kind);
  DONE(cudaMemcpyAsync(to, from, count, cudaMemcpyKind(kind), stream));
}
EXPORT Code hipMemcpyPeer(void *to, int to_gpu, const void *from, int from_gpu, size_t count) {
  ON_GPU("hipMemcpyPeer(%d, %d, %zu)", to_gpu, from_gpu, count); DEVICE(to_gpu); DEVICE(from_gpu);
  DONE(cudaMemcpy(to, from, count, cudaMemcpyDeviceToDevice));
}
EXPORT Code hipMemcpyPeerAsync(void *to, int to_gpu, const void *from, int from_gpu, size_t count,
    cudaStream_t stream) {
  ON_GPU("hipMemcpyPeerAsync(%d, %d, %zu, %s)", to_gpu, from_gpu, count, stream_name(stream).c_str());
  DEVICE(to_gpu); DEVICE(from_gpu);
  DONE(cudaMemcpyAsync(to, from, count, cudaMemcpyDeviceToDevice, stream));
}
EXPORT Code hipMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
    unsigned kind) {
  ON_GPU("hipMemcpy2D(%zu, %zu)", width, height); KIND(kind);
  DONE(cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, cudaMemcpyKind(kind)));
}
EXPORT Code hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
    size_t height, unsigned kind, cudaStream_t stream) {
  ON_GPU("hipMemcpy2DAsync(%zu, %zu, %s)", width, height, stream_name(stream).c_str()); KIND(kind);
  DONE(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, cudaMemcpyKind(kind), stream));
}
EXPORT Code hipMemcpy3D(const cudaMemcpy3DParms *copy) {
  ON_GPU("hipMemcpy3D(%zu, %zu, %zu)", copy->extent.width, copy->extent.height, copy->extent.depth);
  DONE(cudaMemcpy3D(copy));
}
EXPORT Code hipMemcpy3DAsync(const cudaMemcpy3DParms *copy, cudaStream_t stream) {
  ON_GPU("hipMemcpy3DAsync(%zu, %zu, %zu, %s)", copy->extent.width, copy->extent.height, copy->extent.depth,
      stream_name(stream).c_str());
  DONE(cudaMemcpy3DAsync(copy, stream));
}
EXPORT Code hipMemsetD8(void *to, unsigned char value, size_t count) {
  ON_GPU("hipMemsetD8(%d, %zu)", value, count); DONE(cudaMemset(to, value, count));
}
EXPORT Code hipMemsetD8Async(void *to, unsigned char value, size_t count, cudaStream_t stream) {
  ON_GPU("hipMemsetD8Async(%d, %zu, %s)", value, count, stream_name(stream).c_str());
  DONE(cudaMemsetAsync(to, value, count, stream));
}
EXPORT Code hipMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
  ON_GPU("hipMemset2D(%d, %zu, %zu)", value, width, height); DONE(cudaMemset2D(to, pitch, value, width, height));
}
EXPORT Code hipMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) {
  ON_GPU("hipMemset2DAsync(%d, %zu, %zu, %s)", value, width, height, stream_name(stream).c_str());
  DONE(cudaMemset2DAsync(to, pitch, value, width, height, stream));
}

EXPORT Code hipMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *format, size_t width, size_t height,
    unsigned flags) {
  ON_GPU("hipMallocArray(%zu, %zu, %u)", width, height, flags);
  DONE(cudaMallocArray(array, format, width, height, flags));
}
EXPORT Code hipMalloc3DArray(cudaArray_t *array, const cudaChannelFormatDesc *format, cudaExtent extent,
    unsigned flags) {
  ON_GPU("hipMalloc3DArray(%zu, %zu, %zu, %u)", extent.width, extent.height, extent.depth, flags);
  DONE(cudaMalloc3DArray(array, format, extent, flags));
}
EXPORT Code hipFreeArray(cudaArray_t array) { ON_GPU("hipFreeArray"); DONE(cudaFreeArray(array)); }
EXPORT Code hipMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
    size_t height, unsigned kind) {
  ON_GPU("hipMemcpy2DToArray(%zu, %zu)", width, height); KIND(kind);
  DONE(cudaMemcpy2DToArray(to, x, y, from, pitch, width, height, cudaMemcpyKind(kind)));
}
EXPORT Code hipMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
    size_t height, unsigned kind, cudaStream_t stream) {
  ON_GPU("hipMemcpy2DToArrayAsync(%zu, %zu, %s)", width, height, stream_name(stream).c_str()); KIND(kind);
  DONE(cudaMemcpy2DToArrayAsync(to, x, y, from, pitch, width, height, cudaMemcpyKind(kind), stream));
}
EXPORT Code hipMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
    size_t height, unsigned kind) {
  ON_GPU("hipMemcpy2DFromArray(%zu, %zu)", width, height); KIND(kind);
  DONE(cudaMemcpy2DFromArray(to, pitch, from, x, y, width, height, cudaMemcpyKind(kind)));
}
EXPORT Code hipMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
    size_t width, size_t height, unsigned kind, cudaStream_t stream) {
  ON_GPU("hipMemcpy2DFromArrayAsync(%zu, %zu, %s)", width, height, stream_name(stream).c_str()); KIND(kind);
  DONE(cudaMemcpy2DFromArrayAsync(to, pitch, from, x, y, width, height, cudaMemcpyKind(kind), stream));
}

EXPORT Code hipMallocAsync(void **pointer, size_t size, cudaStream_t stream) {
  ON_GPU("hipMallocAsync(%zu, %s)", size, stream_name(stream).c_str()); DONE(cudaMallocAsync(pointer, size, stream));
}
EXPORT Code hipFreeAsync(void *pointer, cudaStream_t stream) {
  ON_GPU("hipFreeAsync(%s)", stream_name(stream).c_str()); DONE(cudaFreeAsync(pointer, stream));
}
EXPORT Code hipMallocFromPoolAsync(void **pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  ON_GPU("hipMallocFromPoolAsync(%zu)", size); DONE(cudaMallocFromPoolAsync(pointer, size, pool, stream));
}
EXPORT Code hipDeviceGetDefaultMemPool(cudaMemPool_t *pool, int gpu) {
  BARE("hipDeviceGetDefaultMemPool(%d)", gpu); DEVICE(gpu); DONE(cudaDeviceGetDefaultMemPool(pool, 0));
}
EXPORT Code hipDeviceGetMemPool(cudaMemPool_t *pool, int gpu) {
  BARE("hipDeviceGetMemPool(%d)", gpu); DEVICE(gpu); DONE(cudaDeviceGetMemPool(pool, 0));
}
EXPORT Code hipDeviceSetMemPool(int gpu, cudaMemPool_t pool) {
  BARE("hipDeviceSetMemPool(%d)", gpu); DEVICE(gpu); DONE(cudaDeviceSetMemPool(0, pool));
}
EXPORT Code hipMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *props) {
  ON_GPU("hipMemPoolCreate"); DONE(cudaMemPoolCreate(pool, props));
}
EXPORT Code hipMemPoolDestroy(cudaMemPool_t pool) { ON_GPU("hipMemPoolDestroy"); DONE(cudaMemPoolDestroy(pool)); }
EXPORT Code hipMemPoolTrimTo(cudaMemPool_t pool, size_t keep) {
  ON_GPU("hipMemPoolTrimTo(%zu)", keep); DONE(cudaMemPoolTrimTo(pool, keep));
}
EXPORT Code hipMemPoolGetAttribute(cudaMemPool_t pool, unsigned which, void *value) {
  ON_GPU("hipMemPoolGetAttribute(%u)", which); DONE(cudaMemPoolGetAttribute(pool, cudaMemPoolAttr(which), value));
}
EXPORT Code hipMemPoolSetAttribute(cudaMemPool_t pool, unsigned which, void *value) {
  ON_GPU("hipMemPoolSetAttribute(%u)", which); DONE(cudaMemPoolSetAttribute(pool, cudaMemPoolAttr(which), value));
}
