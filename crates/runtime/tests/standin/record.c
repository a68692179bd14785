// Settings, the log of calls, and the short form of images: record.h says what they are.
#include "record.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int thread_count;
static _Thread_local int thread_id = -1;

const char *setting(const char *name, const char *otherwise) {
  const char *value = getenv(name);
  return value && *value ? value : otherwise;
}

void record(const char *format, ...) {
  const char *path = getenv(standin_log);
  if (!path) return;
  FILE *file = fopen(path, "a");
  if (!file) return;
  if (thread_id < 0) thread_id = thread_count++;
  fprintf(file, "t%d g%d ", thread_id, standin_gpu());
  va_list list;
  va_start(list, format);
  vfprintf(file, format, list);
  va_end(list);
  fputc('\n', file);
  fclose(file);
}

int told_to_fail(const char *function) {
  static struct { char name[64]; int calls; } seen[64];
  const char *list = setting(standin_fail, "");
  // The header's macros give functions the names of their versions.
  size_t length = strcspn(function, "_");
  for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
    if (strncmp(at, function, length) || at[length] != '=') continue;
    char *end;
    int code = (int)strtol(at + length + 1, &end, 10);
    if (*end != '@') return code;
    for (int slot = 0; slot < 64; slot++) {
      if (seen[slot].name[0] && strcmp(seen[slot].name, function)) continue;
      snprintf(seen[slot].name, sizeof seen[slot].name, "%s", function);
      return ++seen[slot].calls == atoi(end + 1) ? code : 0;
    }
  }
  return 0;
}

struct kernel *add_kernel(struct image *image, const char *name, size_t length) {
  struct kernel *made = calloc(1, sizeof *made);
  snprintf(made->name, sizeof made->name, "%.*s", (int)length, name);
  made->next = image->kernels;
  return image->kernels = made;
}

struct variable *add_variable(struct image *image, const char *name, size_t size, int managed) {
  struct variable *made = calloc(1, sizeof *made);
  snprintf(made->name, sizeof made->name, "%s", name);
  made->size = size;
  made->managed = managed;
  made->next = image->variables;
  return image->variables = made;
}

int read_lines(struct image *image, const char *text) {
  char line[1024];
  int known = 0;
  for (;;) {
    size_t length = strcspn(text, "\n");
    if (length == 0 || length >= sizeof line) return known;
    memcpy(line, text, length);
    line[length] = 0;
    if (!strcmp(line, "end")) return known;
    char *word = strtok(line, " "), *name = strtok(NULL, " ");
    if (!word || !name) return known;
    if (!strcmp(word, "arch")) {
      snprintf(image->arch, sizeof image->arch, "%s", name);
    } else if (!strcmp(word, "kernel")) {
      struct kernel *kernel = add_kernel(image, name, strlen(name));
      for (char *size; kernel->params < MAX_PARAMS && (size = strtok(NULL,
          " "));) kernel->sizes[kernel->params++] = (uint32_t)atoi(size);
    } else if (!strcmp(word, "var") || !strcmp(word, "managed")) {
      char *size = strtok(NULL, " ");
      add_variable(image, name, size ? (size_t)atol(size) : 0, *word == 'm');
    } else {
      return known;
    }
    known = 1;
    text += length + (text[length] == '\n');
  }
}
