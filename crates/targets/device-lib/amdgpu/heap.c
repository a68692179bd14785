/* malloc and free of device code: first fit in a list of free blocks in the order of their addresses, under a lock. The heap is
 * as large as CUDA's is where a program does not say, and part of the module. */
#include "abi.h"

enum { HEAP_BYTES = 8 << 20, GRAIN = 16 };

/* A block of the heap; it counts in units of its own size. */
struct block {
  uint64_t units;
  struct block *next;
};

static SPACE(1) struct block heap[HEAP_BYTES / GRAIN];
static struct block *SPACE(1) first_free;
static SPACE(1) uint32_t is_ready, lock;

static void *take(uint64_t units) {
  if (!is_ready) {
    is_ready = 1;
    first_free = (struct block *)heap;
    first_free->units = HEAP_BYTES / GRAIN;
    first_free->next = 0;
  }
  struct block *before = 0;
  for (struct block *at = first_free; at; before = at, at = at->next) {
    if (at->units < units) continue;
    struct block *rest = at->next;
    if (at->units > units) {
      rest = at + units;
      rest->units = at->units - units;
      rest->next = at->next;
      at->units = units;
    }
    if (before) before->next = rest;
    else first_free = rest;
    return at + 1;
  }
  return 0;
}

static void give(struct block *freed) {
  struct block *before = 0, *after = first_free;
  while (after && after < freed) before = after, after = after->next;
  freed->next = after;
  if (after && freed + freed->units == after) {
    freed->units += after->units;
    freed->next = after->next;
  }
  if (!before) {
    first_free = freed;
  } else if (before + before->units == freed) {
    before->units += freed->units;
    before->next = freed->next;
  } else {
    before->next = freed;
  }
}

/* Takes `units` where `freed` is null. The lanes of a wave go in step: who has the lock gives it back before it waits for the
 * others. */
__attribute__((noinline)) static void *with_lock(uint64_t units, struct block *freed) {
  void *result = 0;
  for (bool done = false; !done;) {
    uint32_t expected = 0;
    if (__scoped_atomic_compare_exchange_n(&lock, &expected, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED,
                                           __MEMORY_SCOPE_DEVICE)) {
      if (freed) give(freed);
      else result = take(units);
      __scoped_atomic_store_n(&lock, 0, __ATOMIC_RELEASE, __MEMORY_SCOPE_DEVICE);
      done = true;
    }
  }
  return result;
}

static void *allocate(uint64_t size) {
  if (size > HEAP_BYTES) return 0;
  return with_lock((size + GRAIN - 1) / GRAIN + 1, 0);
}
static void release(void *pointer) {
  if (pointer) with_lock(0, (struct block *)pointer - 1);
}

DEV(void *, malloc)(uint64_t size) { return allocate(size); }
DEV(void, free)(void *pointer) { release(pointer); }
DEV(void *, calloc)(uint64_t n, uint64_t size) {
  uint64_t bytes;
  if (__builtin_mul_overflow(n, size, &bytes)) return 0;
  void *pointer = allocate(bytes);
  for (uint64_t i = 0; pointer && i < bytes; ++i) ((volatile uint8_t *)pointer)[i] = 0;
  return pointer;
}

/* operator new and delete, all the forms that return or take a plain size. */
DEV(void *, _Znwm)(uint64_t size) { return allocate(size); }
DEV(void *, _Znam)(uint64_t size) { return allocate(size); }
DEV(void, _ZdlPv)(void *pointer) { release(pointer); }
DEV(void, _ZdaPv)(void *pointer) { release(pointer); }
DEV(void, _ZdlPvm)(void *pointer, uint64_t size) { (void)size; release(pointer); }
DEV(void, _ZdaPvm)(void *pointer, uint64_t size) { (void)size; release(pointer); }
