// What the stand-ins for vendors' libraries share: settings, the log of calls, and the short form of images.
#ifndef RECORD_H
#define RECORD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MAX_PARAMS = 64 };

// Given by each stand-in: the names of its settings, and the calling thread's GPU, -1 for none.
extern const char *const standin_log, *const standin_fail;
int standin_gpu(void);

// An environment variable that is set and not empty, or something else.
const char *setting(const char *name, const char *otherwise);
// Appends a line to the log; the caller holds a lock.
__attribute__((format(printf, 1, 2))) void record(const char *format, ...);
// The code that a call is told to fail with, 0 for none. The setting is as "cuInit=100,cuMemAlloc=2@3": the third call
// alone.
int told_to_fail(const char *function);

struct variable {
  struct variable *next;
  char name[256];
  size_t size;
  int managed;
  void *address;
};

struct kernel {
  struct kernel *next;
  char name[256];
  uint32_t sizes[MAX_PARAMS];
  int params;
};

// The kernels and variables of a module.
struct image {
  const char *what;
  char arch[64];  // empty where the image does not say
  struct kernel *kernels;
  struct variable *variables;
};

struct kernel *add_kernel(struct image *image, const char *name, size_t length);
struct variable *add_variable(struct image *image, const char *name, size_t size, int managed);

// Reads the short form that tests use, lines of text:
//   arch <name>
//   kernel <name> <size of each parameter>...
//   var <name> <size>
//   managed <name> <size>
//   end
// Returns whether it is one.
int read_lines(struct image *image, const char *text);

#ifdef __cplusplus
}
#endif
#endif
