// Kernel arguments: structs of all kinds by value, changed by the kernel, many of them.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

struct Empty {};
struct Small {
  char c;
  short s;
};
struct alignas(32) Aligned {
  float f;
  double d;
};
struct Nested {
  Small small[3];
  struct {
    Aligned a;
    int *p;
  } inner;
  bool flag;
  Empty empty;
};
struct Large {
  int v[800];
};
struct Packed {
  char c;
  double d;
  int i;
} __attribute__((packed));
union Bits {
  float f;
  unsigned u;
};
enum class Mode : unsigned char { Off, On = 200 };

struct WithMethods {
  int *data;
  int n;
  __host__ __device__ WithMethods(int *d, int n) : data(d), n(n) {}
  __host__ __device__ WithMethods(const WithMethods &o) : data(o.data), n(o.n + 1) {}
  __device__ int &operator[](int i) { return data[i]; }
};

__global__ void nested(Nested a, Empty, Packed p, long long *out) {
  if (threadIdx.x == 0) {
    out[0] = a.small[2].c + a.small[2].s;
    out[1] = a.inner.a.d * 4 + a.inner.a.f;
    out[2] = *a.inner.p + a.flag;
    out[3] = p.c + p.d + p.i;
    out[4] = reinterpret_cast<unsigned long long>(&a.inner.a) % 32;
  }
}

__global__ void large(Large a, int *out) {
  // Each thread has its own copy.
  a.v[threadIdx.x] += 1000;
  a.v[threadIdx.x + 1] += 1;
  int sum = 0;
  for (int v : a.v)
    sum += v;
  out[threadIdx.x] = sum + a.v[threadIdx.x];
}

__global__ void changed(int *p, int n, float f, Small s) {
  p += threadIdx.x;
  while (n-- > 0)
    f *= 2, s.s += 3;
  *p = int(f) + s.s + n;
}

__global__ void many(char a, unsigned char b, short c, int d, long e, float f, double g, bool h, Bits u, Mode m, int3 i,
                     const int (*rows)[4], const char *text, int &reference, void (*)(int), double *out) {
  if (threadIdx.x == 0)
    *out = double(a) + b + c + d + e + f + g + h + (u.u >> 23) + (m == Mode::On) + i.x + i.y + i.z + rows[1][2] + text[1] + reference++;
}

__global__ void methods(WithMethods w) { w[threadIdx.x] = w.n * 10 + threadIdx.x; }

int main() {
  long long *out = managed<long long>(5);
  int *ints = managed<int>(64);
  ints[0] = 77;
  Nested a = {{{1, 2}, {3, 4}, {5, 600}}, {{2.5f, 8.25}, ints}, true, {}};
  nested<<<1, 32>>>(a, Empty(), Packed{1, 2.5, 30}, out);
  finish_kernel();
  long long want[] = {605, 35, 78, 33, 0};
  for (int k = 0; k < 5; ++k)
    EXPECT_AT(k, out[k], want[k]);
  Large l;
  int sum = 0;
  for (int i = 0; i < 800; ++i)
    sum += l.v[i] = i * 3;
  large<<<1, 64>>>(l, ints);
  finish_kernel();
  for (int t = 0; t < 64; ++t)
    EXPECT_AT(t, ints[t], sum + 1001 + t * 3 + 1000);
  changed<<<1, 64>>>(ints, 5, 1.5f, {0, 7});
  finish_kernel();
  for (int t = 0; t < 64; ++t)
    EXPECT_AT(t, ints[t], 48 + 22 - 1);
  double *d = managed<double>(1);
  auto *rows = (int(*)[4])ints;
  rows[1][2] = 5000;
  char *text = managed<char>(4);
  text[1] = 3;
  int *reference = managed<int>(1);
  *reference = 6;
  Bits u = {1.0f};
  many<<<1, 32>>>(-1, 200, -300, 4, 1L << 40, 0.5f, 0.25, true, u, Mode::On, make_int3(1, 2, 3), rows, text, *reference, nullptr, d);
  finish_kernel();
  EXPECT_AT(0, *d, -1 + 200 - 300 + 4 + double(1L << 40) + 0.5 + 0.25 + 1 + 127 + 1 + 6 + 5000 + 3 + 6);
  EXPECT(*reference == 7);
  WithMethods w(ints, 4);
  methods<<<1, 64>>>(w);
  finish_kernel();
  EXPECT(ints[5] >= 55 && ints[5] % 10 == 5 && ints[63] == ints[0] + 63);
  return result();
}
