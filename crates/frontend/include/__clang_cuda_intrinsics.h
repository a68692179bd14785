/* clang's intrinsics, without its loads and stores with cache hints: ours are complete (__regrain_cache_hints.h). */
#ifndef __REGRAIN_CLANG_CUDA_INTRINSICS_H__
#define __REGRAIN_CLANG_CUDA_INTRINSICS_H__

#pragma push_macro("__ldcg")
#pragma push_macro("__ldcs")
#pragma push_macro("__ldcv")
#pragma push_macro("__stwt")
#define __ldcg __regrain_unused_ldcg
#define __ldcs __regrain_unused_ldcs
#define __ldcv __regrain_unused_ldcv
#define __stwt __regrain_unused_stwt
#include_next <__clang_cuda_intrinsics.h>
#pragma pop_macro("__ldcg")
#pragma pop_macro("__ldcs")
#pragma pop_macro("__ldcv")
#pragma pop_macro("__stwt")

#include <__regrain_cache_hints.h>

#endif
