/* All functions of this folder. */
#include "error_float.h"
#include "exponential_float.h"
#include "hyperbolic_float.h"
#include "logarithm_float.h"
#include "power_float.h"
#include "simple_float.h"
#include "trigonometric_float.h"
