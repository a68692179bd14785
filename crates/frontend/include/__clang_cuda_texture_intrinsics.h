/* clang's fetches from textures. Of `tex2Dgather` that says whether what it gathers is there, CUDA's header gives the channel before
 * the place for that; clang 22 expects it behind.
 *
 * It is a third of all that clang reads in front of a source. One that fetches is rejected without it, and read again with it (`second_look`). */
#if !defined(__REGRAIN_CLANG_CUDA_TEXTURE_INTRINSICS_H__) && !defined(__REGRAIN_NO_TEXTURES__)
#define __REGRAIN_CLANG_CUDA_TEXTURE_INTRINSICS_H__

#include_next <__clang_cuda_texture_intrinsics.h>

namespace {
namespace __cuda_tex {
template <class __op> struct __regrain_is_gather;
template <> struct __regrain_is_gather<__Tag<__tex_op_hash("__itex2Dgather_sparse")>> { typedef void type; };

template <class __op, class __T>
__device__ static typename __regrain_is_gather<__op>::type __tex_fetch(__T *__ptr, cudaTextureObject_t __handle, float __x, float __y,
                                                                       int __comp, unsigned char *__ir) {
  __tex_fetch<__op>(__ptr, __handle, __x, __y, __ir, __comp);
}
} // namespace __cuda_tex
} // namespace

#endif
