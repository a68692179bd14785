/* Loads and stores with cache hints, for every type that nvcc has them for.
 *
 * clang has __ldcg, __ldcs, __ldcv and __stwt alone, and lets its optimiser merge two loads of one address: the asm statements
 * are not volatile. NVIDIA's are, and programs wait in loops of them. So all of them are made here, clang's go by other names
 * (__clang_cuda_intrinsics.h beside this file). A hint changes no value: targets without these caches load and store.
 */
#ifndef __REGRAIN_CACHE_HINTS_H__
#define __REGRAIN_CACHE_HINTS_H__

#pragma push_macro("__REGRAIN_LOAD")
#pragma push_macro("__REGRAIN_LOAD2")
#pragma push_macro("__REGRAIN_LOAD4")
#pragma push_macro("__REGRAIN_STORE")
#pragma push_macro("__REGRAIN_STORE2")
#pragma push_macro("__REGRAIN_STORE4")
#pragma push_macro("__REGRAIN_EACH_TYPE")

/* CLOBBER: what the compiler must take for changed beside the value. */
#define __REGRAIN_LOAD(NAME, HINT, CLOBBER, TYPE, PTX, HELD, REGISTER)                             \
  static __inline__ __device__ __attribute__((always_inline)) TYPE NAME(const TYPE *__p) {         \
    HELD __v;                                                                                      \
    asm volatile("ld.global." HINT "." PTX " %0, [%1];" : "=" REGISTER(__v) : "l"(__p)CLOBBER);    \
    return (TYPE)__v;                                                                              \
  }
#define __REGRAIN_LOAD2(NAME, HINT, CLOBBER, TYPE, PTX, HELD, REGISTER)                            \
  static __inline__ __device__ __attribute__((always_inline)) TYPE NAME(const TYPE *__p) {         \
    HELD __x, __y;                                                                                 \
    asm volatile("ld.global." HINT ".v2." PTX " {%0,%1}, [%2];"                                    \
                 : "=" REGISTER(__x), "=" REGISTER(__y)                                            \
                 : "l"(__p)CLOBBER);                                                               \
    TYPE __v;                                                                                      \
    __v.x = (decltype(__v.x))__x;                                                                  \
    __v.y = (decltype(__v.y))__y;                                                                  \
    return __v;                                                                                    \
  }
#define __REGRAIN_LOAD4(NAME, HINT, CLOBBER, TYPE, PTX, HELD, REGISTER)                            \
  static __inline__ __device__ __attribute__((always_inline)) TYPE NAME(const TYPE *__p) {         \
    HELD __x, __y, __z, __w;                                                                       \
    asm volatile("ld.global." HINT ".v4." PTX " {%0,%1,%2,%3}, [%4];"                              \
                 : "=" REGISTER(__x), "=" REGISTER(__y), "=" REGISTER(__z), "=" REGISTER(__w)      \
                 : "l"(__p)CLOBBER);                                                               \
    TYPE __v;                                                                                      \
    __v.x = (decltype(__v.x))__x;                                                                  \
    __v.y = (decltype(__v.y))__y;                                                                  \
    __v.z = (decltype(__v.z))__z;                                                                  \
    __v.w = (decltype(__v.w))__w;                                                                  \
    return __v;                                                                                    \
  }
#define __REGRAIN_STORE(NAME, HINT, CLOBBER, TYPE, PTX, HELD, REGISTER)                            \
  static __inline__ __device__ __attribute__((always_inline)) void NAME(TYPE *__p, TYPE __v) {     \
    asm volatile("st.global." HINT "." PTX " [%0], %1;" ::"l"(__p), REGISTER((HELD)__v)            \
                 : "memory");                                                                      \
  }
#define __REGRAIN_STORE2(NAME, HINT, CLOBBER, TYPE, PTX, HELD, REGISTER)                           \
  static __inline__ __device__ __attribute__((always_inline)) void NAME(TYPE *__p, TYPE __v) {     \
    asm volatile("st.global." HINT ".v2." PTX " [%0], {%1,%2};" ::"l"(__p),                        \
                 REGISTER((HELD)__v.x), REGISTER((HELD)__v.y)                                      \
                 : "memory");                                                                      \
  }
#define __REGRAIN_STORE4(NAME, HINT, CLOBBER, TYPE, PTX, HELD, REGISTER)                           \
  static __inline__ __device__ __attribute__((always_inline)) void NAME(TYPE *__p, TYPE __v) {     \
    asm volatile("st.global." HINT ".v4." PTX " [%0], {%1,%2,%3,%4};" ::"l"(__p),                  \
                 REGISTER((HELD)__v.x), REGISTER((HELD)__v.y), REGISTER((HELD)__v.z),              \
                 REGISTER((HELD)__v.w)                                                             \
                 : "memory");                                                                      \
  }

/* Each type: its PTX type, what holds an element in a register, and the constraint of that register. */
#define __REGRAIN_EACH_TYPE(F, NAME, HINT, CLOBBER)                                                \
  F(NAME, HINT, CLOBBER, char, "s8", int, "r")                                                     \
  F(NAME, HINT, CLOBBER, signed char, "s8", int, "r")                                              \
  F(NAME, HINT, CLOBBER, short, "s16", short, "h")                                                 \
  F(NAME, HINT, CLOBBER, int, "s32", int, "r")                                                     \
  F(NAME, HINT, CLOBBER, long, "s64", long, "l")                                                   \
  F(NAME, HINT, CLOBBER, long long, "s64", long long, "l")                                         \
  F(NAME, HINT, CLOBBER, unsigned char, "u8", unsigned int, "r")                                   \
  F(NAME, HINT, CLOBBER, unsigned short, "u16", unsigned short, "h")                               \
  F(NAME, HINT, CLOBBER, unsigned int, "u32", unsigned int, "r")                                   \
  F(NAME, HINT, CLOBBER, unsigned long, "u64", unsigned long, "l")                                 \
  F(NAME, HINT, CLOBBER, unsigned long long, "u64", unsigned long long, "l")                       \
  F(NAME, HINT, CLOBBER, float, "f32", float, "f")                                                 \
  F(NAME, HINT, CLOBBER, double, "f64", double, "d")                                               \
  F##2(NAME, HINT, CLOBBER, char2, "s8", int, "r")                                                 \
  F##2(NAME, HINT, CLOBBER, short2, "s16", short, "h")                                             \
  F##2(NAME, HINT, CLOBBER, int2, "s32", int, "r")                                                 \
  F##2(NAME, HINT, CLOBBER, longlong2, "s64", long long, "l")                                      \
  F##2(NAME, HINT, CLOBBER, uchar2, "u8", unsigned int, "r")                                       \
  F##2(NAME, HINT, CLOBBER, ushort2, "u16", unsigned short, "h")                                   \
  F##2(NAME, HINT, CLOBBER, uint2, "u32", unsigned int, "r")                                       \
  F##2(NAME, HINT, CLOBBER, ulonglong2, "u64", unsigned long long, "l")                            \
  F##2(NAME, HINT, CLOBBER, float2, "f32", float, "f")                                             \
  F##2(NAME, HINT, CLOBBER, double2, "f64", double, "d")                                           \
  F##4(NAME, HINT, CLOBBER, char4, "s8", int, "r")                                                 \
  F##4(NAME, HINT, CLOBBER, short4, "s16", short, "h")                                             \
  F##4(NAME, HINT, CLOBBER, int4, "s32", int, "r")                                                 \
  F##4(NAME, HINT, CLOBBER, uchar4, "u8", unsigned int, "r")                                       \
  F##4(NAME, HINT, CLOBBER, ushort4, "u16", unsigned short, "h")                                   \
  F##4(NAME, HINT, CLOBBER, uint4, "u32", unsigned int, "r")                                       \
  F##4(NAME, HINT, CLOBBER, float4, "f32", float, "f")

__REGRAIN_EACH_TYPE(__REGRAIN_LOAD, __ldcg, "cg", )
__REGRAIN_EACH_TYPE(__REGRAIN_LOAD, __ldca, "ca", )
__REGRAIN_EACH_TYPE(__REGRAIN_LOAD, __ldcs, "cs", )
__REGRAIN_EACH_TYPE(__REGRAIN_LOAD, __ldlu, "lu", : "memory")
__REGRAIN_EACH_TYPE(__REGRAIN_LOAD, __ldcv, "cv", : "memory")
__REGRAIN_EACH_TYPE(__REGRAIN_STORE, __stwb, "wb", )
__REGRAIN_EACH_TYPE(__REGRAIN_STORE, __stcg, "cg", )
__REGRAIN_EACH_TYPE(__REGRAIN_STORE, __stcs, "cs", )
__REGRAIN_EACH_TYPE(__REGRAIN_STORE, __stwt, "wt", )

#pragma pop_macro("__REGRAIN_LOAD")
#pragma pop_macro("__REGRAIN_LOAD2")
#pragma pop_macro("__REGRAIN_LOAD4")
#pragma pop_macro("__REGRAIN_STORE")
#pragma pop_macro("__REGRAIN_STORE2")
#pragma pop_macro("__REGRAIN_STORE4")
#pragma pop_macro("__REGRAIN_EACH_TYPE")

#endif
