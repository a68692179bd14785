/* Textures and surfaces: CUDA C++ Programming Guide, "Texture Fetching" and "Surface Functions".
 *
 * A fetch gives four words: bits of numbers, or integers. Weights of linear filtering have 8 bits behind the point, as the guide has it,
 * so that a position between two elements is one of 257; sums go in the order of the guide's formulas. */
#include "abi.h"
#include "regrain_texture.h"

typedef uint32_t words __attribute__((ext_vector_type(4)));
typedef float numbers __attribute__((ext_vector_type(4)));
typedef uint64_t halves __attribute__((ext_vector_type(2)));

enum geometry { LINE = 1, PLANE = 2, VOLUME = 3, CUBE = 4 };
enum mode { WRAP, CLAMP, MIRROR, BORDER };
enum kind { SIGNED, UNSIGNED, FLOAT };
enum boundary { ZERO, EDGE, TRAP };

#define PURE __attribute__((pure))

static INLINE const struct regrain_texture *object(uint64_t handle) { return (const struct regrain_texture *)handle; }

static INLINE float half_to_float(uint16_t bits) {
  _Float16 value;
  __builtin_memcpy(&value, &bits, 2);
  return (float)value;
}

static INLINE float of_bits(uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, 4);
  return value;
}

static INLINE uint32_t of_float(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, 4);
  return bits;
}

static INLINE numbers as_numbers(words bits) {
  numbers found;
  __builtin_memcpy(&found, &bits, sizeof found);
  return found;
}

static INLINE words as_words(numbers values) {
  words found;
  __builtin_memcpy(&found, &values, sizeof found);
  return found;
}

/* From the curve of sRGB (IEC 61966-2-1) to light. */
static float linear_light(float value) {
  return value <= 0.04045f ? value / 12.92f : __nv_exp2f(2.4f * __nv_log2f((value + 0.055f) / 1.055f));
}

/* One channel of an element. */
static INLINE uint32_t channel(const struct regrain_texture *t, const unsigned char *at, uint32_t number) {
  if (t->bits == 32) {
    uint32_t word;
    __builtin_memcpy(&word, at + 4 * number, 4);
    return word;
  }
  uint16_t narrow = at[number];
  if (t->bits == 16) __builtin_memcpy(&narrow, at + 2 * number, 2);
  if (t->kind == FLOAT) return of_float(half_to_float(narrow));
  int32_t value = t->kind == UNSIGNED ? narrow : t->bits == 16 ? (int16_t)narrow : (int8_t)narrow;
  if (!t->to_float) return (uint32_t)value;
  float most = (float)((1 << (t->bits - (t->kind == SIGNED))) - 1);
  float part = (float)value / most;
  if (part < -1.0f) part = -1.0f;
  /* What is transparent has no curve. */
  return of_float(t->srgb && t->bits == 8 && number < 3 ? linear_light(part) : part);
}

static words element(const struct regrain_texture *t, const unsigned char *at) {
  words found = 0;
  found.x = channel(t, at, 0);
  if (t->channels > 1) found.y = channel(t, at, 1);
  if (t->channels > 2) found.z = channel(t, at, 2), found.w = channel(t, at, 3);
  return found;
}

static INLINE int32_t limited(int32_t value, int32_t count) { return value < 0 ? 0 : value < count ? value : count - 1; }

/* Where a number lies among `count` elements; -1 outside, where there is a border. */
static INLINE int32_t place(uint32_t mode, int32_t at, int32_t count) {
  if ((uint32_t)at < (uint32_t)count) return at;
  if (mode == BORDER) return -1;
  if (mode == WRAP) return (at % count + count) % count;
  if (mode == MIRROR) {
    int32_t twice = (at % (2 * count) + 2 * count) % (2 * count);
    return twice < count ? twice : 2 * count - 1 - twice;
  }
  return limited(at, count);
}

/* A coordinate that an integer holds. What is no number is 0. */
static INLINE float bounded(float x) { return x > -1e6f ? (x < 1e6f ? x : 1e6f) : x == x ? -1e6f : 0.0f; }

/* A coordinate in elements. Where it repeats, only what is behind the point counts. */
static INLINE float position(const struct regrain_texture *t, uint32_t mode, float x, int32_t count) {
  if (t->normalized) {
    if (mode == WRAP) x -= __builtin_floorf(x);
    if (mode == MIRROR) x -= 2 * __builtin_floorf(x / 2);
    x *= (float)count;
  }
  return bounded(x);
}

/* A weight with 8 bits behind the point. */
static INLINE float weight(float part) { return __builtin_floorf(part * 256.0f + 0.5f) * (1.0f / 256.0f); }

/* Two neighbours on one axis, and the weight of the second. */
struct pair {
  int32_t low, high;
  float part;
};

/* What lies between elements, by the guide's formulas; AT gives one. The same for each way to fetch: their bits are. */
#define ON_LINE(AT, k) ((1 - i.part) * AT(i.low, j.low, k) + i.part * AT(i.high, j.low, k))
#define ON_PLANE(AT, k)                                                                                                            \
  ((1 - i.part) * (1 - j.part) * AT(i.low, j.low, k) + i.part * (1 - j.part) * AT(i.high, j.low, k) +                              \
   (1 - i.part) * j.part * AT(i.low, j.high, k) + i.part * j.part * AT(i.high, j.high, k))
#define IN_VOLUME(AT) ((1 - k.part) * ON_PLANE(AT, k.low) + k.part * ON_PLANE(AT, k.high))

static INLINE words border(const struct regrain_texture *t) {
  words found;
  __builtin_memcpy(&found, t->border, sizeof found);
  if (t->kind != FLOAT && !t->to_float)
    for (int i = 0; i < 4; ++i) found[i] = (uint32_t)(int32_t)t->border[i];
  return found;
}

static words at(const struct regrain_texture *t, const struct regrain_texture_level *l, int32_t x, int32_t y, int32_t z) {
  x = place(t->mode[0], x, l->width), y = place(t->mode[1], y, l->height);
  if ((x | y | z) < 0) return border(t);
  uint64_t bytes = (uint64_t)x * (t->channels * t->bits / 8);
  return element(t, l->data + (uint64_t)z * l->slice + (uint64_t)y * l->row + bytes);
}

/* One fetch from a level; `layer` is the slice where z is no coordinate. */
static words fetch_level(const struct regrain_texture *t, const struct regrain_texture_level *l, uint32_t geometry, float x, float y, float z,
                         int32_t layer) {
  x = position(t, t->mode[0], x, l->width);
  y = geometry == LINE ? 0 : position(t, t->mode[1], y, l->height);
  z = geometry == VOLUME ? position(t, t->mode[2], z, l->depth) : 0;
  if (!t->linear) {
    int32_t slice = geometry == VOLUME ? place(t->mode[2], (int32_t)__builtin_floorf(z), l->depth) : layer;
    return at(t, l, (int32_t)__builtin_floorf(x), (int32_t)__builtin_floorf(y), slice);
  }
  x -= 0.5f, y -= 0.5f, z -= 0.5f;
  float left = __builtin_floorf(x), low = __builtin_floorf(y), near = __builtin_floorf(z);
  struct pair i = {(int32_t)left, (int32_t)left + 1, weight(x - left)}, j = {0, 0, 0}, k = {layer, layer, 0};
  if (geometry != LINE) j = (struct pair){(int32_t)low, (int32_t)low + 1, weight(y - low)};
  if (geometry == VOLUME) {
    k.low = place(t->mode[2], (int32_t)near, l->depth);
    k.high = place(t->mode[2], (int32_t)near + 1, l->depth);
    k.part = weight(z - near);
  }
#define AT(i, j, k) as_numbers(at(t, l, i, j, k))
  if (geometry == LINE) return as_words(ON_LINE(AT, k.low));
  return as_words(geometry == PLANE ? ON_PLANE(AT, k.low) : IN_VOLUME(AT));
#undef AT
}

/* The face of a cube that a direction meets, and where (the guide's table of faces). */
static int32_t face(float *x, float *y, float z) {
  float across = __builtin_fabsf(*x), up = __builtin_fabsf(*y), along = __builtin_fabsf(z), m, s, t;
  int32_t number;
  if (across >= up && across >= along)
    number = *x < 0, m = across, s = *x < 0 ? z : -z, t = -*y;
  else if (up >= along)
    number = 2 + (*y < 0), m = up, s = *x, t = *y < 0 ? -z : z;
  else
    number = 4 + (z < 0), m = along, s = z < 0 ? -*x : *x, t = -*y;
  *x = (s / m + 1) / 2, *y = (t / m + 1) / 2;
  return number;
}

/* Any fetch; `layer` is 0 where there are none, `lod` the level. */
PURE __attribute__((noinline)) words __regrain_texture_fetch(uint64_t handle, uint32_t geometry, float x, float y, float z, int32_t layer,
                                                             float lod) {
  const struct regrain_texture *t = object(handle);
  if (geometry == CUBE) {
    int32_t number = face(&x, &y, z);
    layer = 6 * limited(layer, t->level[0].depth / 6) + number;
    geometry = PLANE;
  } else if (geometry != VOLUME) {
    layer = limited(layer, t->level[0].depth);
  }
  if (t->levels == 1) return fetch_level(t, &t->level[0], geometry, x, y, z, layer);
  lod += t->bias;
  lod = lod > t->lowest ? lod : t->lowest;
  lod = lod < t->highest ? lod : t->highest;
  int32_t top = (int32_t)t->levels - 1;
  lod = lod > 0 ? (lod < (float)top ? lod : (float)top) : 0;
  if (!t->linear_levels) return fetch_level(t, &t->level[(int32_t)__builtin_floorf(lod + 0.5f)], geometry, x, y, z, layer);
  float whole = __builtin_floorf(lod), part = weight(lod - whole);
  words fine = fetch_level(t, &t->level[(int32_t)whole], geometry, x, y, z, layer);
  if (part == 0) return fine;
  words coarse = fetch_level(t, &t->level[limited((int32_t)whole + 1, top + 1)], geometry, x, y, z, layer);
  return as_words((1 - part) * as_numbers(fine) + part * as_numbers(coarse));
}

static INLINE struct pair neighbours(const struct regrain_texture *t, uint32_t mode, float x, int32_t count) {
  float scale = t->normalized ? (float)count : 1.0f;
  x = (mode == WRAP ? x - __builtin_floorf(x) : x) * scale;
  x = bounded(x);
  if (t->linear) x -= 0.5f;
  float whole = __builtin_floorf(x);
  int32_t low = (int32_t)whole, high = low + 1, last = count - 1;
  struct pair found = {low, high, weight(x - whole)};
  if (mode == WRAP) {
    found.low = low < 0 ? low + count : low > last ? low - count : low;
    found.high = high > last ? high - count : high;
  } else {
    found.low = limited(low, count), found.high = limited(high, count);
  }
  return found;
}

/* Whether fetches take the short way. */
INLINE bool __regrain_texture_is_quick(uint64_t handle) { return object(handle)->quick; }

/* One channel of a fetch that takes the short way: rows of threads go through it together, so that it has branches for all of them alone. */
INLINE uint32_t __regrain_texture_channel(uint64_t handle, uint32_t geometry, float x, float y, float z, int32_t layer, uint32_t number) {
  const struct regrain_texture *t = object(handle);
  const struct regrain_texture_level *l = &t->level[0];
  if (number > 0 && number >= t->channels) return 0;
  const uint32_t *data = (const uint32_t *)l->data + number;
  int32_t row = (int32_t)(l->row / 4), slice = (int32_t)(l->slice / 4), channels = (int32_t)t->channels;
  struct pair i = neighbours(t, t->mode[0], x, l->width), j = {0, 0, 0}, k = {0, 0, 0};
  if (geometry >= PLANE) j = neighbours(t, t->mode[1], y, l->height);
  if (geometry == VOLUME) k = neighbours(t, t->mode[2], z, l->depth);
  else k.low = limited(layer, l->depth);
#define AT(i, j, k) of_bits(data[(k) * slice + (j) * row + (i) * channels])
  if (!t->linear) return of_float(AT(i.low, j.low, k.low));
  if (geometry == LINE) return of_float(ON_LINE(AT, k.low));
  return of_float(geometry == PLANE ? ON_PLANE(AT, k.low) : IN_VOLUME(AT));
#undef AT
}

/* The level for coordinates that change by so much from one point of the picture to the next, in x and in y. */
PURE float __regrain_texture_level(uint64_t handle, uint32_t geometry, float ux, float uy, float uz, float vx, float vy, float vz) {
  const struct regrain_texture *t = object(handle);
  const struct regrain_texture_level *l = &t->level[0];
  if (t->levels == 1) return 0;
  float w = t->normalized ? (float)l->width : 1, h = t->normalized ? (float)l->height : 1, d = t->normalized ? (float)l->depth : 1;
  if (geometry == LINE) uy = vy = 0;
  if (geometry != VOLUME) uz = vz = 0;
  float u = ux * w * (ux * w) + uy * h * (uy * h) + uz * d * (uz * d);
  float v = vx * w * (vx * w) + vy * h * (vy * h) + vz * d * (vz * d);
  float longest = u > v ? u : v;
  return longest > 0 ? 0.5f * __nv_log2f(longest) : 0;
}

PURE __attribute__((noinline)) words __regrain_texture_element_any(uint64_t handle, int32_t x) {
  const struct regrain_texture *t = object(handle);
  return element(t, t->level[0].data + (uint64_t)(uint32_t)x * (t->channels * t->bits / 8));
}

/* `tex1Dfetch`: an element of linear memory. Outside is 0. */
INLINE words __regrain_texture_element(uint64_t handle, int32_t x) {
  const struct regrain_texture *t = object(handle);
  const uint32_t *data = (const uint32_t *)t->level[0].data;
  words found = 0;
  if ((uint32_t)x >= (uint32_t)t->level[0].width) return found;
  uint32_t channels = t->bits == 32 ? t->channels : 0;
  if (channels == 1) {
    found.x = data[x];
  } else if (channels == 2) {
    found.x = data[2 * x], found.y = data[2 * x + 1];
  } else if (channels == 4) {
    found.x = data[4 * x], found.y = data[4 * x + 1], found.z = data[4 * x + 2], found.w = data[4 * x + 3];
  } else {
    found = __regrain_texture_element_any(handle, x);
  }
  return found;
}

/* One channel of the four elements that linear filtering would take. */
PURE words __regrain_texture_gather(uint64_t handle, uint32_t number, float x, float y) {
  const struct regrain_texture *t = object(handle);
  const struct regrain_texture_level *l = &t->level[0];
  int32_t i = (int32_t)__builtin_floorf(position(t, t->mode[0], x, l->width) - 0.5f);
  int32_t j = (int32_t)__builtin_floorf(position(t, t->mode[1], y, l->height) - 0.5f);
  words found;
  found.x = at(t, l, i, j + 1, 0)[number];
  found.y = at(t, l, i + 1, j + 1, 0)[number];
  found.z = at(t, l, i + 1, j, 0)[number];
  found.w = at(t, l, i, j, 0)[number];
  return found;
}

/* Where an element of a surface lies whose x counts bytes; NULL outside. */
static INLINE unsigned char *on_surface(uint64_t handle, uint32_t bytes, int32_t x, int32_t y, int32_t z) {
  const struct regrain_texture *t = object(handle);
  const struct regrain_texture_level *l = &t->level[0];
  int32_t width = l->width * (int32_t)(t->channels * t->bits / 8);
  /* One question, not four branches. */
  bool outside = (x < 0) | (x > width - (int32_t)bytes) | ((uint32_t)y >= (uint32_t)l->height) | ((uint32_t)z >= (uint32_t)l->depth);
  return outside ? NULL : l->data + (int64_t)z * (int64_t)l->slice + (int64_t)y * (int64_t)l->row + (int64_t)x;
}

static INLINE halves load(const unsigned char *from, uint32_t bytes) {
  halves found = 0;
  uint64_t wide[2] = {0, 0};
  uint32_t word = 0;
  uint16_t half = 0;
  if (bytes == 1) found.x = *from;
  if (bytes == 2) __builtin_memcpy(&half, from, 2), found.x = half;
  if (bytes == 4) __builtin_memcpy(&word, from, 4), found.x = word;
  if (bytes == 8) __builtin_memcpy(wide, from, 8), found.x = wide[0];
  if (bytes == 16) __builtin_memcpy(wide, from, 16), found.x = wide[0], found.y = wide[1];
  return found;
}

static INLINE void store(unsigned char *to, uint32_t bytes, uint64_t low, uint64_t high) {
  uint64_t wide[2] = {low, high};
  uint32_t word = (uint32_t)low;
  uint16_t half = (uint16_t)low;
  if (bytes == 1) *to = (uint8_t)low;
  if (bytes == 2) __builtin_memcpy(to, &half, 2);
  if (bytes == 4) __builtin_memcpy(to, &word, 4);
  if (bytes == 8) __builtin_memcpy(to, wide, 8);
  if (bytes == 16) __builtin_memcpy(to, wide, 16);
}

/* Where an access goes that is outside; NULL where nothing is to be done. */
static unsigned char *beyond(uint64_t handle, uint32_t boundary, uint32_t bytes, int32_t x, int32_t y, int32_t z) {
  const struct regrain_texture *t = object(handle);
  const struct regrain_texture_level *l = &t->level[0];
  if (boundary == TRAP) __regrain_trap();
  if (boundary == ZERO) return NULL;
  int32_t last = l->width * (int32_t)(t->channels * t->bits / 8) - (int32_t)bytes;
  return l->data + (uint64_t)limited(z, l->depth) * l->slice + (uint64_t)limited(y, l->height) * l->row + (uint64_t)limited(x, last + 1);
}

__attribute__((noinline)) halves __regrain_surface_load_beyond(uint64_t handle, uint32_t boundary, uint32_t bytes, int32_t x, int32_t y,
                                                               int32_t z) {
  const unsigned char *from = beyond(handle, boundary, bytes, x, y, z);
  halves none = 0;
  return from ? load(from, bytes) : none;
}

__attribute__((noinline)) void __regrain_surface_store_beyond(uint64_t handle, uint32_t boundary, uint32_t bytes, int32_t x, int32_t y,
                                                              int32_t z, uint64_t low, uint64_t high) {
  unsigned char *to = beyond(handle, boundary, bytes, x, y, z);
  if (to) store(to, bytes, low, high);
}

INLINE halves __regrain_surface_load(uint64_t handle, uint32_t boundary, uint32_t bytes, int32_t x, int32_t y, int32_t z) {
  const unsigned char *from = on_surface(handle, bytes, x, y, z);
  return from ? load(from, bytes) : __regrain_surface_load_beyond(handle, boundary, bytes, x, y, z);
}

INLINE void __regrain_surface_store(uint64_t handle, uint32_t boundary, uint32_t bytes, int32_t x, int32_t y, int32_t z, uint64_t low,
                                    uint64_t high) {
  unsigned char *to = on_surface(handle, bytes, x, y, z);
  if (to)
    store(to, bytes, low, high);
  else
    __regrain_surface_store_beyond(handle, boundary, bytes, x, y, z, low, high);
}
