/* The video instructions on packed halves and bytes, v<op>2 and v<op>4: each lane for itself; with .add the results
 * are summed onto the third operand. */
#include "abi.h"

static INLINE int32_t clamp(int32_t x, int32_t low, int32_t high) { return x < low ? low : x > high ? high : x; }

#define LANE(x, i, width, ty) ((int32_t)(ty)((x) >> ((width) * (i))))
#define PACKED(name, n, width, ty, expr)                                      \
  PTX(uint32_t, name)(uint32_t a, uint32_t b, uint32_t c) {                   \
    uint32_t r = 0;                                                           \
    (void)c;                                                                  \
    for (int i = 0; i < (n); ++i) {                                           \
      int32_t x = LANE(a, i, width, ty), y = LANE(b, i, width, ty);           \
      r |= ((uint32_t)(expr) & ((1u << (width)) - 1)) << ((width) * i);       \
    }                                                                         \
    return r;                                                                 \
  }
#define SUMMED(name, n, width, ty, expr)                                      \
  PTX(uint32_t, name)(uint32_t a, uint32_t b, uint32_t c) {                   \
    for (int i = 0; i < (n); ++i) {                                           \
      int32_t x = LANE(a, i, width, ty), y = LANE(b, i, width, ty);           \
      c += (uint32_t)(expr);                                                  \
    }                                                                         \
    return c;                                                                 \
  }

#define ALL(n, width, u, ty, low, high)                                                                      \
  PACKED(vadd##n##_##u##32_##u##32_##u##32, n, width, ty, x + y)                                             \
  PACKED(vadd##n##_##u##32_##u##32_##u##32_sat, n, width, ty, clamp(x + y, low, high))                       \
  PACKED(vsub##n##_##u##32_##u##32_##u##32, n, width, ty, x - y)                                             \
  PACKED(vsub##n##_##u##32_##u##32_##u##32_sat, n, width, ty, clamp(x - y, low, high))                       \
  PACKED(vavrg##n##_##u##32_##u##32_##u##32, n, width, ty, (x + y + (x + y >= 0)) >> 1)                      \
  PACKED(vmin##n##_##u##32_##u##32_##u##32, n, width, ty, x < y ? x : y)                                     \
  PACKED(vmax##n##_##u##32_##u##32_##u##32, n, width, ty, x > y ? x : y)                                     \
  PACKED(vabsdiff##n##_##u##32_##u##32_##u##32, n, width, ty, x > y ? x - y : y - x)                         \
  PACKED(vabsdiff##n##_##u##32_##u##32_##u##32_sat, n, width, ty, clamp(x > y ? x - y : y - x, low, high))   \
  SUMMED(vabsdiff##n##_##u##32_##u##32_##u##32_add, n, width, ty, x > y ? x - y : y - x)                     \
  PACKED(vset##n##_##u##32_##u##32_eq, n, width, ty, x == y)                                                 \
  PACKED(vset##n##_##u##32_##u##32_ne, n, width, ty, x != y)                                                 \
  PACKED(vset##n##_##u##32_##u##32_lt, n, width, ty, x < y)                                                  \
  PACKED(vset##n##_##u##32_##u##32_le, n, width, ty, x <= y)                                                 \
  PACKED(vset##n##_##u##32_##u##32_gt, n, width, ty, x > y)                                                  \
  PACKED(vset##n##_##u##32_##u##32_ge, n, width, ty, x >= y)
ALL(4, 8, u, uint8_t, 0, 255)
ALL(4, 8, s, int8_t, -128, 127)
ALL(2, 16, u, uint16_t, 0, 65535)
ALL(2, 16, s, int16_t, -32768, 32767)
