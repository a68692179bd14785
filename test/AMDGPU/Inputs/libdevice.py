#!/usr/bin/env python3
"""Every function of libdevice on an AMD chip against the CPU target.

  libdevice.py generate LIBDEVICE.ll HEADER > program.cu   a program that prints what each function gives for many arguments
  libdevice.py compare CPU.txt AMD.txt                     fails where two such outputs differ by more than ULPS says

LIBDEVICE.ll is NVIDIA's library as text, HEADER clang's declarations of it. A function that is not in ULPS gives the same bits.
"""

import math
import re
import struct
import sys

# How far results may lie apart, in units in the last place: AMD's ocml and the CPU target's functions are both within CUDA's bounds. A
# second number is an absolute distance, for functions that CUDA bounds so near their zeros.
ULPS = {
    **dict.fromkeys(
        """acos acosf acosh acoshf asin asinh asinhf atan atan2 atanf atanh atanhf cbrt cbrtf cos cosf cosh coshf cospi cospif erf
        erff exp exp10f exp2 exp2f expf expm1f fast_cosf fast_exp10f fast_expf fast_log10f fast_log2f fast_logf fast_sincosf
        fast_sinf hypot hypotf log log10 log1p log1pf log2 log2f logf norm3d norm3df norm4d norm4df normf pow powf powi powif
        rcbrt rcbrtf rhypotf rnorm3d rnorm3df rnorm4df rnormf rsqrt rsqrtf sin sincos sincosf sincospi sincospif sinf sinh sinhf
        sinpi sinpif tan tanf""".split(),
        (1, 0),
    ),
    **dict.fromkeys(
        """asinf atan2f cyl_bessel_i1f erfc erfcf erfcxf erfinvf exp10 expm1 fast_tanf fast_tanhf log10f normcdf normcdff
        normcdfinvf rhypot rnorm4d tanh tanhf""".split(),
        (2, 0),
    ),
    **dict.fromkeys("cyl_bessel_i0f erfcinvf erfcx erfinv tgammaf".split(), (3, 0)),
    **dict.fromkeys("j0f j1f jnf y0f y1f ynf".split(), (9, 3e-6)),
    **dict.fromkeys("j0 j1 jn y0 y1 yn".split(), (7, 5e-12)),
    "cyl_bessel_i0": (8, 0),
    "cyl_bessel_i1": (9, 0),
    "erfcinv": (6, 1e-15),
    "fast_powf": (128, 0),
    "lgamma": (4, 1e-14),
    "lgammaf": (6, 1e-6),
    "normcdfinv": (5, 1e-15),
    "tgamma": (5, 0),
}

ARGUMENTS = 512
RESULT_BITS = {"float": 32, "double": 64, "i32": 32, "i64": 64, "i16": 16}
C_TYPES = {"float": "float", "double": "double", "i32": "int", "i64": "long long", "i16": "unsigned short"}
# What a pointer is to: results, a string, or the numbers of a vector, whose count is the argument before.
POINTERS = {"frexp": "int", "frexpf": "int", "remquo": "int", "remquof": "int", "modf": "double", "modff": "float"}
DEFINED = re.compile(r"^define (?:internal |hidden |dso_local |zeroext |local_unnamed_addr )*(\w+) @__nv_(\w+)\(([^)]*)\)")


def functions(path):
    """Name, type of the result and types of the arguments."""
    with open(path, encoding="utf-8") as text:
        for line in text:
            if match := DEFINED.match(line):
                result, name, arguments = match.groups()
                yield name, result, [argument.split()[0] for argument in arguments.split(",") if argument.strip()]


def call(name, kinds):
    """The arguments of a call, and what it writes through pointers, as type and variable."""
    given, written, floats, ints = [], [], 0, 0
    for place, kind in enumerate(kinds):
        if kind == "ptr" and name in ("nan", "nanf"):
            given.append('(const signed char *)"12"')
        elif kind == "ptr" and kinds[0] == "i32":
            given.append(f"{'f' if name.endswith('f') else 'd'} + i % (COUNT - 8)")
        elif kind == "ptr":
            to = POINTERS.get(name) or kinds[0]
            written.append((to, f"w{place}"))
            given.append(f"&w{place}")
        elif kind in ("float", "double"):
            given.append(f"{kind[0]}[(i * {2 * floats + 1} + {floats * 7}) % COUNT]")
            floats += 1
        elif kinds[-1] in ("float", "double", "ptr") and kind == "i32":  # an order, or the size of a vector
            given.append("1 + i % 8")
        elif floats:  # an exponent
            given.append("n[i] % 300")
        else:
            given.append(f"{'n' if kind == 'i32' else 'l'}[(i * {2 * ints + 1} + {ints * 5}) % COUNT]")
            ints += 1
    return ", ".join(given), written


def generate(library, header):
    with open(header, encoding="utf-8") as text:
        declared = set(re.findall(r"__nv_(\w+)\(", text.read()))
    out = ["#include <cstdio>", "#include <cstring>", "#include <cmath>", f"enum {{ COUNT = {ARGUMENTS} }};"]
    runs = []
    for name, result, kinds in functions(library):
        if name not in declared:
            types = ", ".join("const void *" if k == "ptr" else C_TYPES[k] for k in kinds)
            out.append(f'extern "C" __device__ {C_TYPES[result]} __nv_{name}({types});')
        given, written = call(name, kinds)
        values = ([] if result == "void" else [(result, f"__nv_{name}({given})")])
        body = [f"{to} {variable} = {{}};" for to, variable in written]
        if result == "void":
            body.append(f"__nv_{name}({given});")
        for number, (kind, value) in enumerate(values):
            body.append(f"{C_TYPES[kind]} r{number} = {value}; memcpy(&out[i], &r{number}, sizeof r{number});")
        for number, (_, variable) in enumerate(written, len(values)):
            body.append(f"memcpy(&out[COUNT * {number} + i], &{variable}, sizeof {variable});")
        out.append(f"__global__ void run_{name}(const float *f, const double *d, const int *n, const long long *l, "
                   f"unsigned long long *out) {{ int i = threadIdx.x; {' '.join(body)} }}")
        for number, kind in enumerate([k for k, _ in values] + [t for t, _ in written]):
            runs.append(f'show("{name}", "{kind}", {number}, run_{name}, f, d, n, l, out);')
    print("\n".join(out))
    print(MAIN % "\n  ".join(runs))


MAIN = r"""
using Kernel = void (*)(const float *, const double *, const int *, const long long *, unsigned long long *);
static void show(const char *name, const char *kind, int number, Kernel kernel, const float *f, const double *d, const int *n,
                 const long long *l, unsigned long long *out) {
  if (number == 0) {
    memset(out, 0, 4 * COUNT * sizeof *out);
    kernel<<<1, COUNT>>>(f, d, n, l, out);
    if (cudaDeviceSynchronize() != cudaSuccess) printf("%%s failed\n", name);
  }
  printf("%%s %%d %%s", name, number, kind);
  for (int i = 0; i < COUNT; ++i) printf(" %%llx", out[COUNT * number + i]);
  printf("\n");
}
template <typename T> static T *shared(int count) {
  T *made;
  cudaMallocManaged(&made, count * sizeof(T));
  return made;
}
int main() {
  float *f = shared<float>(COUNT);
  double *d = shared<double>(COUNT);
  int *n = shared<int>(COUNT);
  long long *l = shared<long long>(COUNT);
  unsigned long long *out = shared<unsigned long long>(4 * COUNT), seed = 2026;
  const double special[] = {0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2.5, 1.5, 1e-3, -1e-6, HUGE_VAL, -HUGE_VAL, NAN, 10, -3};
  const double ranges[] = {1, 1, 4, 20, 100, 1000, 1e6, 1e30};
  const long long whole[] = {0, 1, -1, 2, -2, 31, 32, 33, 63, 64, 255, 65536, 2147483647, -2147483648ll, 9223372036854775807ll, -9223372036854775807ll - 1};
  for (int i = 0; i < COUNT; ++i) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    double unit = double(seed >> 11) / double(1ull << 53);
    d[i] = i < 16 ? special[i] : (i & 1 ? unit : 2 * unit - 1) * ranges[(i >> 1) & 7];
    f[i] = float(d[i]);
    l[i] = i < 16 ? whole[i] : (long long)seed >> ((seed >> 5) & 31);
    n[i] = i < 16 ? int(whole[i]) : int(seed >> 32) >> ((seed >> 5) & 31);
  }
  %s
}
"""


def number(kind, bits):
    if kind == "float":
        return struct.unpack("<f", struct.pack("<I", bits & 0xFFFFFFFF))[0]
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def ordered(kind, bits):
    """An integer that grows by one from a number to the next."""
    half = 1 << (31 if kind == "float" else 63)
    bits &= 2 * half - 1
    return bits if bits < half else half - bits


def distance(kind, first, second, absolute):
    if first == second:
        return 0
    if kind not in ("float", "double"):
        return math.inf
    a, b = number(kind, first), number(kind, second)
    if a != a or b != b:
        return 0 if a != a and b != b else math.inf
    if math.isinf(a) or math.isinf(b):
        return math.inf
    if abs(a - b) <= absolute:
        return 0
    return abs(ordered(kind, first) - ordered(kind, second))


def read(path):
    rows = {}
    with open(path, encoding="utf-8") as text:
        for line in text:
            name, place, kind, *values = line.split()
            rows[name, place] = kind, [int(value, 16) for value in values]
    return rows


def compare(first, second):
    ours, theirs = read(first), read(second)
    if ours.keys() != theirs.keys() or len(ours) < 300:
        sys.exit(f"expected the same functions, some 350, got {len(ours)} and {len(theirs)}")
    wrong, seen = 0, set()
    for (name, place), (kind, values) in ours.items():
        limit, absolute = ULPS.get(name, (0, 0))
        pairs = list(enumerate(zip(values, theirs[name, place][1], strict=True)))
        most, at = max((distance(kind, a, b, absolute), at) for at, (a, b) in pairs)
        if any(a != b for _, (a, b) in pairs):
            seen.add(name)
        if most > limit:
            wrong += 1
            a, b = values[at], theirs[name, place][1][at]
            shown = f"{number(kind, a)!r} and {number(kind, b)!r}" if kind in ("float", "double") else f"{a:#x} and {b:#x}"
            print(f"{name} result {place}: {most} ulps at argument {at}, expected {limit}: {shown}")
    for name in sorted(ULPS.keys() - seen):
        print(f"{name}: the same bits, but ULPS has it")
        wrong += 1
    print(f"{len(ours)} results of {len({name for name, _ in ours})} functions, {len(seen)} not bit-equal, {wrong} further off than stated")
    sys.exit(wrong != 0)


if __name__ == "__main__":
    {"generate": generate, "compare": compare}[sys.argv[1]](*sys.argv[2:])
