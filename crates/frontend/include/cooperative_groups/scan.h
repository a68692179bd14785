/* NVIDIA's header as clang is to see it, also where a source is compiled with __NVCC__ defined: what it gives nvcc alone are
 * nvcc's own built-in functions. */
#pragma push_macro("__NVCC__")
#undef __NVCC__
#include_next <cooperative_groups/scan.h>
#pragma pop_macro("__NVCC__")
