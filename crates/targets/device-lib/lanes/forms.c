/* The vector forms, of LANES elements, of the functions in `functions.def`. Vectors of any size go through memory here; `build.rs` gives
 * each form the signature that it has for others. */
#include "all.h"

#define UNARY(name, function, type, first) void __regrain_form_##name(type *result, const first *x) { *result = function(*x); }
#define BINARY(name, function, type, second) \
  void __regrain_form_##name(type *result, const type *x, const second *y) { *result = function(*x, *y); }
#define TERNARY(name, function, type) \
  void __regrain_form_##name(type *result, const type *x, const type *y, const type *z) { *result = function(*x, *y, *z); }
#define FORM_f_f(name, function) UNARY(name, function, F, F)
#define FORM_i_f(name, function) UNARY(name, function, I, F)
#define FORM_f_i(name, function) UNARY(name, function, F, I)
#define FORM_d_d(name, function) UNARY(name, function, D, D)
#define FORM_d_dd(name, function) BINARY(name, function, D, D)
#define FORM_d_ddd(name, function) TERNARY(name, function, D)
#define FORM_f_ff(name, function) BINARY(name, function, F, F)
#define FORM_f_fi(name, function) BINARY(name, function, F, I)
#define FORM_f_fff(name, function) TERNARY(name, function, F)
#define FORM(signature, name, function) FORM_##signature(name, function)
#define VECTOR FORM
#define SAME(name, other)
#include "functions.def"
