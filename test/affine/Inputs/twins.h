// A function and a twin of it that no optimisation touches, run on two copies of the same memory: every byte must be the same.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TWINS(name, parameters, ...)                                                                                   \
  static __attribute__((noinline)) void name parameters __VA_ARGS__                                                   \
  static __attribute__((noinline, optnone)) void name##_twin parameters __VA_ARGS__

enum { MOST_ARRAYS = 10 };

// Memory for the arrays of a call, twice, with room around each.
static struct {
  double *mine[MOST_ARRAYS], *twins[MOST_ARRAYS];
  size_t bytes[MOST_ARRAYS];
  int count;
} arrays;

enum { ROOM = 64 };

static void fresh(int count, ...) {
  va_list sizes;
  va_start(sizes, count);
  arrays.count = count;
  unsigned state = 12345;
  for (int k = 0; k < count; k++) {
    size_t bytes = arrays.bytes[k] = va_arg(sizes, size_t) + 2 * ROOM * sizeof(double);
    arrays.mine[k] = malloc(bytes), arrays.twins[k] = malloc(bytes);
    for (size_t i = 0; i < bytes / sizeof(float); i++) {
      state = state * 1664525u + 1013904223u;
      // Of two floats a double of about the same size.
      ((float *)arrays.mine[k])[i] = (float)(state >> 8) / (1 << 24) + 0.5f;
    }
    memcpy(arrays.twins[k], arrays.mine[k], bytes);
  }
  va_end(sizes);
}

static void *mine(int k) { return arrays.mine[k] + ROOM; }
static void *twin(int k) { return arrays.twins[k] + ROOM; }

static int failures;

static void same(const char *name, long size) {
  for (int k = 0; k < arrays.count; k++) {
    if (memcmp(arrays.mine[k], arrays.twins[k], arrays.bytes[k]) != 0) {
      printf("%s differs in array %d for size %ld\n", name, k, size);
      failures++;
    }
    free(arrays.mine[k]), free(arrays.twins[k]);
  }
}

// Sizes that are nothing, one, odd, and more than a block.
static const int sizes[] = {0, 1, 2, 5, 17, 33, 70};
#define EACH(size) for (unsigned which = 0, size = 0; which < sizeof sizes / sizeof *sizes && ((size = sizes[which]), 1); which++)
