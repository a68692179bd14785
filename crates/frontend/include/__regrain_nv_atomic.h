/* nvcc's built-in atomic functions (CUDA 12.8 and later), by clang's, which know the same orders and scopes. */
#ifndef __REGRAIN_NV_ATOMIC_H__
#define __REGRAIN_NV_ATOMIC_H__

#if defined(__MEMORY_SCOPE_SYSTEM) && __cplusplus >= 201103L

#define __NV_ATOMIC_RELAXED __ATOMIC_RELAXED
#define __NV_ATOMIC_CONSUME __ATOMIC_CONSUME
#define __NV_ATOMIC_ACQUIRE __ATOMIC_ACQUIRE
#define __NV_ATOMIC_RELEASE __ATOMIC_RELEASE
#define __NV_ATOMIC_ACQ_REL __ATOMIC_ACQ_REL
#define __NV_ATOMIC_SEQ_CST __ATOMIC_SEQ_CST

/* A cluster is taken for the device, which holds it. */
#define __NV_THREAD_SCOPE_THREAD __MEMORY_SCOPE_SINGLE
#define __NV_THREAD_SCOPE_BLOCK __MEMORY_SCOPE_WRKGRP
#define __NV_THREAD_SCOPE_CLUSTER __MEMORY_SCOPE_DEVICE
#define __NV_THREAD_SCOPE_DEVICE __MEMORY_SCOPE_DEVICE
#define __NV_THREAD_SCOPE_SYSTEM __MEMORY_SCOPE_SYSTEM

#pragma push_macro("__REGRAIN_ATOMIC")
#pragma push_macro("__REGRAIN_SCOPE")
#pragma push_macro("__REGRAIN_FETCH")
#define __REGRAIN_ATOMIC static __inline__ __device__ __attribute__((always_inline))
#define __REGRAIN_SCOPE int __scope = __NV_THREAD_SCOPE_SYSTEM

template <typename __T> struct __regrain_value {
  typedef __T type;
};

template <typename __T> __REGRAIN_ATOMIC __T __nv_atomic_load_n(const __T *__p, int __order, __REGRAIN_SCOPE) {
  return __scoped_atomic_load_n(const_cast<__T *>(__p), __order, __scope);
}
template <typename __T> __REGRAIN_ATOMIC void __nv_atomic_load(const __T *__p, __T *__v, int __order, __REGRAIN_SCOPE) {
  __scoped_atomic_load(const_cast<__T *>(__p), __v, __order, __scope);
}
template <typename __T>
__REGRAIN_ATOMIC void __nv_atomic_store_n(__T *__p, typename __regrain_value<__T>::type __v, int __order,
                                          __REGRAIN_SCOPE) {
  __scoped_atomic_store_n(__p, __v, __order, __scope);
}
template <typename __T> __REGRAIN_ATOMIC void __nv_atomic_store(__T *__p, __T *__v, int __order, __REGRAIN_SCOPE) {
  __scoped_atomic_store(__p, __v, __order, __scope);
}
template <typename __T>
__REGRAIN_ATOMIC __T __nv_atomic_exchange_n(__T *__p, typename __regrain_value<__T>::type __v, int __order,
                                            __REGRAIN_SCOPE) {
  return __scoped_atomic_exchange_n(__p, __v, __order, __scope);
}
template <typename __T>
__REGRAIN_ATOMIC void __nv_atomic_exchange(__T *__p, __T *__v, __T *__old, int __order, __REGRAIN_SCOPE) {
  __scoped_atomic_exchange(__p, __v, __old, __order, __scope);
}
template <typename __T>
__REGRAIN_ATOMIC bool __nv_atomic_compare_exchange_n(__T *__p, __T *__expected, typename __regrain_value<__T>::type __v,
                                                     bool, int __order, int __failure, __REGRAIN_SCOPE) {
  return __scoped_atomic_compare_exchange_n(__p, __expected, __v, false, __order, __failure, __scope);
}
template <typename __T>
__REGRAIN_ATOMIC bool __nv_atomic_compare_exchange(__T *__p, __T *__expected, __T *__v, bool, int __order,
                                                   int __failure, __REGRAIN_SCOPE) {
  return __scoped_atomic_compare_exchange(__p, __expected, __v, false, __order, __failure, __scope);
}
#define __REGRAIN_FETCH(NAME)                                                                      \
  template <typename __T>                                                                          \
  __REGRAIN_ATOMIC __T __nv_atomic_fetch_##NAME(                                                   \
      __T *__p, typename __regrain_value<__T>::type __v, int __order, __REGRAIN_SCOPE) {           \
    return __scoped_atomic_fetch_##NAME(__p, __v, __order, __scope);                               \
  }                                                                                                \
  template <typename __T>                                                                          \
  __REGRAIN_ATOMIC void __nv_atomic_##NAME(                                                        \
      __T *__p, typename __regrain_value<__T>::type __v, int __order, __REGRAIN_SCOPE) {           \
    __scoped_atomic_fetch_##NAME(__p, __v, __order, __scope);                                      \
  }
__REGRAIN_FETCH(add)
__REGRAIN_FETCH(sub)
__REGRAIN_FETCH(and)
__REGRAIN_FETCH(or)
__REGRAIN_FETCH(xor)
__REGRAIN_FETCH(min)
__REGRAIN_FETCH(max)
__REGRAIN_ATOMIC void __nv_atomic_thread_fence(int __order, __REGRAIN_SCOPE) {
  __scoped_atomic_thread_fence(__order, __scope);
}

#pragma pop_macro("__REGRAIN_ATOMIC")
#pragma pop_macro("__REGRAIN_SCOPE")
#pragma pop_macro("__REGRAIN_FETCH")

#endif
#endif
