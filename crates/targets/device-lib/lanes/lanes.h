/* Mathematical functions of LANES numbers at once: types, and what the functions of this folder are made of.
 *
 * One source gives the scalar function (LANES is 1) and its vector forms, which have the same bits: every operation is an
 * elementwise one of IEEE 754, in the same order, without contraction (not every processor has fma), and what branches do elsewhere is
 * done by SELECT. Arguments that are rare and hard go to a scalar function one by one (`ONE_BY_ONE`), in all forms alike.
 */
#ifndef REGRAIN_LANES_H
#define REGRAIN_LANES_H

#include <stdbool.h>
#include <stdint.h>

#define INLINE __attribute__((always_inline))
#define LANE static inline INLINE
#define COLD __attribute__((noinline, cold))

/* F and I have elements of 32 bits, D and L of 64. A comparison gives the integer type of the same size (a scalar one int): all bits or
 * none. Masks are joined by & and |; SELECT takes those of its operands' size. */
#if LANES == 1
typedef float F;
typedef double D;
typedef int32_t I;
typedef uint32_t U;
typedef int64_t L;
typedef uint64_t UL;
typedef int MASK;
typedef int MASK64;
#define FLOATS(c) ((float)(c))
#define DOUBLES(c) ((double)(c))
#define INTS(c) ((int32_t)(c))
#define LONGS(c) ((int64_t)(c))
#define CONVERT(x, type) ((type)(x))
#define ANY(mask) (mask)
#define NOT(mask) (!(mask))
/* A function that LLVM has for vectors too. */
#define ELEMENTWISE(name, suffix, ...) __builtin_##name##suffix(__VA_ARGS__)
#else
typedef float F __attribute__((ext_vector_type(LANES)));
typedef double D __attribute__((ext_vector_type(LANES)));
typedef int32_t I __attribute__((ext_vector_type(LANES)));
typedef uint32_t U __attribute__((ext_vector_type(LANES)));
typedef int64_t L __attribute__((ext_vector_type(LANES)));
typedef uint64_t UL __attribute__((ext_vector_type(LANES)));
typedef I MASK;
typedef L MASK64;
#define FLOATS(c) ((F)(float)(c))
#define DOUBLES(c) ((D)(double)(c))
#define INTS(c) ((I)(int32_t)(c))
#define LONGS(c) ((L)(int64_t)(c))
#define CONVERT(x, type) __builtin_convertvector(x, type)
#define ANY(mask) (__builtin_reduce_or(mask) != 0)
#define NOT(mask) (~(mask))
#define ELEMENTWISE(name, suffix, ...) __builtin_elementwise_##name(__VA_ARGS__)
#endif

#define SELECT(mask, a, b) ((mask) ? (a) : (b))
/* The same, where `mask` hardly ever holds. */
#if LANES == 1
#define RARE(mask, a, b) (__builtin_expect(mask, 0) ? (a) : (b))
#else
#define RARE SELECT
#endif
/* The same of two constants, which is no branch. */
#if LANES == 1
#define CHOOSE(type, mask, a, b) (((const type[]){b, a})[mask])
#else
#define CHOOSE(type, mask, a, b) SELECT(mask, (type)(double)(a), (type)(double)(b))
#endif
#define BITS(x, type) __builtin_bit_cast(type, x)

#define INF_F __builtin_inff()
#define INF_D __builtin_inf()
/* CUDA's own. */
#define NAN_F FLOATS(__builtin_bit_cast(float, 0x7fffffff))
#define NAN_D DOUBLES(__builtin_bit_cast(double, 0x7fffffffffffffffll))

LANE F abs_f(F x) { return BITS(BITS(x, I) & INTS(0x7fffffff), F); }
LANE D abs_d(D x) { return BITS(BITS(x, L) & LONGS(0x7fffffffffffffffll), D); }
LANE I sign_f(F x) { return BITS(x, I) & INTS(INT32_MIN); }
LANE L sign_d(D x) { return BITS(x, L) & LONGS(INT64_MIN); }
/* `x`, whose own sign bit is clear, with a sign. */
LANE F with_sign_f(F x, I sign) { return BITS(BITS(x, I) | sign, F); }
LANE D with_sign_d(D x, L sign) { return BITS(BITS(x, L) | sign, D); }
LANE F flip_f(F x, I sign) { return BITS(BITS(x, I) ^ sign, F); }
LANE D flip_d(D x, L sign) { return BITS(BITS(x, L) ^ sign, D); }
LANE F flush_f(F x) { return SELECT(abs_f(x) < FLOATS(0x1p-126f), BITS(sign_f(x), F), x); }

/* The nearest integer of a small number, as a number; the low bits of `*shifted` are the integer too. */
#define SHIFT_F 0x1.8p23f
#define SHIFT_D 0x1.8p52
LANE F nearest_f(F x, F *shifted) {
  *shifted = x + FLOATS(SHIFT_F);
  return *shifted - FLOATS(SHIFT_F);
}
LANE D nearest_d(D x, D *shifted) {
  *shifted = x + DOUBLES(SHIFT_D);
  return *shifted - DOUBLES(SHIFT_D);
}
LANE I shifted_int(F shifted) { return BITS(shifted, I) - INTS(0x4b400000); }

/* x * 2^n, rounded once, for n from -252 to 254 and x about 1. */
LANE F scale_f(F x, I n) {
  I half = n >> 1, rest = n - half;
  return x * BITS((half + 127) << 23, F) * BITS((rest + 127) << 23, F);
}

/* Polynomials, lowest coefficient first, by G. Estrin's scheme: four at a time, so that much goes side by side. */
#define P1(t, x, a) t(a)
#define P2(t, x, a, b) (t(a) + (x) * t(b))
#define P3(t, x, a, b, c) (P2(t, x, a, b) + (x) * (x) * t(c))
#define P4(t, x, a, b, c, d) (P2(t, x, a, b) + (x) * (x) * P2(t, x, c, d))
#define P5(t, x, a, b, c, d, ...) (P4(t, x, a, b, c, d) + ((x) * (x)) * ((x) * (x)) * P1(t, x, __VA_ARGS__))
#define P6(t, x, a, b, c, d, ...) (P4(t, x, a, b, c, d) + ((x) * (x)) * ((x) * (x)) * P2(t, x, __VA_ARGS__))
#define P7(t, x, a, b, c, d, ...) (P4(t, x, a, b, c, d) + ((x) * (x)) * ((x) * (x)) * P3(t, x, __VA_ARGS__))
#define P8(t, x, a, b, c, d, ...) (P4(t, x, a, b, c, d) + ((x) * (x)) * ((x) * (x)) * P4(t, x, __VA_ARGS__))
#define P9(t, x, a, b, c, d, ...) (P4(t, x, a, b, c, d) + ((x) * (x)) * ((x) * (x)) * P5(t, x, __VA_ARGS__))
#define P10(t, x, a, b, c, d, ...) (P4(t, x, a, b, c, d) + ((x) * (x)) * ((x) * (x)) * P6(t, x, __VA_ARGS__))
#define P11(t, x, a, b, c, d, ...) (P4(t, x, a, b, c, d) + ((x) * (x)) * ((x) * (x)) * P7(t, x, __VA_ARGS__))
#define P12(t, x, a, b, c, d, ...) (P4(t, x, a, b, c, d) + ((x) * (x)) * ((x) * (x)) * P8(t, x, __VA_ARGS__))
#define P13(t, x, a, b, c, d, ...) (P4(t, x, a, b, c, d) + ((x) * (x)) * ((x) * (x)) * P9(t, x, __VA_ARGS__))

/* `x`, but where `mask` holds what the scalar function gives for the element. */
#if LANES == 1
#define ONE_BY_ONE(suffix, vector, masks, element)                                                                  \
  LANE vector one_by_one_##suffix(vector x, vector y, masks mask, element (*function)(element)) {                   \
    return __builtin_expect(mask, 0) ? function(y) : x;                                                             \
  }                                                                                                                 \
  LANE vector one_by_one_2_##suffix(vector x, vector y, vector z, masks mask, element (*function)(element, element)) { \
    return __builtin_expect(mask, 0) ? function(y, z) : x;                                                          \
  }
#else
#define ONE_BY_ONE(suffix, vector, masks, element)                                                                  \
  static COLD void each_##suffix(vector *x, const vector *y, const masks *mask, element (*function)(element)) {     \
    for (int lane = 0; lane < LANES; ++lane)                                                                        \
      if ((*mask)[lane]) (*x)[lane] = function((*y)[lane]);                                                         \
  }                                                                                                                 \
  LANE vector one_by_one_##suffix(vector x, vector y, masks mask, element (*function)(element)) {                   \
    if (__builtin_expect(ANY(mask), 0)) each_##suffix(&x, &y, &mask, function);                                     \
    return x;                                                                                                       \
  }                                                                                                                 \
  static COLD void each_2_##suffix(vector *x, const vector *y, const vector *z, const masks *mask,                  \
                                   element (*function)(element, element)) {                                         \
    for (int lane = 0; lane < LANES; ++lane)                                                                        \
      if ((*mask)[lane]) (*x)[lane] = function((*y)[lane], (*z)[lane]);                                             \
  }                                                                                                                 \
  LANE vector one_by_one_2_##suffix(vector x, vector y, vector z, masks mask, element (*function)(element, element)) { \
    if (__builtin_expect(ANY(mask), 0)) each_2_##suffix(&x, &y, &z, &mask, function);                               \
    return x;                                                                                                       \
  }
#endif
ONE_BY_ONE(f, F, MASK, float)
ONE_BY_ONE(d, D, MASK64, double)

#endif
