// A stand-in for NVIDIA's driver library, for tests on machines without a GPU. It records calls, checks their
// arguments, and keeps device memory in host memory, so that copies round-trip. Kernels do nothing. NVIDIA's header
// gives the prototypes and the names that the symbols have (cuMemAlloc is cuMemAlloc_v2).
//
// Build:  cc -shared -fPIC -fvisibility=hidden -I <CUDA>/include -I crates/runtime/tests/standin -o libcuda.so.1
//             crates/runtime/tests/libcuda/*.c crates/runtime/tests/standin/*.c
// Use:    LD_LIBRARY_PATH=<folder of libcuda.so.1>
//
// LIBCUDA_LOG          file to which each call is appended, as "t<thread> g<GPU> <call> = <code>"; a wrong call gives a
//                      line with "MISUSE"
// LIBCUDA_GPUS         number of GPUs (1)
// LIBCUDA_CAPABILITY   their compute capabilities, as in "80,90": the last one holds for the rest (80)
// LIBCUDA_MEMORY       bytes of memory of each (1 GiB)
// LIBCUDA_FAIL         "cuInit=100,cuMemAlloc=2@3": calls that fail with a code; the third call alone
// LIBCUDA_KERNEL_FAIL  "name=719": that kernel fails when it runs: what follows on its GPU returns the code, until the
//                      GPU is reset
#include "standin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
struct context contexts[MAX_GPUS];
struct handle handles[MAX_HANDLES];
struct block blocks[MAX_BLOCKS];
int handle_count, block_count, initialised;
size_t used[MAX_GPUS];
_Thread_local struct context *current;

const char *const standin_log = "LIBCUDA_LOG", *const standin_fail = "LIBCUDA_FAIL";
int standin_gpu(void) { return current ? current->gpu : -1; }

int gpu_count(void) { return atoi(setting("LIBCUDA_GPUS", "1")); }

int capability(int gpu) {
  const char *list = setting("LIBCUDA_CAPABILITY", "80");
  for (; gpu > 0 && strchr(list, ','); gpu--) list = strchr(list, ',') + 1;
  return atoi(list);
}

size_t memory_size(void) { return strtoull(setting("LIBCUDA_MEMORY", "1073741824"), NULL, 0); }

CUresult leave(CUresult code, const char *call) {
  record("%s = %d", call, code);
  pthread_mutex_unlock(&guard);
  return code;
}

struct handle *make(enum kind kind) {
  struct handle *made = &handles[handle_count];
  memset(made, 0, sizeof *made);
  *made = (struct handle){.kind = kind, .id = handle_count++, .gpu = current->gpu, .alive = 1,
      .generation = current->generation};
  return made;
}

struct handle *find(const void *pointer, enum kind kind) {
  const struct handle *handle = pointer;
  if (handle < handles || handle >= handles + handle_count) return NULL;
  struct handle *found = &handles[handle - handles];
  if (found->kind != kind || !found->alive || found->generation != contexts[found->gpu].generation) return NULL;
  return found;
}

const char *stream_name(CUstream stream) {
  static _Thread_local char text[4][32];
  static _Thread_local int next;
  char *to = text[next++ % 4];
  if ((uintptr_t)stream < 2) return "legacy";
  if ((uintptr_t)stream == 2) return "per-thread";
  const struct handle *handle = (const void *)stream;
  if (handle < handles || handle >= handles + MAX_HANDLES) return "wild";
  snprintf(to, 32, "stream%d", handle->id);
  return to;
}

struct block *block_of(const void *pointer) {
  for (int at = 0; at < block_count; at++)
    if (blocks[at].start <= pointer && (char *)pointer < (char *)blocks[at].start + blocks[at].size) return &blocks[at];
  return NULL;
}

int within(const void *pointer, size_t size) {
  struct block *block = block_of(pointer);
  return block && (char *)pointer + size <= (char *)block->start + block->size;
}

void *allocate(size_t size, int kind, unsigned flags) {
  if (kind != REGISTERED && used[current->gpu] + size > memory_size()) return NULL;
  if (block_count == MAX_BLOCKS) return NULL;
  void *start = aligned_alloc(512, (size + 511) / 512 * 512);
  if (!start) return NULL;
  memset(start, 0xcd, size);
  blocks[block_count++] = (struct block){start, size, kind, current->gpu, flags};
  used[current->gpu] += size;
  return start;
}

void drop(struct block *block) {
  if (block->kind != REGISTERED) {
    free(block->start);
    used[block->gpu] -= block->size;
  }
  *block = blocks[--block_count];
}
