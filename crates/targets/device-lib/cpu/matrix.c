/* Matrix instructions: `mma` of all kinds, and the exchanges of `ldmatrix` and `stmatrix`. */
#include "matrix.h"

#define OF_WORDS(name, kind, element, sum, of_a, of_b, combine, R, K, E, takes)                                    \
  PRODUCT(product_##name##_##R##x##K, uint32_t, words, element, sum, of_a, of_b, combine, R, K, E)                 \
  TOGETHER(mma_##name##_##R##x##K, product_##name##_##R##x##K, uint32_t, gather_words, (2 * R), takes)
#define REALS(name, of_a, of_b, E)                                                                                 \
  OF_WORDS(name, real, floats, floats, of_a, of_b, TIMES, 2, 1, E, 7)                                              \
  OF_WORDS(name, real, floats, floats, of_a, of_b, TIMES, 2, 2, E, 10)
REALS(f16, F16, F16, 2)
REALS(bf16, BF16, BF16, 2)
REALS(tf32, TF32, TF32, 1)
REALS(e4m3_e4m3, E4M3, E4M3, 4)
REALS(e4m3_e5m2, E4M3, E5M2, 4)
REALS(e5m2_e4m3, E5M2, E4M3, 4)
REALS(e5m2_e5m2, E5M2, E5M2, 4)

#define INTEGERS(name, element, of_a, of_b, combine, E)                                                            \
  OF_WORDS(name, integer, element, numbers, of_a, of_b, combine, 1, 1, E, 4)                                       \
  OF_WORDS(name, integer, element, numbers, of_a, of_b, combine, 2, 1, E, 7)                                       \
  OF_WORDS(name, integer, element, numbers, of_a, of_b, combine, 2, 2, E, 10)
INTEGERS(s8_s8, words, WORD, WORD, S8_S8, 1)
INTEGERS(s8_u8, words, WORD, WORD, S8_U8, 1)
INTEGERS(u8_s8, words, WORD, WORD, U8_S8, 1)
INTEGERS(u8_u8, words, WORD, WORD, U8_U8, 1)
INTEGERS(s4_s4, numbers, S4, S4, TIMES, 8)
INTEGERS(s4_u4, numbers, S4, U4, TIMES, 8)
INTEGERS(u4_s4, numbers, U4, S4, TIMES, 8)
INTEGERS(u4_u4, numbers, U4, U4, TIMES, 8)
INTEGERS(b1_and, words, WORD, WORD, AND_POPC, 1)
INTEGERS(b1_xor, words, WORD, WORD, XOR_POPC, 1)

#define OF_LONG_WORDS(R, K, takes)                                                                                 \
  PRODUCT(product_f64_##R##x##K, uint64_t, long_words, doubles, doubles, F64, F64, TIMES, R, K, 1)                 \
  TOGETHER(mma_f64_##R##x##K, product_f64_##R##x##K, uint64_t, gather_long_words, (2 * R), takes)
OF_LONG_WORDS(1, 1, 4)
OF_LONG_WORDS(2, 1, 7)
OF_LONG_WORDS(2, 2, 10)

/* Volta's `mma.m8n8k4`: lanes 4 q to 4 q + 3 and the 4 from 16 + 4 q on multiply matrices of their own. Given: A and B of two words, C of eight
 * floats, and flags: 1 columns of A are in lanes, 2 rows of B are, 4 C is laid out as halves are, 8 D is. */
static INLINE float half_of(uint32_t word, int high) {
  return (float)__builtin_bit_cast(_Float16, (uint16_t)(word >> (16 * high)));
}
static INLINE void place_of_sum(bool halves, uint32_t lane, int i, int *row, int *column) {
  int upper = lane & 16 ? 4 : 0;
  *row = upper + (halves ? (int)(lane & 3) : (int)(lane & 1) + (i & 2));
  *column = halves ? i : (i & 4) + (int)(lane & 2) + (i & 1);
}
static INLINE void product_quads(uint32_t (*made)[LANES], uint32_t (*given)[LANES]) {
  uint32_t flags = given[12][0];
  float a[8][4], b[4][8], c[8][8];
  int row, column;
  for (uint32_t quad = 0; quad < 4; ++quad) {
    for (uint32_t n = 0; n < 8; ++n) {
      uint32_t lane = 4 * quad + (n & 3) + (n & 4 ? 16 : 0), upper = n & 4;
      for (int i = 0; i < 4; ++i) {
        float x = half_of(given[i >> 1][lane], i & 1), y = half_of(given[2 + (i >> 1)][lane], i & 1);
        if (flags & 1) a[upper + i][n & 3] = x; else a[n][i] = x;
        if (flags & 2) b[n & 3][upper + i] = y; else b[i][n] = y;
      }
      for (int i = 0; i < 8; ++i) {
        place_of_sum(flags & 4, lane, i, &row, &column);
        c[row][column] = __builtin_bit_cast(float, given[4 + i][lane]);
      }
    }
    for (int i = 0; i < 8; ++i)
      for (int k = 0; k < 4; ++k)
        for (int j = 0; j < 8; ++j) c[i][j] += a[i][k] * b[k][j];
    for (uint32_t n = 0; n < 8; ++n) {
      uint32_t lane = 4 * quad + (n & 3) + (n & 4 ? 16 : 0);
      for (int i = 0; i < 8; ++i) {
        place_of_sum(flags & 8, lane, i, &row, &column);
        made[i][lane] = __builtin_bit_cast(uint32_t, c[row][column]);
      }
    }
  }
}
TOGETHER(mma_quads, product_quads, uint32_t, gather_words, 8, 13)

/* Given: the four words of each lane's row; lane 8 m + r has row r of matrix m. Made: of each matrix the word t of row g, in lane 4 g + t. */
typedef uint32_t four __attribute__((vector_size(16)));
typedef uint32_t eight __attribute__((vector_size(32)));
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#define ROWS(n)                                                                                                    \
  static INLINE void take_rows_##n(uint32_t (*made)[LANES], uint32_t (*given)[LANES]) {                            \
    for (int row = 0; row < 8 * n; row += 4) {                                                                     \
      four a = *(four *)&given[0][row], b = *(four *)&given[1][row];                                               \
      four c = *(four *)&given[2][row], d = *(four *)&given[3][row];                                               \
      four ab = PICK(a, b, 0, 4, 1, 5), cd = PICK(c, d, 0, 4, 1, 5);                                               \
      four *to = (four *)&made[0][4 * row];                                                                        \
      to[0] = PICK(ab, cd, 0, 1, 4, 5), to[1] = PICK(ab, cd, 2, 3, 6, 7);                                          \
      ab = PICK(a, b, 2, 6, 3, 7), cd = PICK(c, d, 2, 6, 3, 7);                                                    \
      to[2] = PICK(ab, cd, 0, 1, 4, 5), to[3] = PICK(ab, cd, 2, 3, 6, 7);                                          \
    }                                                                                                              \
  }                                                                                                                \
  TOGETHER(rows_##n, take_rows_##n, uint32_t, gather_words, n, 4)                                                  \
  static INLINE void give_rows_##n(uint32_t (*made)[LANES], uint32_t (*given)[LANES]) {                            \
    for (int row = 0; row < LANES; ++row)                                                                          \
      for (int t = 0; t < 4; ++t) made[t][row] = row < 8 * n ? given[row >> 3][4 * (row & 7) + t] : 0;             \
  }                                                                                                                \
  TOGETHER(to_rows_##n, give_rows_##n, uint32_t, gather_words, 4, n)
ROWS(1) ROWS(2) ROWS(4)

/* The same of matrices of halfwords that are transposed: lane 4 g + t has column g of the rows 2 t and 2 t + 1. */
#define COLUMNS(n)                                                                                                 \
  static INLINE void take_columns_##n(uint32_t (*made)[LANES], uint32_t (*given)[LANES]) {                         \
    for (int m = 0; m < n; ++m)                                                                                    \
      for (int pair = 0; pair < 4; ++pair) {                                                                       \
        eight rows = *(eight *)&given[pair][8 * m];                                                                \
        four even = PICK(rows, rows, 0, 2, 4, 6), odd = PICK(rows, rows, 1, 3, 5, 7);                              \
        four *to = (four *)&made[m][8 * pair];                                                                     \
        to[0] = (even & 0xffff) | odd << 16, to[1] = even >> 16 | (odd & 0xffff0000);                              \
      }                                                                                                            \
  }                                                                                                                \
  TOGETHER(columns_##n, take_columns_##n, uint32_t, gather_words, n, 4)                                            \
  static INLINE void give_columns_##n(uint32_t (*made)[LANES], uint32_t (*given)[LANES]) {                         \
    for (int row = 0; row < LANES; ++row)                                                                          \
      for (int t = 0; t < 4; ++t) {                                                                                \
        int m = row >> 3, from = 8 * t + ((row & 7) >> 1), shift = 16 * (row & 1);                                 \
        made[t][row] = row < 8 * n ? (given[m][from] >> shift & 0xffff) | (given[m][from + 4] >> shift & 0xffff) << 16 : 0; \
      }                                                                                                            \
  }                                                                                                                \
  TOGETHER(to_columns_##n, give_columns_##n, uint32_t, gather_words, 4, n)
COLUMNS(1) COLUMNS(2) COLUMNS(4)
