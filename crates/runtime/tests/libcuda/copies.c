// Copies and fills.
#include "standin.h"

#include <stdlib.h>

// Copies. A side that is said to be the device's must be memory of a device.

#define TO_DEVICE 1
#define FROM_DEVICE 2
#define TRANSFER(sides, to, from, count) \
  if ((sides) & TO_DEVICE) REACHABLE(to, count); \
  if ((sides) & FROM_DEVICE) REACHABLE(from, count); \
  GIVEN(to); GIVEN(from); \
  memmove((void *)(uintptr_t)(to), (const void *)(uintptr_t)(from), count)

EXPORT CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t count) {
  NEEDS_CONTEXT("cuMemcpy(%zu)", count); TRANSFER(0, to, from, count); DONE(0);
}
EXPORT CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t count, CUstream stream) {
  NEEDS_CONTEXT("cuMemcpyAsync(%zu, %s)", count, stream_name(stream)); IS_STREAM(stream);
  TRANSFER(0, to, from, count); DONE(0);
}
EXPORT CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t count) {
  NEEDS_CONTEXT("cuMemcpyHtoD(%zu)", count); TRANSFER(TO_DEVICE, to, from, count); DONE(0);
}
EXPORT CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t count, CUstream stream) {
  NEEDS_CONTEXT("cuMemcpyHtoDAsync(%zu, %s)", count, stream_name(stream)); IS_STREAM(stream);
  TRANSFER(TO_DEVICE, to, from, count); DONE(0);
}
EXPORT CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t count) {
  NEEDS_CONTEXT("cuMemcpyDtoH(%zu)", count); TRANSFER(FROM_DEVICE, to, from, count); DONE(0);
}
EXPORT CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t count, CUstream stream) {
  NEEDS_CONTEXT("cuMemcpyDtoHAsync(%zu, %s)", count, stream_name(stream)); IS_STREAM(stream);
  TRANSFER(FROM_DEVICE, to, from, count); DONE(0);
}
#define GPU_OF(handle) (((struct context *)(handle))->gpu)
EXPORT CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
    size_t count) {
  NEEDS_CONTEXT("cuMemcpyPeer(%d, %d, %zu)", GPU_OF(to_context), GPU_OF(from_context), count);
  TRANSFER(3, to, from, count); DONE(0);
}
EXPORT CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
    size_t count, CUstream stream) {
  NEEDS_CONTEXT("cuMemcpyPeerAsync(%d, %d, %zu, %s)", GPU_OF(to_context), GPU_OF(from_context), count,
      stream_name(stream));
  IS_STREAM(stream); TRANSFER(3, to, from, count); DONE(0);
}

// Arrays: rows without gaps.

size_t element_size(CUarray_format format, unsigned channels) {
  static const unsigned bytes[0x21] = {[1] = 1, [2] = 2, [3] = 4, [8] = 1, [9] = 2, [0xa] = 4, [0x10] = 2, [0x20] = 4};
  return format > 0x20 ? 0 : bytes[format] * channels;
}
static size_t element(const struct handle *array) {
  return element_size(array->array.Format, array->array.NumChannels);
}
struct handle *make_array(const CUDA_ARRAY3D_DESCRIPTOR *d, CUresult *error) {
  size_t size = element_size(d->Format, d->NumChannels) * d->Width * (d->Height ? d->Height : 1) *
      (d->Depth ? d->Depth : 1);
  int layered = d->Flags & CUDA_ARRAY3D_LAYERED, cube = d->Flags & CUDA_ARRAY3D_CUBEMAP;
  int faces = layered ? d->Depth && d->Depth % 6 == 0 : d->Depth == 6;
  *error = CUDA_ERROR_INVALID_VALUE;
  if (!size || (layered && !d->Depth) || (cube && (d->Width != d->Height || !faces))) return NULL;
  void *storage = allocate(size, ON_DEVICE, 0);
  *error = CUDA_ERROR_OUT_OF_MEMORY;
  if (!storage) return NULL;
  struct handle *made = make(ARRAY);
  made->array = *d;
  made->storage = storage;
  return made;
}
void drop_array(struct handle *array) {
  drop(block_of(array->storage));
  array->alive = 0;
}
static size_t row(CUarray array) { return find(array, ARRAY)->array.Width * element(find(array, ARRAY)); }
static size_t rows(CUarray array) { return find(array, ARRAY)->array.Height ? find(array, ARRAY)->array.Height : 1; }
EXPORT CUresult cuArray3DCreate(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *d) {
  NEEDS_CONTEXT("cuArray3DCreate(%zu, %zu, %zu, %d:%u, %u)", d->Width, d->Height, d->Depth, d->Format, d->NumChannels,
      d->Flags);
  CUresult error;
  struct handle *made = make_array(d, &error);
  if (!made && error == CUDA_ERROR_INVALID_VALUE) MISUSE(error, "an empty array, or an unknown format");
  if (!made) DONE(error);
  *array = (CUarray)made;
  DONE(0);
}
EXPORT CUresult cuArrayDestroy(CUarray array) {
  NEEDS_CONTEXT("cuArrayDestroy"); IS(array, ARRAY);
  drop_array(find(array, ARRAY));
  DONE(0);
}
EXPORT CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR *d, CUarray array) {
  NEEDS_CONTEXT("cuArray3DGetDescriptor"); IS(array, ARRAY); *d = find(array, ARRAY)->array; DONE(0);
}

// One side of a copy of rows.
static char *side(CUmemorytype kind, const void *host, CUdeviceptr device, CUarray array) {
  if (kind == CU_MEMORYTYPE_ARRAY) return find(array, ARRAY)->storage;
  return kind == CU_MEMORYTYPE_HOST ? (char *)host : (char *)device;
}
#define REGION(from, to, c, depth, from_pitch, to_pitch, from_slice, to_slice) \
  if ((c)->WidthInBytes > from_pitch || (c)->WidthInBytes > to_pitch) MISUSE(CUDA_ERROR_INVALID_VALUE, "pitch"); \
  for (size_t z = 0; z < (depth); z++) for (size_t y = 0; y < (c)->Height; y++) { \
    char *source = from + z * (from_slice) + y * from_pitch, *target = to + z * (to_slice) + y * to_pitch; \
    if ((c)->srcMemoryType == CU_MEMORYTYPE_DEVICE || (c)->srcMemoryType == CU_MEMORYTYPE_ARRAY) REACHABLE(source, \
        (c)->WidthInBytes); \
    if ((c)->dstMemoryType == CU_MEMORYTYPE_DEVICE || (c)->dstMemoryType == CU_MEMORYTYPE_ARRAY) REACHABLE(target, \
        (c)->WidthInBytes); \
    memmove(target, source, (c)->WidthInBytes); \
  }
#define SIDES(c) \
  if ((c)->srcMemoryType == CU_MEMORYTYPE_ARRAY) IS((c)->srcArray, ARRAY); \
  if ((c)->dstMemoryType == CU_MEMORYTYPE_ARRAY) IS((c)->dstArray, ARRAY); \
  size_t from_pitch = (c)->srcMemoryType == CU_MEMORYTYPE_ARRAY ? row((c)->srcArray) : (c)->srcPitch; \
  size_t to_pitch = (c)->dstMemoryType == CU_MEMORYTYPE_ARRAY ? row((c)->dstArray) : (c)->dstPitch; \
  char *from = side((c)->srcMemoryType, (c)->srcHost, (c)->srcDevice, \
      (c)->srcArray) + (c)->srcXInBytes + (c)->srcY * from_pitch; \
  char *to = side((c)->dstMemoryType, (c)->dstHost, (c)->dstDevice, \
      (c)->dstArray) + (c)->dstXInBytes + (c)->dstY * to_pitch;
#define FLAT(c) \
  SIDES(c) \
  REGION(from, to, c, 1, from_pitch, to_pitch, 0, 0)
#define DEEP(c) \
  SIDES(c) \
  size_t from_slice = from_pitch * ((c)->srcMemoryType == CU_MEMORYTYPE_ARRAY ? rows((c)->srcArray) : (c)->srcHeight); \
  size_t to_slice = to_pitch * ((c)->dstMemoryType == CU_MEMORYTYPE_ARRAY ? rows((c)->dstArray) : (c)->dstHeight); \
  from += (c)->srcZ * from_slice; \
  to += (c)->dstZ * to_slice; \
  REGION(from, to, c, (c)->Depth, from_pitch, to_pitch, from_slice, to_slice)

EXPORT CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *c) {
  NEEDS_CONTEXT("cuMemcpy2DUnaligned(%zu, %zu)", c->WidthInBytes, c->Height); FLAT(c) DONE(0);
}
EXPORT CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *c, CUstream stream) {
  NEEDS_CONTEXT("cuMemcpy2DAsync(%zu, %zu, %s)", c->WidthInBytes, c->Height, stream_name(stream)); IS_STREAM(stream);
  FLAT(c) DONE(0);
}
EXPORT CUresult cuMemcpy3D(const CUDA_MEMCPY3D *c) {
  NEEDS_CONTEXT("cuMemcpy3D(%zu, %zu, %zu)", c->WidthInBytes, c->Height, c->Depth); DEEP(c) DONE(0);
}
EXPORT CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D *c, CUstream stream) {
  NEEDS_CONTEXT("cuMemcpy3DAsync(%zu, %zu, %zu, %s)", c->WidthInBytes, c->Height, c->Depth, stream_name(stream));
  IS_STREAM(stream); DEEP(c) DONE(0);
}
EXPORT CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *c) {
  NEEDS_CONTEXT("cuMemcpy3DPeer(%d, %d, %zu, %zu, %zu)", GPU_OF(c->dstContext), GPU_OF(c->srcContext),
      c->WidthInBytes, c->Height, c->Depth); DEEP(c) DONE(0);
}
EXPORT CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *c, CUstream stream) {
  NEEDS_CONTEXT("cuMemcpy3DPeerAsync(%d, %d, %s)", GPU_OF(c->dstContext), GPU_OF(c->srcContext), stream_name(stream));
  IS_STREAM(stream); DEEP(c) DONE(0);
}
EXPORT CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count) {
  NEEDS_CONTEXT("cuMemsetD8(%d, %zu)", value, count); REACHABLE(to, count);
  memset((void *)to, value, count);
  DONE(0);
}
EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  NEEDS_CONTEXT("cuMemsetD8Async(%d, %zu, %s)", value, count, stream_name(stream)); IS_STREAM(stream);
  REACHABLE(to, count);
  memset((void *)to, value, count);
  DONE(0);
}
#define ROWS(to, pitch, value, width, height) \
  for (size_t y = 0; y < (height); y++) { REACHABLE(to + y * (pitch), width); memset((char *)(to) + y * (pitch), \
      value, width); }
EXPORT CUresult cuMemsetD2D8(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height) {
  NEEDS_CONTEXT("cuMemsetD2D8(%d, %zu, %zu)", value, width, height); ROWS(to, pitch, value, width, height) DONE(0);
}
EXPORT CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height,
    CUstream stream) {
  NEEDS_CONTEXT("cuMemsetD2D8Async(%d, %zu, %zu, %s)", value, width, height, stream_name(stream)); IS_STREAM(stream);
  ROWS(to, pitch, value, width, height) DONE(0);
}
