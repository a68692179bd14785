/* Test: the vector forms of a function have the bits of the scalar one. `FORMS` holds a row for each form: its name, number of elements,
 * types (result and arguments), and two functions that apply the scalar one and the vector one to memory. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef void apply(void *result, const void *x, const void *y, const void *z);
#define FORM(name, lanes, types, scalar, vector) apply scalar, vector;
#include "forms.inc"
#undef FORM

enum { COUNT = 1 << 13 };
static float f[COUNT];
static double d[COUNT];
static int32_t n[COUNT];
static uint64_t state = 2026;
static uint64_t random_bits(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 31 ^ state << 33;
}

/* Special numbers, numbers near to what forms treat in another way, all bits at random, and usual ones. */
static const float edges[] = {0, 1, 2, 0.5f, 0.625f, 0.93f, 3.95f, 10, 88.72284f, 89, 104, 128, 150, 0x1p17f, 0x1p23f, 0x1p24f, 0x1p31f,
                              0x1p-126f, 0x1p-149f, 0x1p-13f, 0x1.fffffep127f, 0x1.921fb6p0f, 1e10f, 3, 1.5f, 709.78f, 745.13f, 1023, 1074};
static void fill(void) {
  int at = 0;
  const uint32_t special[] = {0x7f800000, 0x7fc00000, 0x7fffffff, 0x7f800001};
  for (unsigned sign = 0; sign < 2; ++sign) {
    for (unsigned i = 0; i < sizeof special / sizeof *special; ++i, ++at) {
      uint32_t bits = special[i] | sign << 31;
      memcpy(&f[at], &bits, 4);
      d[at] = f[at];
    }
    for (unsigned i = 0; i < sizeof edges / sizeof *edges; ++i)
      for (int step = -2; step <= 2; ++step, ++at) {
        uint32_t bits;
        memcpy(&bits, &edges[i], 4);
        bits = (bits + (uint32_t)step) ^ sign << 31;
        memcpy(&f[at], &bits, 4);
        d[at] = f[at];
      }
  }
  for (; at < COUNT; ++at) {
    uint64_t bits = random_bits();
    if (at & 1) {
      const double ranges[] = {1, 2, 10, 100, 1000, 1e5, 1e7, 1e12};
      d[at] = ((int64_t)bits * 0x1p-63) * ranges[at >> 1 & 7];
      f[at] = (float)d[at];
    } else {
      memcpy(&d[at], &bits, 8);
      uint32_t half = (uint32_t)(bits >> 16);
      memcpy(&f[at], &half, 4);
    }
  }
  for (int i = 0; i < COUNT; ++i) n[i] = i & 1 ? (int32_t)(random_bits() % 300) - 150 : (int32_t)random_bits();
}

static size_t size_of(char type) { return type == 'd' ? 8 : 4; }
/* The arguments of one place, rotated so that all kinds of numbers meet. */
static const void *argument(char type, int rotation) {
  static char copies[3][COUNT * 8];
  const char *from = type == 'd' ? (const char *)d : type == 'f' ? (const char *)f : (const char *)n;
  char *to = copies[rotation % 3];
  size_t size = size_of(type);
  for (int i = 0; i < COUNT; ++i) memcpy(to + (size_t)i * size, from + (size_t)((i * (2 * rotation + 1) + 131 * rotation) % COUNT) * size, size);
  return to;
}

static int check(const char *name, int lanes, const char *types, apply *scalar, apply *vector) {
  static _Alignas(256) char wanted[COUNT * 8], got[COUNT * 8];
  const char *x[3];
  size_t size = size_of(types[0]), step[3];
  for (int i = 0; i < 3; ++i) {
    char type = i + 1 < (int)strlen(types) ? types[i + 1] : types[1];
    x[i] = argument(type, i);
    step[i] = size_of(type);
  }
  for (size_t i = 0; i < COUNT; ++i) scalar(wanted + i * size, x[0] + i * step[0], x[1] + i * step[1], x[2] + i * step[2]);
  for (size_t i = 0; i < COUNT; i += (size_t)lanes) vector(got + i * size, x[0] + i * step[0], x[1] + i * step[1], x[2] + i * step[2]);
  for (size_t i = 0; i < COUNT; ++i)
    if (memcmp(wanted + i * size, got + i * size, size) != 0) {
      uint64_t a = 0, b = 0, first = 0, second = 0;
      memcpy(&a, wanted + i * size, size);
      memcpy(&b, got + i * size, size);
      memcpy(&first, x[0] + i * step[0], step[0]);
      memcpy(&second, x[1] + i * step[1], step[1]);
      printf("%s of %d at %lx, %lx: %lx alone, %lx in a vector\n", name, lanes, (unsigned long)first, (unsigned long)second, (unsigned long)a, (unsigned long)b);
      return 1;
    }
  return 0;
}

int main(void) {
  int failures = 0, forms = 0;
  fill();
#define FORM(name, lanes, types, scalar, vector) ++forms, failures += check(name, lanes, types, scalar, vector);
#include "forms.inc"
  printf("%d forms\n", forms);
  return failures != 0 || forms < 60;
}
