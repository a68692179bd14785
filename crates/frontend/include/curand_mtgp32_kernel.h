/* clang's wrapper of CUDA's headers includes cuRAND's, which a toolkit may be without; nvcc never asks for it by itself. */
#if __has_include_next(<curand_mtgp32_kernel.h>)
#include_next <curand_mtgp32_kernel.h>
#endif
