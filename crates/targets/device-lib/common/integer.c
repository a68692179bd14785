/* Integer arithmetic and bit manipulation: libdevice and NVVM. */
#include "abi.h"

typedef __int128 i128;
typedef unsigned __int128 u128;

INLINE int32_t __nv_abs(int32_t x) { return x < 0 ? (int32_t)(0u - (uint32_t)x) : x; }
INLINE int64_t __nv_llabs(int64_t x) { return x < 0 ? (int64_t)(0ull - (uint64_t)x) : x; }
INLINE int32_t __nv_min(int32_t a, int32_t b) { return a < b ? a : b; }
INLINE int32_t __nv_max(int32_t a, int32_t b) { return a > b ? a : b; }
INLINE uint32_t __nv_umin(uint32_t a, uint32_t b) { return a < b ? a : b; }
INLINE uint32_t __nv_umax(uint32_t a, uint32_t b) { return a > b ? a : b; }
INLINE int64_t __nv_llmin(int64_t a, int64_t b) { return a < b ? a : b; }
INLINE int64_t __nv_llmax(int64_t a, int64_t b) { return a > b ? a : b; }
INLINE uint64_t __nv_ullmin(uint64_t a, uint64_t b) { return a < b ? a : b; }
INLINE uint64_t __nv_ullmax(uint64_t a, uint64_t b) { return a > b ? a : b; }

INLINE int32_t __nv_clz(int32_t x) { return x ? __builtin_clz((uint32_t)x) : 32; }
INLINE int32_t __nv_clzll(int64_t x) { return x ? __builtin_clzll((uint64_t)x) : 64; }
INLINE int32_t __nv_popc(uint32_t x) { return __builtin_popcount(x); }
INLINE int32_t __nv_popcll(uint64_t x) { return __builtin_popcountll(x); }
INLINE uint32_t __nv_brev(uint32_t x) { return __builtin_bitreverse32(x); }
INLINE uint64_t __nv_brevll(uint64_t x) { return __builtin_bitreverse64(x); }
INLINE int32_t __nv_ffs(int32_t x) { return __builtin_ffs(x); }
INLINE int32_t __nv_ffsll(int64_t x) { return __builtin_ffsll(x); }

INLINE int32_t __nv_mulhi(int32_t a, int32_t b) { return (int32_t)((int64_t)a * b >> 32); }
INLINE uint32_t __nv_umulhi(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b >> 32); }
INLINE int64_t __nv_mul64hi(int64_t a, int64_t b) { return (int64_t)((i128)a * b >> 64); }
INLINE uint64_t __nv_umul64hi(uint64_t a, uint64_t b) { return (uint64_t)((u128)a * b >> 64); }

static INLINE int32_t low24(int32_t x) { return (int32_t)((uint32_t)x << 8) >> 8; }
INLINE int32_t __nv_mul24(int32_t a, int32_t b) { return (int32_t)((uint32_t)low24(a) * (uint32_t)low24(b)); }
INLINE uint32_t __nv_umul24(uint32_t a, uint32_t b) { return (a & 0xffffff) * (b & 0xffffff); }

INLINE uint32_t __nv_sad(int32_t a, int32_t b, uint32_t c) { return c + (a < b ? (uint32_t)b - (uint32_t)a : (uint32_t)a - (uint32_t)b); }
INLINE uint32_t __nv_usad(uint32_t a, uint32_t b, uint32_t c) { return c + (a < b ? b - a : a - b); }
INLINE int32_t __nv_hadd(int32_t a, int32_t b) { return (int32_t)(((int64_t)a + b) >> 1); }
INLINE int32_t __nv_rhadd(int32_t a, int32_t b) { return (int32_t)(((int64_t)a + b + 1) >> 1); }
INLINE uint32_t __nv_uhadd(uint32_t a, uint32_t b) { return (uint32_t)(((uint64_t)a + b) >> 1); }
INLINE uint32_t __nv_urhadd(uint32_t a, uint32_t b) { return (uint32_t)(((uint64_t)a + b + 1) >> 1); }

/* prmt: four bytes chosen from the eight of {b, a}; bit 3 of a selector copies the byte's sign instead. */
static INLINE uint32_t byte_of(uint64_t both, uint32_t selector) {
  uint32_t byte = (uint32_t)(both >> (8 * (selector & 7))) & 0xff;
  return selector & 8 ? (byte & 0x80 ? 0xff : 0) : byte;
}
static INLINE uint32_t permute(uint32_t a, uint32_t b, uint32_t s) {
  uint64_t both = (uint64_t)b << 32 | a;
  return byte_of(both, s & 15) | byte_of(both, s >> 4 & 15) << 8 | byte_of(both, s >> 8 & 15) << 16 |
         byte_of(both, s >> 12 & 15) << 24;
}
INLINE uint32_t __nv_byte_perm(uint32_t a, uint32_t b, uint32_t s) { return permute(a, b, s & 0x7777); }
NVVM(uint32_t, prmt)(uint32_t a, uint32_t b, uint32_t s) { return permute(a, b, s); }
NVVM(uint32_t, prmt_f4e)(uint32_t a, uint32_t b, uint32_t s) { return (uint32_t)(((uint64_t)b << 32 | a) >> (8 * (s & 3))); }
NVVM(uint32_t, prmt_b4e)(uint32_t a, uint32_t b, uint32_t s) {
  static const uint16_t selectors[] = {0x5670, 0x6701, 0x7012, 0x0123};
  return permute(a, b, selectors[s & 3]);
}
NVVM(uint32_t, prmt_rc8)(uint32_t a, uint32_t s) { return (a >> (8 * (s & 3)) & 0xff) * 0x01010101u; }
NVVM(uint32_t, prmt_rc16)(uint32_t a, uint32_t s) { return (s & 1 ? a >> 16 : a & 0xffff) * 0x00010001u; }
NVVM(uint32_t, prmt_ecl)(uint32_t a, uint32_t s) {
  static const uint16_t selectors[] = {0x3210, 0x3211, 0x3222, 0x3333};
  return permute(a, 0, selectors[s & 3]);
}
NVVM(uint32_t, prmt_ecr)(uint32_t a, uint32_t s) {
  static const uint16_t selectors[] = {0x0000, 0x1110, 0x2210, 0x3210};
  return permute(a, 0, selectors[s & 3]);
}

NVVM(int16_t, mulhi_s)(int16_t a, int16_t b) { return (int16_t)((int32_t)a * b >> 16); }
NVVM(uint16_t, mulhi_us)(uint16_t a, uint16_t b) { return (uint16_t)((uint32_t)a * b >> 16); }
NVVM(int32_t, mulhi_i)(int32_t a, int32_t b) { return __nv_mulhi(a, b); }
NVVM(uint32_t, mulhi_ui)(uint32_t a, uint32_t b) { return __nv_umulhi(a, b); }
NVVM(int64_t, mulhi_ll)(int64_t a, int64_t b) { return __nv_mul64hi(a, b); }
NVVM(uint64_t, mulhi_ull)(uint64_t a, uint64_t b) { return __nv_umul64hi(a, b); }
NVVM(int32_t, mul24_i)(int32_t a, int32_t b) { return __nv_mul24(a, b); }
NVVM(uint32_t, mul24_ui)(uint32_t a, uint32_t b) { return __nv_umul24(a, b); }

NVVM(int16_t, sad_s)(int16_t a, int16_t b, int16_t c) { return (int16_t)(c + (a < b ? b - a : a - b)); }
NVVM(uint16_t, sad_us)(uint16_t a, uint16_t b, uint16_t c) { return (uint16_t)(c + (a < b ? b - a : a - b)); }
NVVM(uint32_t, sad_i)(int32_t a, int32_t b, uint32_t c) { return __nv_sad(a, b, c); }
NVVM(uint32_t, sad_ui)(uint32_t a, uint32_t b, uint32_t c) { return __nv_usad(a, b, c); }
NVVM(uint64_t, sad_ll)(int64_t a, int64_t b, uint64_t c) { return c + (a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b); }
NVVM(uint64_t, sad_ull)(uint64_t a, uint64_t b, uint64_t c) { return c + (a < b ? b - a : a - b); }

NVVM(uint32_t, brev32)(uint32_t x) { return __builtin_bitreverse32(x); }
NVVM(uint64_t, brev64)(uint64_t x) { return __builtin_bitreverse64(x); }
NVVM(int32_t, clz_i)(int32_t x) { return __nv_clz(x); }
NVVM(int32_t, clz_ll)(int64_t x) { return __nv_clzll(x); }
NVVM(int32_t, popc_i)(uint32_t x) { return __builtin_popcount(x); }
NVVM(int32_t, popc_ll)(uint64_t x) { return __builtin_popcountll(x); }

/* The position of the most significant bit that differs from the sign; with `shift`, how far to move it up. */
static INLINE uint32_t find_leading(uint64_t x, uint32_t width, bool shift) {
  if (x == 0) return ~0u;
  uint32_t at = 63 - (uint32_t)__builtin_clzll(x);
  return shift ? width - 1 - at : at;
}
NVVM(uint32_t, flo_u_i32)(uint32_t x, bool shift) { return find_leading(x, 32, shift); }
NVVM(uint32_t, flo_u_i64)(uint64_t x, bool shift) { return find_leading(x, 64, shift); }
NVVM(uint32_t, flo_s_i32)(int32_t x, bool shift) { return find_leading((uint32_t)(x < 0 ? ~x : x), 32, shift); }
NVVM(uint32_t, flo_s_i64)(int64_t x, bool shift) { return find_leading((uint64_t)(x < 0 ? ~x : x), 64, shift); }

/* Funnel shifts whose count stops at 32. */
NVVM(uint32_t, fshl_clamp_i32)(uint32_t hi, uint32_t lo, uint32_t n) {
  return (uint32_t)(((uint64_t)hi << 32 | lo) << (n < 32 ? n : 32) >> 32);
}
NVVM(uint32_t, fshr_clamp_i32)(uint32_t hi, uint32_t lo, uint32_t n) {
  return (uint32_t)(((uint64_t)hi << 32 | lo) >> (n < 32 ? n : 32));
}

static INLINE uint32_t bit_mask(uint32_t start, uint32_t count, bool clamp) {
  if (!clamp) start &= 31, count &= 31;
  if (start >= 32) return 0;
  uint32_t ones = count >= 32 ? ~0u : (1u << count) - 1;
  return ones << start;
}
NVVM(uint32_t, bmsk_clamp)(uint32_t start, uint32_t count) { return bit_mask(start, count, true); }
NVVM(uint32_t, bmsk_wrap)(uint32_t start, uint32_t count) { return bit_mask(start, count, false); }

static INLINE uint32_t extend(uint32_t x, uint32_t width, bool is_signed, bool clamp) {
  if (!clamp) width &= 31;
  if (width >= 32) return x;
  if (width == 0) return 0;
  uint32_t up = x << (32 - width);
  return is_signed ? (uint32_t)((int32_t)up >> (32 - width)) : up >> (32 - width);
}
NVVM(uint32_t, sext_clamp)(uint32_t x, uint32_t n) { return extend(x, n, true, true); }
NVVM(uint32_t, sext_wrap)(uint32_t x, uint32_t n) { return extend(x, n, true, false); }
NVVM(uint32_t, zext_clamp)(uint32_t x, uint32_t n) { return extend(x, n, false, true); }
NVVM(uint32_t, zext_wrap)(uint32_t x, uint32_t n) { return extend(x, n, false, false); }

/* Dot products of bytes (dp4a) and of halves with bytes (dp2a). */
static INLINE int32_t byte_at(uint32_t x, int i, bool is_signed) {
  uint32_t byte = x >> (8 * i) & 0xff;
  return is_signed ? (int8_t)byte : (int32_t)byte;
}
static INLINE int32_t half_at(uint32_t x, int i, bool is_signed) {
  uint32_t half = x >> (16 * i) & 0xffff;
  return is_signed ? (int16_t)half : (int32_t)half;
}
static INLINE uint32_t dp4a(uint32_t a, uint32_t b, uint32_t c, bool sa, bool sb) {
  for (int i = 0; i < 4; ++i) c += (uint32_t)byte_at(a, i, sa) * (uint32_t)byte_at(b, i, sb);
  return c;
}
static INLINE uint32_t dp2a(uint32_t a, uint32_t b, uint32_t c, bool sa, bool sb, bool high) {
  for (int i = 0; i < 2; ++i) c += (uint32_t)half_at(a, i, sa) * (uint32_t)byte_at(b, i + 2 * high, sb);
  return c;
}
#define DOT(x, y, sx, sy, px, py)                                                                                 \
  NVVM(uint32_t, idp4a_##x##_##y)(uint32_t a, uint32_t b, uint32_t c) { return dp4a(a, b, c, sx, sy); }           \
  NVVM(uint32_t, idp2a_##x##_##y)(uint32_t a, uint32_t b, bool hi, uint32_t c) { return dp2a(a, b, c, sx, sy, hi); } \
  PTX(uint32_t, dp4a_##px##32_##py##32)(uint32_t a, uint32_t b, uint32_t c) { return dp4a(a, b, c, sx, sy); }     \
  PTX(uint32_t, dp2a_lo_##px##32_##py##32)(uint32_t a, uint32_t b, uint32_t c) { return dp2a(a, b, c, sx, sy, false); } \
  PTX(uint32_t, dp2a_hi_##px##32_##py##32)(uint32_t a, uint32_t b, uint32_t c) { return dp2a(a, b, c, sx, sy, true); }
DOT(s, s, true, true, s, s)
DOT(s, u, true, false, s, u)
DOT(u, s, false, true, u, s)
DOT(u, u, false, false, u, u)
