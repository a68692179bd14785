/* Products of small matrices that the 32 lanes of a warp hold together.
 *
 * Each register of a lane is a word. Words of a register of all lanes lie side by side: word 4 g + t is that of lane 4 g + t. It holds row g
 * of a matrix of eight rows, and of four parts of that row the one of number t; a part is one element of 64 or 32 bits or several smaller ones.
 * So are the registers of `mma` (PTX ISA, matrix fragments): of A an element of 8 x 4 E for each eight rows and each 4 E columns (E elements to
 * a word), of B the same with its columns for rows, of C and D a pair for each eight rows: row g, columns 2 t and 2 t + 1.
 *
 * Sums run in ascending order of k, in the type of the accumulator; C comes first. */
#ifndef REGRAIN_MATRIX_H
#define REGRAIN_MATRIX_H

#include "abi.h"

#define LANES 32
typedef uint32_t words __attribute__((vector_size(4 * LANES), aligned(64)));
typedef int32_t numbers __attribute__((vector_size(4 * LANES), aligned(64)));
typedef float floats __attribute__((vector_size(4 * LANES), aligned(64)));
typedef uint64_t long_words __attribute__((vector_size(8 * LANES), aligned(64)));
typedef double doubles __attribute__((vector_size(8 * LANES), aligned(64)));
typedef int16_t shorts __attribute__((vector_size(2 * LANES), aligned(64)));
typedef _Float16 halves __attribute__((vector_size(2 * LANES), aligned(64)));

#define UNROLL _Pragma("clang loop unroll(full)")

/* Element t of each row, in all four places of the row. */
#define OF_ROWS(v, t)                                                                                              \
  __builtin_shufflevector(v, v, t, t, t, t, 4 + t, 4 + t, 4 + t, 4 + t, 8 + t, 8 + t, 8 + t, 8 + t, 12 + t, 12 + t, 12 + t, 12 + t, \
                          16 + t, 16 + t, 16 + t, 16 + t, 20 + t, 20 + t, 20 + t, 20 + t, 24 + t, 24 + t, 24 + t, 24 + t,    \
                          28 + t, 28 + t, 28 + t, 28 + t)
/* Element t of the rows j, j + 2, j + 4, j + 6, in each row. */
#define OF_COLUMNS(v, t, j) FOUR(v, 4 * (j) + t, 4 * (j) + 8 + t, 4 * (j) + 16 + t, 4 * (j) + 24 + t)
#define FOUR(v, a, b, c, d)                                                                                        \
  __builtin_shufflevector(v, v, a, b, c, d, a, b, c, d, a, b, c, d, a, b, c, d, a, b, c, d, a, b, c, d, a, b, c, d, a, b, c, d)

/* What a part has at place `e`, of each row. */
#define F16(w, e) __builtin_convertvector((halves)__builtin_convertvector((w) >> (16 * (e)), shorts), floats)
#define BF16(w, e) ((floats)((e) ? (w) & 0xffff0000 : (w) << 16))
/* Hardware does not look at the lower 13 bits. */
#define TF32(w, e) ((floats)((w) & 0xffffe000))
#define F64(w, e) ((doubles)(w))
/* Bytes with an exponent (OCP 8-bit Floating Point Specification): the higher byte of a half, or one less wide by a bit, whose exponents are
 * 8 less and whose highest code is no number. */
#define BYTE(w, e) ((w) << (24 - 8 * (e)) >> 24)
#define HALF(w) __builtin_convertvector((halves)__builtin_convertvector(w, shorts), floats)
#define E5M2(w, e) HALF(BYTE(w, e) << 8)
#define E4M3(w, e) number_of_e4m3(BYTE(w, e))
static INLINE floats number_of_e4m3(words byte) {
  floats number = HALF((byte & 0x80) << 8 | (byte & 0x7f) << 7) * 256.0f;
  return (floats)((words)number | (words)((byte & 0x7f) == 0x7f));
}
#define S8(w, e) ((numbers)((w) << (24 - 8 * (e))) >> 24)
#define U8(w, e) ((numbers)((w) >> (8 * (e)) & 255))
#define S4(w, e) ((numbers)((w) << (28 - 4 * (e))) >> 28)
#define U4(w, e) ((numbers)((w) >> (4 * (e)) & 15))

#define WORD(w, e) (w)

/* What is added to a sum. Bytes are taken of words that are in their places, as processors multiply them (`mlir-bridge/cpp/dots.cpp`). */
#define TIMES(c, a, b) c += (a) * (b)
#define AND_POPC(c, a, b) c += (numbers)__builtin_elementwise_popcount((a) & (b))
#define XOR_POPC(c, a, b) c += (numbers)__builtin_elementwise_popcount((a) ^ (b))
#define BYTES(c, a, b, of_a, of_b) \
  c += of_a(a, 0) * of_b(b, 0), c += of_a(a, 1) * of_b(b, 1), c += of_a(a, 2) * of_b(b, 2), c += of_a(a, 3) * of_b(b, 3)
#define S8_S8(c, a, b) BYTES(c, a, b, S8, S8)
#define S8_U8(c, a, b) BYTES(c, a, b, S8, U8)
#define U8_S8(c, a, b) BYTES(c, a, b, U8, S8)
#define U8_U8(c, a, b) BYTES(c, a, b, U8, U8)

/* The products of the parts t of all rows of A and columns of B. */
#define PART(t, of_a, of_b, combine, R, E)                                                                         \
  UNROLL for (int e = 0; e < E; ++e) UNROLL for (int j = 0; j < 2; ++j) {                                          \
    typeof(b[0]) column = j ? OF_COLUMNS(b[e], t, 1) : OF_COLUMNS(b[e], t, 0);                                      \
    UNROLL for (int i = 0; i < R; ++i) {                                                                           \
      typeof(a[0][0]) row = OF_ROWS(a[i][e], t);                                                                   \
      combine(c[i][j], row, column);                                                                               \
    }                                                                                                              \
  }

/* D = A B + C with 8 R rows of A and K words of each of its rows for each t. Given: A, B, C. */
#define PRODUCT(name, word, raw, element, sum, of_a, of_b, combine, R, K, E)                                       \
  static INLINE void name(word (*made)[LANES], word (*given)[LANES]) {                                             \
    _Pragma("clang fp contract(on)")                                                                               \
    sum c[R][2];                                                                                                   \
    UNROLL for (int i = 0; i < R; ++i) UNROLL for (int j = 0; j < 2; ++j)                                          \
      c[i][j] = *(sum *)given[R * K + K + 2 * i + j];                                                              \
    UNROLL for (int k = 0; k < K; ++k) {                                                                           \
      element a[R][E], b[E];                                                                                       \
      UNROLL for (int e = 0; e < E; ++e) {                                                                         \
        UNROLL for (int i = 0; i < R; ++i) a[i][e] = of_a(*(raw *)given[k * R + i], e);                            \
        b[e] = of_b(*(raw *)given[R * K + k], e);                                                                  \
      }                                                                                                            \
      PART(0, of_a, of_b, combine, R, E) PART(1, of_a, of_b, combine, R, E)                                        \
      PART(2, of_a, of_b, combine, R, E) PART(3, of_a, of_b, combine, R, E)                                        \
    }                                                                                                              \
    UNROLL for (int i = 0; i < R; ++i) UNROLL for (int j = 0; j < 2; ++j) *(sum *)made[2 * i + j] = c[i][j];       \
  }

/* What each lane gives, side by side. The second exchange keeps what a lane gives where it is until all have seen it. */
#define GATHER(name, word)                                                                                         \
  CONVERGENT static INLINE void name(word (*given)[LANES], const word *mine, int count) {                          \
    uint64_t all[LANES];                                                                                           \
    uint32_t present = __regrain_warp_exchange(~0u, (uintptr_t)mine, all);                                         \
    for (int lane = 0; lane < LANES; ++lane)                                                                       \
      for (int i = 0; i < count; ++i) given[i][lane] = present >> lane & 1 ? ((const word *)all[lane])[i] : 0;     \
    __regrain_warp_exchange(~0u, 0, all);                                                                          \
  }
GATHER(gather_words, uint32_t)
GATHER(gather_long_words, uint64_t)

#define TAKES_1(w) w p0
#define TAKES_2(w) TAKES_1(w), w p1
#define TAKES_4(w) TAKES_2(w), w p2, w p3
#define TAKES_7(w) TAKES_4(w), w p4, w p5, w p6
#define TAKES_10(w) TAKES_7(w), w p7, w p8, w p9
#define TAKES_13(w) TAKES_10(w), w p10, w p11, w p12
#define TAKES_16(w) TAKES_13(w), w p13, w p14, w p15
#define GIVES_1 p0
#define GIVES_2 GIVES_1, p1
#define GIVES_4 GIVES_2, p2, p3
#define GIVES_7 GIVES_4, p4, p5, p6
#define GIVES_10 GIVES_7, p7, p8, p9
#define GIVES_13 GIVES_10, p10, p11, p12
#define GIVES_16 GIVES_13, p13, p14, p15

/* The two forms of what `core` computes of `takes` words of each lane: for words that lie side by side, and as a lane calls it. */
#define TOGETHER(name, core, word, gather, makes, takes)                                                           \
  __attribute__((noinline)) void __regrain_tile_##name(word (*made)[LANES], word (*given)[LANES]) { core(made, given); } \
  CONVERGENT void __regrain_warp_##name##_out(word *out, TAKES_##takes(word)) {                                    \
    const word mine[] = {GIVES_##takes};                                                                           \
    __attribute__((aligned(64))) word given[takes][LANES], made[makes][LANES];                                    \
    gather(given, mine, takes);                                                                                    \
    __regrain_tile_##name(made, given);                                                                            \
    for (int i = 0; i < makes; ++i) out[i] = made[i][__regrain_tls.laneid];                                        \
  }

#endif
