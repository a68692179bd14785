// The harness of idioms/ on an OpenCL device.
#pragma once

#define IDIOM_OPENCL
#include "../idioms/idiom.h"
#include "../idioms/twins.h"
