/* What device code calls as plain functions: printf, assert, abort. Records go to a buffer of the runtime, which reads it after
 * the work is done:
 *
 *   { u32 written; u32 capacity; u32 failed; u32 pad; u8 data[capacity] }
 *
 * A record is claimed by adding its whole size, a multiple of 8, to `written`; one that does not fit is dropped. Its size is
 * written last. */
#include "abi.h"

enum { PRINTF = 1, ASSERT = 2, TRAP = 3 };

struct output {
  uint32_t written, capacity, failed, pad;
  uint8_t data[];
};

/* Set by the runtime before the first launch. */
SPACE(1) __attribute__((visibility("protected"))) struct output *__regrain_output = 0;

static INLINE struct output *output(void) { return *(struct output *SPACE(1) volatile *)&__regrain_output; }

static uint32_t length(const char *text) {
  if (!text) text = "(null)";
  uint32_t n = 0;
  while (text[n]) ++n;
  return n + 1;
}
static INLINE uint32_t padded(uint32_t bytes) { return (bytes + 7) & ~7u; }

static uint8_t *put(uint8_t *to, const void *from, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; ++i) to[i] = ((const uint8_t *)from)[i];
  return to + padded(bytes);
}
static uint8_t *put_string(uint8_t *to, const char *text) {
  uint32_t bytes = length(text);
  ((uint32_t *)to)[0] = bytes;
  ((uint32_t *)to)[1] = 0;
  return put(to + 8, text ? text : "(null)", bytes);
}
static uint32_t string_size(const char *text) { return 8 + padded(length(text)); }

/* Room for a record of so many bytes; null where there is none. */
static uint8_t *claim(uint32_t bytes) {
  struct output *to = output();
  if (!to) return 0;
  uint32_t at = __scoped_atomic_fetch_add(&to->written, bytes, __ATOMIC_RELAXED, __MEMORY_SCOPE_SYSTEM);
  return at <= to->capacity && bytes <= to->capacity - at ? to->data + at : 0;
}
static void publish(uint8_t *record, uint32_t bytes) {
  __scoped_atomic_store_n((uint32_t *)record, bytes, __ATOMIC_RELEASE, __MEMORY_SCOPE_SYSTEM);
}

/* The next conversion of a format at or after *at: its letter, and what its arguments take in the buffer of vprintf; *stars is
 * the number of `*`. 0 at the end. */
static char next_conversion(const char **at, uint32_t *stars) {
  const char *p = *at;
  for (; *p; ++p) {
    if (*p != '%') continue;
    if (*++p == '%') continue;
    *stars = 0;
    for (; *p; ++p) {
      char c = *p;
      if (c == '*') ++*stars;
      bool middle = c == '*' || c == '.' || c == '-' || c == '+' || c == ' ' || c == '#' || c == 'h' || c == 'l' || c == 'j' ||
                    c == 'z' || c == 't' || c == 'L' || (c >= '0' && c <= '9');
      if (!middle) break;
    }
    if (!*p) break;
    *at = p + 1;
    return *p;
  }
  return 0;
}

/* Bytes of a conversion's argument in the buffer of vprintf, where `p` stands behind its letter. */
static uint32_t argument_size(const char *p, char letter) {
  if (letter == 's' || letter == 'p' || letter == 'n') return 8;
  if (letter == 'e' || letter == 'E' || letter == 'f' || letter == 'F' || letter == 'g' || letter == 'G' || letter == 'a' ||
      letter == 'A')
    return 8;
  char before = p[-2];
  return before == 'l' || before == 'j' || before == 'z' || before == 't' ? 8 : 4;
}

struct sizes { uint32_t arguments, strings; };

/* Walks over the arguments; writes the texts of %s to `to` where that is not null. */
static struct sizes walk(const char *format, const char *arguments, uint8_t *to) {
  struct sizes all = {0, 0};
  uint32_t stars = 0;
  char letter;
  while ((letter = next_conversion(&format, &stars)) != 0) {
    all.arguments += 4 * stars;
    uint32_t size = argument_size(format, letter);
    all.arguments = (all.arguments + size - 1) & ~(size - 1);
    if (letter == 's') {
      const char *text = *(const char *const *)(arguments + all.arguments);
      all.strings += string_size(text);
      if (to) to = put_string(to, text);
    }
    all.arguments += size;
  }
  return all;
}

__attribute__((noinline)) DEV(int32_t, vprintf)(const char *format, const void *arguments) {
  struct sizes sizes = walk(format, arguments, 0);
  uint32_t text = length(format), bytes = 16 + padded(text) + padded(sizes.arguments) + sizes.strings;
  uint8_t *record = claim(bytes);
  if (!record) return -1;
  uint32_t *head = (uint32_t *)record;
  head[1] = PRINTF;
  head[2] = text;
  head[3] = sizes.arguments;
  uint8_t *rest = put(put(record + 16, format, text), arguments, sizes.arguments);
  walk(format, arguments, rest);
  publish(record, bytes);
  uint32_t stars, count = 0;
  while (next_conversion(&format, &stars)) ++count;
  return (int32_t)count;
}

/* The wave ends: what waits for it at a barrier goes on. */
__attribute__((noreturn)) static void fail(uint32_t kind) {
  struct output *to = output();
  if (to) __scoped_atomic_store_n(&to->failed, kind, __ATOMIC_RELEASE, __MEMORY_SCOPE_SYSTEM);
  __builtin_amdgcn_endpgm();
}

__attribute__((noinline, noreturn)) void __regrain_trap(void) {
  uint8_t *record = claim(8);
  if (record) {
    ((uint32_t *)record)[1] = TRAP;
    publish(record, 8);
  }
  fail(TRAP);
}

__attribute__((noinline, noreturn)) static void
assertion(const char *message, const char *file, uint32_t line, const char *function) {
  uint32_t bytes = 40 + string_size(message) + string_size(file) + string_size(function);
  uint8_t *record = claim(bytes);
  if (record) {
    uint32_t *head = (uint32_t *)record;
    head[1] = ASSERT;
    head[2] = line;
    head[3] = __builtin_amdgcn_workgroup_id_x();
    head[4] = __builtin_amdgcn_workgroup_id_y();
    head[5] = __builtin_amdgcn_workgroup_id_z();
    head[6] = __builtin_amdgcn_workitem_id_x();
    head[7] = __builtin_amdgcn_workitem_id_y();
    head[8] = __builtin_amdgcn_workitem_id_z();
    head[9] = 0;
    put_string(put_string(put_string(record + 40, message), file), function);
    publish(record, bytes);
  }
  fail(ASSERT);
}
DEV(void, __assertfail)(const char *message, const char *file, uint32_t line, const char *function, uint64_t charsize) {
  (void)charsize;
  assertion(message, file, line, function);
}
DEV(void, __assert_fail)(const char *message, const char *file, uint32_t line, const char *function) {
  assertion(message, file, line, function);
}
DEV(void, __nv_abort)(void) { __regrain_trap(); }
DEV(void, abort)(void) { __regrain_trap(); }
DEV(void, __cxa_pure_virtual)(void) { __regrain_trap(); }

static INLINE void copy_bytes(uint8_t *to, const uint8_t *from, size_t n) {
  for (size_t i = 0; i < n; ++i) *(volatile uint8_t *)(to + i) = from[i];
}
DEV(void *, memcpy)(void *to, const void *from, size_t n) { return copy_bytes(to, from, n), to; }
DEV(void *, memmove)(void *to, const void *from, size_t n) {
  if ((uint8_t *)to <= (const uint8_t *)from) return copy_bytes(to, from, n), to;
  while (n--) *((volatile uint8_t *)to + n) = ((const uint8_t *)from)[n];
  return to;
}
DEV(void *, memset)(void *to, int value, size_t n) {
  for (size_t i = 0; i < n; ++i) *((volatile uint8_t *)to + i) = (uint8_t)value;
  return to;
}
DEV(int, memcmp)(const void *a, const void *b, size_t n) {
  const uint8_t *x = a, *y = b;
  for (size_t i = 0; i < n; ++i)
    if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
  return 0;
}

