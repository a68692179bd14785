/* A texture or surface object of the CPU target: what a handle is the address of. The runtime fills it in, the device library reads it.
 * Its Rust view is `Texture` in src/device/cpu/textures.rs. */
#ifndef REGRAIN_TEXTURE_H
#define REGRAIN_TEXTURE_H

#include <stddef.h>
#include <stdint.h>

#define REGRAIN_LEVELS 18

/* One level of a mipmap; the only one of what has none. Layers and faces are slices, as depth is. */
struct regrain_texture_level {
  unsigned char *data;
  uint64_t row, slice;
  int32_t width, height, depth;
  int32_t unused;
};

struct regrain_texture {
  /* Of an element: 1, 2 or 4 channels of 8, 16 or 32 bits, signed (0), unsigned (1) or floating-point (2). */
  uint32_t channels, bits, kind;
  /* Integers become numbers from -1 or 0 to 1, those of 8 bits by the curve of sRGB. */
  uint32_t to_float, srgb;
  /* `cudaTextureAddressMode` of each dimension. */
  uint32_t mode[3];
  uint32_t normalized, linear, linear_levels;
  uint32_t levels;
  float border[4];
  float bias, lowest, highest;
  /* Of channels of 32 bits, one level, no cube, without mirrors and borders, and in fewer than 2^31 words. */
  uint32_t quick;
  struct regrain_texture_level level[REGRAIN_LEVELS];
};

_Static_assert(sizeof(struct regrain_texture_level) == 40, "regrain_texture is part of the ABI");
_Static_assert(offsetof(struct regrain_texture, border) == 48, "regrain_texture is part of the ABI");
_Static_assert(offsetof(struct regrain_texture, level) == 80, "regrain_texture is part of the ABI");

#endif
