// Functions that a program and its twin share carry this mark.
#pragma once

#ifdef __CUDACC__
#define BOTH_SIDES __host__ __device__
#else
#define BOTH_SIDES
#endif
