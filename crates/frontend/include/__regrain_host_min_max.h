/* min, max and their kin for host code: of CUDA's mathematical functions, those that clang has for device code alone.
 *
 * They take the mixes of types that nvcc's take, no template among them: no call becomes ambiguous that is not so for nvcc
 * too. Of numbers and NaN they give the number.
 */
#ifndef __REGRAIN_HOST_MIN_MAX_H__
#define __REGRAIN_HOST_MIN_MAX_H__

#pragma push_macro("min")
#pragma push_macro("max")
#undef min
#undef max

#pragma push_macro("__REGRAIN_HOST")
#define __REGRAIN_HOST static __inline__ __attribute__((host))

/* Written out, not made by macros: a call that fits none lists them all, each in two lines. */
__REGRAIN_HOST int min(const int a, const int b) { return a < b ? a : b; }
__REGRAIN_HOST unsigned int min(const unsigned int a, const unsigned int b) { return a < b ? a : b; }
__REGRAIN_HOST unsigned int min(const int a, const unsigned int b) { return a < b ? a : b; }
__REGRAIN_HOST unsigned int min(const unsigned int a, const int b) { return a < b ? a : b; }
__REGRAIN_HOST long min(const long a, const long b) { return a < b ? a : b; }
__REGRAIN_HOST unsigned long min(const unsigned long a, const unsigned long b) { return a < b ? a : b; }
__REGRAIN_HOST unsigned long min(const long a, const unsigned long b) { return a < b ? a : b; }
__REGRAIN_HOST unsigned long min(const unsigned long a, const long b) { return a < b ? a : b; }
__REGRAIN_HOST long long min(const long long a, const long long b) { return a < b ? a : b; }
__REGRAIN_HOST unsigned long long min(const unsigned long long a, const unsigned long long b) { return a < b ? a : b; }
__REGRAIN_HOST unsigned long long min(const long long a, const unsigned long long b) { return a < b ? a : b; }
__REGRAIN_HOST unsigned long long min(const unsigned long long a, const long long b) { return a < b ? a : b; }
__REGRAIN_HOST float min(const float a, const float b) { return __builtin_fminf(a, b); }
__REGRAIN_HOST double min(const double a, const double b) { return __builtin_fmin(a, b); }
__REGRAIN_HOST double min(const float a, const double b) { return __builtin_fmin(a, b); }
__REGRAIN_HOST double min(const double a, const float b) { return __builtin_fmin(a, b); }
__REGRAIN_HOST unsigned int umin(const unsigned int a, const unsigned int b) { return a < b ? a : b; }
__REGRAIN_HOST long long llmin(const long long a, const long long b) { return a < b ? a : b; }
__REGRAIN_HOST unsigned long long ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }

__REGRAIN_HOST int max(const int a, const int b) { return a > b ? a : b; }
__REGRAIN_HOST unsigned int max(const unsigned int a, const unsigned int b) { return a > b ? a : b; }
__REGRAIN_HOST unsigned int max(const int a, const unsigned int b) { return a > b ? a : b; }
__REGRAIN_HOST unsigned int max(const unsigned int a, const int b) { return a > b ? a : b; }
__REGRAIN_HOST long max(const long a, const long b) { return a > b ? a : b; }
__REGRAIN_HOST unsigned long max(const unsigned long a, const unsigned long b) { return a > b ? a : b; }
__REGRAIN_HOST unsigned long max(const long a, const unsigned long b) { return a > b ? a : b; }
__REGRAIN_HOST unsigned long max(const unsigned long a, const long b) { return a > b ? a : b; }
__REGRAIN_HOST long long max(const long long a, const long long b) { return a > b ? a : b; }
__REGRAIN_HOST unsigned long long max(const unsigned long long a, const unsigned long long b) { return a > b ? a : b; }
__REGRAIN_HOST unsigned long long max(const long long a, const unsigned long long b) { return a > b ? a : b; }
__REGRAIN_HOST unsigned long long max(const unsigned long long a, const long long b) { return a > b ? a : b; }
__REGRAIN_HOST float max(const float a, const float b) { return __builtin_fmaxf(a, b); }
__REGRAIN_HOST double max(const double a, const double b) { return __builtin_fmax(a, b); }
__REGRAIN_HOST double max(const float a, const double b) { return __builtin_fmax(a, b); }
__REGRAIN_HOST double max(const double a, const float b) { return __builtin_fmax(a, b); }
__REGRAIN_HOST unsigned int umax(const unsigned int a, const unsigned int b) { return a > b ? a : b; }
__REGRAIN_HOST long long llmax(const long long a, const long long b) { return a > b ? a : b; }
__REGRAIN_HOST unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a > b ? a : b; }

#pragma pop_macro("__REGRAIN_HOST")
#pragma pop_macro("min")
#pragma pop_macro("max")

#endif
