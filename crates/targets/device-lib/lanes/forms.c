/* The vector forms, of LANES elements, of the functions in `functions.def`. Vectors of any size go through memory here; `build.rs` gives
 * each form the signature that it has for others. */
#include "all.h"

#define FORM_f_f(name, function) void __regrain_form_##name(F *result, const F *x) { *result = function(*x); }
#define FORM_f_ff(name, function) void __regrain_form_##name(F *result, const F *x, const F *y) { *result = function(*x, *y); }
#define FORM(signature, name, function) FORM_##signature(name, function)
#define VECTOR FORM
#define SAME(name, other)
#include "functions.def"
