/* CUDA loads a kernel when it is first launched, which would be part of that launch's time. So that it loads all of them at
 * the start, unless the user says otherwise: the profiler refers to this file, and what stands here runs before `main`. */
#include <stdlib.h>

__attribute__((constructor)) static void load_eagerly(void) { setenv("CUDA_MODULE_LOADING", "EAGER", 0); }

/* For the profiler to refer to. */
const char __regrain_profile_eager = 1;
