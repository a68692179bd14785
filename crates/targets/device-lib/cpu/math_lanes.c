/* libdevice's functions that have vector forms of the same bits: the scalar ones. */
#define LANES 1
#include "../lanes/all.h"

#define FORM_f_f(name, function) extern inline float name(float x) { return function(x); }
#define FORM_f_ff(name, function) extern inline float name(float x, float y) { return function(x, y); }
#define FORM_f_fff(name, function) extern inline float name(float x, float y, float z) { return function(x, y, z); }
#define FORM_f_fi(name, function) extern inline float name(float x, int32_t y) { return function(x, y); }
#define FORM_d_d(name, function) extern inline double name(double x) { return function(x); }
#define FORM_d_dd(name, function) extern inline double name(double x, double y) { return function(x, y); }
#define FORM_d_ddd(name, function) extern inline double name(double x, double y, double z) { return function(x, y, z); }
#define FORM(signature, name, function) FORM_##signature(name, function)
#define VECTOR(signature, name, function)
#define SAME(name, other)
#include "../lanes/functions.def"
