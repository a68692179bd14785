// Texture and surface objects, and mipmapped arrays. The log has what the descriptors hold.
#include "standin.h"

static size_t halved(size_t size, unsigned level) { return size && !(size >> level) ? 1 : size >> level; }
EXPORT CUresult cuMipmappedArrayCreate(CUmipmappedArray *mipmap, const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned levels) {
  NEEDS_CONTEXT("cuMipmappedArrayCreate(%zu, %zu, %zu, %d:%u, %u, %u)", d->Width, d->Height, d->Depth, d->Format,
      d->NumChannels, d->Flags, levels);
  if (levels > MAX_LEVELS) MISUSE(CUDA_ERROR_INVALID_VALUE, "more levels than this stand-in knows");
  struct handle *made = make(MIPMAP);
  for (unsigned level = 0; level < levels; level++) {
    CUDA_ARRAY3D_DESCRIPTOR part = *d;
    part.Width = halved(d->Width, level);
    part.Height = halved(d->Height, level);
    if (!(d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP))) part.Depth = halved(d->Depth, level);
    CUresult error;
    made->levels[level] = make_array(&part, &error);
    if (!made->levels[level]) MISUSE(error, "a level that cannot be made");
  }
  *mipmap = (CUmipmappedArray)made;
  DONE(0);
}
EXPORT CUresult cuMipmappedArrayGetLevel(CUarray *array, CUmipmappedArray mipmap, unsigned level) {
  NEEDS_CONTEXT("cuMipmappedArrayGetLevel(%u)", level); IS(mipmap, MIPMAP);
  struct handle *found = level < MAX_LEVELS ? find(mipmap, MIPMAP)->levels[level] : NULL;
  if (!found) DONE(CUDA_ERROR_INVALID_VALUE);
  *array = (CUarray)found;
  DONE(0);
}
EXPORT CUresult cuMipmappedArrayDestroy(CUmipmappedArray mipmap) {
  NEEDS_CONTEXT("cuMipmappedArrayDestroy"); IS(mipmap, MIPMAP);
  struct handle *found = find(mipmap, MIPMAP);
  for (int level = 0; level < MAX_LEVELS && found->levels[level]; level++) drop_array(found->levels[level]);
  found->alive = 0;
  DONE(0);
}

static int is_zero(const void *bytes, size_t size) {
  for (size_t at = 0; at < size; at++) if (((const char *)bytes)[at]) return 0;
  return 1;
}
// A resource in words.
static const char *resource_name(const CUDA_RESOURCE_DESC *d) {
  static _Thread_local char text[128];
  switch (d->resType) {
  case CU_RESOURCE_TYPE_ARRAY: return "array";
  case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: return "mipmap";
  case CU_RESOURCE_TYPE_LINEAR:
    snprintf(text, sizeof text, "linear %d:%u %zu", d->res.linear.format, d->res.linear.numChannels,
        d->res.linear.sizeInBytes);
    return text;
  case CU_RESOURCE_TYPE_PITCH2D:
    snprintf(text, sizeof text, "pitched %d:%u %zu %zu %zu", d->res.pitch2D.format, d->res.pitch2D.numChannels,
        d->res.pitch2D.width, d->res.pitch2D.height, d->res.pitch2D.pitchInBytes);
    return text;
  default: return "unknown";
  }
}
// What textures and surfaces check alike. The rest of the union is zero, where an array has no more than a handle.
#define IS_RESOURCE(d) \
  if ((d)->flags) MISUSE(CUDA_ERROR_INVALID_VALUE, "flags of a resource"); \
  if ((d)->resType == CU_RESOURCE_TYPE_ARRAY) IS((d)->res.array.hArray, ARRAY); \
  if ((d)->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY) IS((d)->res.mipmap.hMipmappedArray, MIPMAP); \
  if ((d)->resType <= CU_RESOURCE_TYPE_MIPMAPPED_ARRAY && !is_zero(&(d)->res.linear.format, \
      sizeof (d)->res - offsetof(CUDA_RESOURCE_DESC, res.linear.format) + offsetof(CUDA_RESOURCE_DESC, res))) \
    MISUSE(CUDA_ERROR_INVALID_VALUE, "more than an array in a resource")

EXPORT CUresult cuTexObjectCreate(CUtexObject *texture, const CUDA_RESOURCE_DESC *d, const CUDA_TEXTURE_DESC *t,
    const CUDA_RESOURCE_VIEW_DESC *v) {
  char view[128] = "no view";
  if (v) snprintf(view, sizeof view, "view %d %zu %zu %zu levels %u %u layers %u %u", v->format, v->width, v->height,
      v->depth, v->firstMipmapLevel, v->lastMipmapLevel, v->firstLayer, v->lastLayer);
  NEEDS_CONTEXT("cuTexObjectCreate(%s, address %d %d %d, filter %d, flags %#x, anisotropy %u, levels %d %g %g %g, "
      "border %g %g %g %g, %s)", resource_name(d), t->addressMode[0], t->addressMode[1], t->addressMode[2],
      t->filterMode, t->flags, t->maxAnisotropy, t->mipmapFilterMode, t->mipmapLevelBias, t->minMipmapLevelClamp,
      t->maxMipmapLevelClamp, t->borderColor[0], t->borderColor[1], t->borderColor[2], t->borderColor[3], view);
  IS_RESOURCE(d);
  if (d->resType == CU_RESOURCE_TYPE_LINEAR) REACHABLE(d->res.linear.devPtr, d->res.linear.sizeInBytes);
  if (d->resType == CU_RESOURCE_TYPE_PITCH2D) {
    size_t width = d->res.pitch2D.width * element_size(d->res.pitch2D.format, d->res.pitch2D.numChannels);
    GIVEN(width); GIVEN(d->res.pitch2D.height);
    REACHABLE(d->res.pitch2D.devPtr, d->res.pitch2D.pitchInBytes * (d->res.pitch2D.height - 1) + width);
    if (d->res.pitch2D.pitchInBytes % 32 || d->res.pitch2D.pitchInBytes < width)
      MISUSE(CUDA_ERROR_INVALID_VALUE, "pitch");
  }
  if (d->resType >= CU_RESOURCE_TYPE_LINEAR && (d->res.linear.devPtr % 512 || v))
    MISUSE(CUDA_ERROR_INVALID_VALUE, "memory that is not aligned, or a view of it");
  if (d->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY && !(t->flags & CU_TRSF_NORMALIZED_COORDINATES))
    MISUSE(CUDA_ERROR_INVALID_VALUE, "levels without normalized coordinates");
  if (!is_zero(t->reserved, sizeof t->reserved) || (v && !is_zero(v->reserved, sizeof v->reserved)))
    MISUSE(CUDA_ERROR_INVALID_VALUE, "reserved fields");
  *texture = (uintptr_t)make(TEXTURE);
  DONE(0);
}
EXPORT CUresult cuTexObjectDestroy(CUtexObject texture) {
  NEEDS_CONTEXT("cuTexObjectDestroy");
  struct handle *found = find((void *)(uintptr_t)texture, TEXTURE);
  if (!found) MISUSE(CUDA_ERROR_INVALID_VALUE, "not a live texture");
  found->alive = 0;
  DONE(0);
}
EXPORT CUresult cuSurfObjectCreate(CUsurfObject *surface, const CUDA_RESOURCE_DESC *d) {
  NEEDS_CONTEXT("cuSurfObjectCreate(%s)", resource_name(d)); IS_RESOURCE(d);
  if (d->resType != CU_RESOURCE_TYPE_ARRAY) MISUSE(CUDA_ERROR_INVALID_VALUE, "a surface of what is no array");
  if (!(find(d->res.array.hArray, ARRAY)->array.Flags & CUDA_ARRAY3D_SURFACE_LDST)) DONE(CUDA_ERROR_INVALID_VALUE);
  *surface = (uintptr_t)make(SURFACE);
  DONE(0);
}
EXPORT CUresult cuSurfObjectDestroy(CUsurfObject surface) {
  NEEDS_CONTEXT("cuSurfObjectDestroy");
  struct handle *found = find((void *)(uintptr_t)surface, SURFACE);
  if (!found) MISUSE(CUDA_ERROR_INVALID_VALUE, "not a live surface");
  found->alive = 0;
  DONE(0);
}
