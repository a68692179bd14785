// What the parts of the stand-in share: state.c says what it is.
#ifndef STANDIN_H
#define STANDIN_H

#include "record.h"

#include <cuda.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MAX_GPUS = 8, MAX_HANDLES = 4096, MAX_BLOCKS = 65536 };

// The primary context of a GPU; its address is the CUcontext.
struct context {
  int gpu, users, failed, flags;
  unsigned generation;
  size_t limits[8];
  unsigned cache, banks, peers;
};

enum kind { STREAM, EVENT, MODULE, FUNCTION, POOL, ARRAY, MIPMAP, TEXTURE, SURFACE };
enum { MAX_LEVELS = 16 };

// What a handle leads to. Never freed, so that a stale handle is recognised.
struct handle {
  enum kind kind;
  int id, gpu, alive;
  unsigned generation, flags;
  int priority;
  double time;                  // of an event, milliseconds; negative before it is recorded
  const struct handle *module;  // of a function
  struct image *image;          // of a module
  char name[256];               // of a function
  uint32_t sizes[MAX_PARAMS];   // of a function's parameters
  int params;
  int attributes[16];
  CUDA_ARRAY3D_DESCRIPTOR array;  // of an array, with its storage
  void *storage;
  struct handle *levels[MAX_LEVELS];  // of a mipmapped array
};

// Reads an image that a program loads; NULL if it is none.
struct image *standin_read(const void *bytes);

struct block {
  void *start;
  size_t size;
  enum { ON_DEVICE, MANAGED, HOST, REGISTERED } kind;
  int gpu;
  unsigned flags;
};

extern pthread_mutex_t guard;
extern struct context contexts[MAX_GPUS];
extern struct handle handles[MAX_HANDLES];
extern struct block blocks[MAX_BLOCKS];
extern int handle_count, block_count, initialised;
extern size_t used[MAX_GPUS];
extern _Thread_local struct context *current;

int gpu_count(void);
int capability(int gpu);
size_t memory_size(void);
// Records a call and gives back the lock.
CUresult leave(CUresult code, const char *call);
struct handle *make(enum kind kind);
// A live handle of a kind, or NULL.
struct handle *find(const void *pointer, enum kind kind);
const char *stream_name(CUstream stream);
struct block *block_of(const void *pointer);
int within(const void *pointer, size_t size);
void *allocate(size_t size, int kind, unsigned flags);
void drop(struct block *block);
// Bytes of an array's element; 0 if the format is unknown.
size_t element_size(CUarray_format format, unsigned channels);
// An array with storage, or NULL; *error says why.
struct handle *make_array(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, CUresult *error);
void drop_array(struct handle *array);
// Whether a range is managed memory, as a result.
CUresult on_managed(CUdeviceptr pointer, size_t count);

#define EXPORT __attribute__((visibility("default")))
#define CALL(...) char call[512]; snprintf(call, sizeof call, __VA_ARGS__)
#define DONE(code) return leave(code, call)
#define MISUSE(code, why) do { record("MISUSE %s: %s", call, why); DONE(code); } while (0)
// The start of a call that needs no context.
#define BARE(...) \
  pthread_mutex_lock(&guard); \
  CALL(__VA_ARGS__); \
  { int told = told_to_fail(__func__); if (told) DONE(told); } \
  if (!initialised) MISUSE(CUDA_ERROR_NOT_INITIALIZED, "before cuInit")
// The start of a call that needs one.
#define NEEDS_CONTEXT(...) \
  BARE(__VA_ARGS__); \
  if (!current) MISUSE(CUDA_ERROR_INVALID_CONTEXT, "no current context"); \
  if (!current->users) MISUSE(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the context was destroyed"); \
  if (current->failed) DONE(current->failed)
#define DEVICE(device) if ((device) < 0 || (device) >= gpu_count()) MISUSE(CUDA_ERROR_INVALID_DEVICE, "no such device")
#define GIVEN(pointer) if (!(pointer)) MISUSE(CUDA_ERROR_INVALID_VALUE, "null pointer")
#define IS(handle, kind) if (!find(handle, kind)) MISUSE(CUDA_ERROR_INVALID_HANDLE, "not a live " #kind)
#define IS_STREAM(stream) if ((uintptr_t)(stream) > 2) IS(stream, STREAM)
#define REACHABLE(pointer, size) \
  if (!within((const void *)(uintptr_t)(pointer), size)) MISUSE(CUDA_ERROR_INVALID_VALUE, \
      "not memory of a device, or beyond its end")

#endif
