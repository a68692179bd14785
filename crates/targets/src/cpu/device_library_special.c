/* Test: libdevice functions that libm lacks, against values known to more than double precision. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

double __nv_sinpi(double), __nv_cospi(double), __nv_erfinv(double), __nv_erfcinv(double), __nv_erfcx(double);
double __nv_normcdf(double), __nv_normcdfinv(double), __nv_cyl_bessel_i0(double), __nv_cyl_bessel_i1(double);
double __nv_norm3d(double, double, double), __nv_rhypot(double, double), __nv_rcbrt(double);
uint32_t __nv_byte_perm(uint32_t, uint32_t, uint32_t), __nv_brev(uint32_t), __nv_umulhi(uint32_t, uint32_t);
int32_t __nv_float2int_rz(float), __nv_hadd(int32_t, int32_t), __nv_ffs(int32_t), __nv_mul24(int32_t, int32_t), __nv_double2int_rz(double);
uint32_t __nv_float2uint_rz(float), __nv_sad(int32_t, int32_t, uint32_t);
int64_t __nv_float2ll_rz(float);
float __nv_saturatef(float);

static int failures;
static void near(const char *what, double got, double wanted, double tolerance) {
  if (fabs(got - wanted) <= tolerance * fabs(wanted) || got == wanted) return;
  ++failures;
  printf("%s: got %.17g, expected %.17g\n", what, got, wanted);
}
static void is(const char *what, uint64_t got, uint64_t wanted) {
  if (got == wanted) return;
  ++failures;
  printf("%s: got %#lx, expected %#lx\n", what, (unsigned long)got, (unsigned long)wanted);
}

int main(void) {
  near("sinpi(0.25)", __nv_sinpi(0.25), 0.70710678118654752440, 1e-15);
  near("sinpi(1e6+0.5)", __nv_sinpi(1000000.5), 1, 0);
  near("sinpi(-1.5)", __nv_sinpi(-1.5), 1, 0);
  near("sinpi(3)", __nv_sinpi(3), 0, 0);
  near("cospi(0.5)", __nv_cospi(0.5), 0, 0);
  near("cospi(1)", __nv_cospi(1), -1, 0);
  near("cospi(1/3)", __nv_cospi(1.0 / 3), 0.5, 4e-16);
  near("erfinv(0.5)", __nv_erfinv(0.5), 0.47693627620446987338, 4e-16);
  near("erfinv(1e-10)", __nv_erfinv(1e-10), 8.8622692545275801366e-11, 4e-16);
  near("erfcinv(1e-10)", __nv_erfcinv(1e-10), 4.572824967389486, 1e-15);
  near("erfcinv(1e-200)", erfc(__nv_erfcinv(1e-200)), 1e-200, 1e-12);
  near("erfcinv(1.5)", __nv_erfcinv(1.5), -0.47693627620446987338, 4e-16);
  near("erfcx(1)", __nv_erfcx(1), 0.42758357615580700442, 1e-15);
  near("erfcx(50)", __nv_erfcx(50), 0.011281536265323773, 1e-14);
  near("erfcx(-1)", __nv_erfcx(-1), 5.008980080762283, 1e-14);
  near("normcdf(0)", __nv_normcdf(0), 0.5, 0);
  near("normcdf(-1)", __nv_normcdf(-1), 0.15865525393145705142, 1e-15);
  near("normcdf(-10)", __nv_normcdf(-10), 7.6198530241605260660e-24, 2e-15);
  near("normcdfinv(0.975)", __nv_normcdfinv(0.975), 1.9599639845400542355, 2e-15);
  near("i0(1)", __nv_cyl_bessel_i0(1), 1.26606587775200833560, 1e-15);
  near("i1(2)", __nv_cyl_bessel_i1(2), 1.59063685463732906338, 1e-15);
  near("i0(50)", __nv_cyl_bessel_i0(50), 2.93255378384933627e20, 1e-14);
  near("norm3d", __nv_norm3d(1e300, 2e300, 2e300), 3e300, 1e-15);
  near("rhypot", __nv_rhypot(3, 4), 0.2, 1e-15);
  near("rcbrt(27)", __nv_rcbrt(27), 1.0 / 3, 1e-15);
  near("saturate(nan)", __nv_saturatef(NAN), 0, 0);
  is("byte_perm", __nv_byte_perm(0x33221100, 0x77665544, 0x7531), 0x77553311);
  is("brev", __nv_brev(1), 0x80000000u);
  is("umulhi", __nv_umulhi(0x80000000u, 6), 3);
  is("float2int nan", (uint32_t)__nv_float2int_rz(NAN), 0);
  is("float2int big", (uint32_t)__nv_float2int_rz(1e20f), 0x7fffffff);
  is("double2int nan", (uint32_t)__nv_double2int_rz(NAN), 0x80000000u);
  is("float2uint negative", __nv_float2uint_rz(-1), 0);
  is("float2ll nan", (uint64_t)__nv_float2ll_rz(NAN), 1ull << 63);
  is("hadd", (uint32_t)__nv_hadd(-3, 2), 0xffffffffu);
  is("ffs", (uint32_t)__nv_ffs(8), 4);
  is("mul24", (uint32_t)__nv_mul24(0xffffff, 3), 0xfffffffdu);
  is("sad", __nv_sad(-3, 4, 1), 8);
  return failures != 0;
}
