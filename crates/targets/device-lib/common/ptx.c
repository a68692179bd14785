/* PTX instructions that are neither a line of IR nor an NVVM intrinsic. Names: `__regrain_ptx_<mnemonic>`. */
#include "half.h"

/* bfe: the extracted field; positions and lengths are taken modulo 256, bits beyond the top repeat the sign. */
static INLINE uint64_t extract(uint64_t a, uint32_t pos, uint32_t len, uint32_t width, bool is_signed) {
  pos &= 0xff, len &= 0xff;
  if (len == 0) return 0;
  uint32_t top = pos + len - 1 < width - 1 ? pos + len - 1 : width - 1;
  uint64_t fill = is_signed && (a >> top & 1) ? ~0ull : 0;
  uint64_t field = pos < width ? a >> pos : 0;
  uint32_t valid = pos < width ? width - pos : 0;
  uint32_t kept = len < valid ? len : valid;
  uint64_t mask = kept >= 64 ? ~0ull : (1ull << kept) - 1;
  return (field & mask) | (fill & ~mask);
}
PTX(uint32_t, bfe_u32)(uint32_t a, uint32_t b, uint32_t c) { return (uint32_t)extract(a, b, c, 32, false); }
PTX(uint32_t, bfe_s32)(uint32_t a, uint32_t b, uint32_t c) { return (uint32_t)extract(a, b, c, 32, true); }
PTX(uint64_t, bfe_u64)(uint64_t a, uint32_t b, uint32_t c) { return extract(a, b, c, 64, false); }
PTX(uint64_t, bfe_s64)(uint64_t a, uint32_t b, uint32_t c) { return extract(a, b, c, 64, true); }

static INLINE uint64_t insert(uint64_t a, uint64_t b, uint32_t pos, uint32_t len, uint32_t width) {
  pos &= 0xff, len &= 0xff;
  if (pos >= width || len == 0) return b;
  uint64_t mask = (len >= 64 ? ~0ull : (1ull << len) - 1) << pos;
  return (b & ~mask) | (a << pos & mask);
}
PTX(uint32_t, bfi_b32)(uint32_t a, uint32_t b, uint32_t c, uint32_t d) { return (uint32_t)insert(a, b, c, d, 32); }
PTX(uint64_t, bfi_b64)(uint64_t a, uint64_t b, uint32_t c, uint32_t d) { return insert(a, b, c, d, 64); }

/* bmsk: `len` ones from bit `pos` on. Beyond the top, positions and lengths end there, or are taken modulo 32. */
PTX(uint32_t, bmsk_clamp_b32)(uint32_t pos, uint32_t len) {
  if (pos > 31) return 0;
  return (len > 31 ? ~0u : (1u << len) - 1) << pos;
}
PTX(uint32_t, bmsk_wrap_b32)(uint32_t pos, uint32_t len) { return ((1u << (len & 31)) - 1) << (pos & 31); }

/* lop3: bit i of the table answers for the inputs whose bits form i = a:b:c. */
PTX(uint32_t, lop3_b32)(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t r = 0;
  if (table & 0x01) r |= ~a & ~b & ~c;
  if (table & 0x02) r |= ~a & ~b & c;
  if (table & 0x04) r |= ~a & b & ~c;
  if (table & 0x08) r |= ~a & b & c;
  if (table & 0x10) r |= a & ~b & ~c;
  if (table & 0x20) r |= a & ~b & c;
  if (table & 0x40) r |= a & b & ~c;
  if (table & 0x80) r |= a & b & c;
  return r;
}

/* Funnel shifts: the 64 bits b:a. */
static INLINE uint64_t pair(uint32_t a, uint32_t b) { return (uint64_t)b << 32 | a; }
PTX(uint32_t, shf_l_wrap_b32)(uint32_t a, uint32_t b, uint32_t c) { return (uint32_t)(pair(a, b) << (c & 31) >> 32); }
PTX(uint32_t, shf_r_wrap_b32)(uint32_t a, uint32_t b, uint32_t c) { return (uint32_t)(pair(a, b) >> (c & 31)); }
PTX(uint32_t, shf_l_clamp_b32)(uint32_t a, uint32_t b, uint32_t c) { return c >= 32 ? a : (uint32_t)(pair(a, b) << c >> 32); }
PTX(uint32_t, shf_r_clamp_b32)(uint32_t a, uint32_t b, uint32_t c) { return c >= 32 ? b : (uint32_t)(pair(a, b) >> c); }

/* Shift counts beyond the width give 0, or the sign. */
#define SHIFTS(w)                                                                                             \
  PTX(uint##w##_t, shl_b##w)(uint##w##_t a, uint32_t n) { return n >= w ? 0 : (uint##w##_t)(a << n); }        \
  PTX(uint##w##_t, shr_u##w)(uint##w##_t a, uint32_t n) { return n >= w ? 0 : (uint##w##_t)(a >> n); }        \
  PTX(uint##w##_t, shr_b##w)(uint##w##_t a, uint32_t n) { return n >= w ? 0 : (uint##w##_t)(a >> n); }        \
  PTX(int##w##_t, shr_s##w)(int##w##_t a, uint32_t n) { return (int##w##_t)(a >> (n >= w ? w - 1 : n)); }
SHIFTS(16) SHIFTS(32) SHIFTS(64)

/* Division as the hardware answers: x / 0 is all ones, the remainder x; the quotient of the least value by -1 wraps. */
#define DIVISION(w)                                                                                           \
  PTX(uint##w##_t, div_u##w)(uint##w##_t a, uint##w##_t b) { return b ? (uint##w##_t)(a / b) : (uint##w##_t)-1; } \
  PTX(uint##w##_t, rem_u##w)(uint##w##_t a, uint##w##_t b) { return b ? (uint##w##_t)(a % b) : a; }           \
  PTX(int##w##_t, div_s##w)(int##w##_t a, int##w##_t b) {                                                     \
    return b == 0 ? (int##w##_t)-1 : b == -1 ? (int##w##_t)(0 - (uint##w##_t)a) : (int##w##_t)(a / b);        \
  }                                                                                                           \
  PTX(int##w##_t, rem_s##w)(int##w##_t a, int##w##_t b) { return b == 0 ? a : b == -1 ? 0 : (int##w##_t)(a % b); }
DIVISION(16) DIVISION(32) DIVISION(64)

PTX(uint32_t, popc_b32)(uint32_t a) { return (uint32_t)__builtin_popcount(a); }
PTX(uint32_t, popc_b64)(uint64_t a) { return (uint32_t)__builtin_popcountll(a); }
PTX(uint32_t, clz_b32)(uint32_t a) { return a ? (uint32_t)__builtin_clz(a) : 32; }
PTX(uint32_t, clz_b64)(uint64_t a) { return a ? (uint32_t)__builtin_clzll(a) : 64; }
PTX(uint32_t, brev_b32)(uint32_t a) { return __builtin_bitreverse32(a); }
PTX(uint64_t, brev_b64)(uint64_t a) { return __builtin_bitreverse64(a); }

uint32_t __regrain_llvm_nvvm_flo_u_i32(uint32_t, bool), __regrain_llvm_nvvm_flo_s_i32(int32_t, bool);
uint32_t __regrain_llvm_nvvm_flo_u_i64(uint64_t, bool), __regrain_llvm_nvvm_flo_s_i64(int64_t, bool);
PTX(uint32_t, bfind_u32)(uint32_t a) { return __regrain_llvm_nvvm_flo_u_i32(a, false); }
PTX(uint32_t, bfind_s32)(int32_t a) { return __regrain_llvm_nvvm_flo_s_i32(a, false); }
PTX(uint32_t, bfind_u64)(uint64_t a) { return __regrain_llvm_nvvm_flo_u_i64(a, false); }
PTX(uint32_t, bfind_s64)(int64_t a) { return __regrain_llvm_nvvm_flo_s_i64(a, false); }
PTX(uint32_t, bfind_shiftamt_u32)(uint32_t a) { return __regrain_llvm_nvvm_flo_u_i32(a, true); }
PTX(uint32_t, bfind_shiftamt_s32)(int32_t a) { return __regrain_llvm_nvvm_flo_s_i32(a, true); }
PTX(uint32_t, bfind_shiftamt_u64)(uint64_t a) { return __regrain_llvm_nvvm_flo_u_i64(a, true); }
PTX(uint32_t, bfind_shiftamt_s64)(int64_t a) { return __regrain_llvm_nvvm_flo_s_i64(a, true); }

/* The modes of prmt, by their PTX names. */
#define PRMT(mode, call)                                                               \
  PTX(uint32_t, prmt_b32_##mode)(uint32_t a, uint32_t b, uint32_t c) { (void)b; return call; }
uint32_t __regrain_llvm_nvvm_prmt(uint32_t, uint32_t, uint32_t), __regrain_llvm_nvvm_prmt_f4e(uint32_t, uint32_t, uint32_t);
uint32_t __regrain_llvm_nvvm_prmt_b4e(uint32_t, uint32_t, uint32_t), __regrain_llvm_nvvm_prmt_rc8(uint32_t, uint32_t);
uint32_t __regrain_llvm_nvvm_prmt_rc16(uint32_t, uint32_t), __regrain_llvm_nvvm_prmt_ecl(uint32_t, uint32_t);
uint32_t __regrain_llvm_nvvm_prmt_ecr(uint32_t, uint32_t);
PTX(uint32_t, prmt_b32)(uint32_t a, uint32_t b, uint32_t c) { return __regrain_llvm_nvvm_prmt(a, b, c); }
PRMT(f4e, __regrain_llvm_nvvm_prmt_f4e(a, b, c))
PRMT(b4e, __regrain_llvm_nvvm_prmt_b4e(a, b, c))
PRMT(rc8, __regrain_llvm_nvvm_prmt_rc8(a, c))
PRMT(rc16, __regrain_llvm_nvvm_prmt_rc16(a, c))
PRMT(ecl, __regrain_llvm_nvvm_prmt_ecl(a, c))
PRMT(ecr, __regrain_llvm_nvvm_prmt_ecr(a, c))

PTX(float, tanh_approx_f32)(float x) { return TANH_F32(x); }
