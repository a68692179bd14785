// Inline PTX: arithmetic, bit fields, conversions, memory, predicates, shuffles.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
// NOT-HIP: FIXME: bar.sync of a part of a block is refused
#include "check.h"

__global__ void arithmetic(long long *o, int a, unsigned b, float f) {
  int r;
  unsigned u;
  long long l;
  asm("lop3.b32 %0, %1, %2, %3, 0xE8;" : "=r"(u) : "r"(a), "r"(b), "r"(0x0ff0));
  *o++ = u;
  asm("bfe.u32 %0, %1, 5, 11;" : "=r"(u) : "r"(b));
  *o++ = u;
  asm("bfe.s32 %0, %1, 4, 8;" : "=r"(r) : "r"(a));
  *o++ = r;
  asm("bfi.b32 %0, %1, %2, 8, 12;" : "=r"(u) : "r"(a), "r"(b));
  *o++ = u;
  asm("{ .reg .pred p; setp.gt.s32 p, %1, 100; selp.s32 %0, 7, 9, p; }" : "=r"(r) : "r"(a));
  *o++ = r;
  asm("{\n\t.reg .pred p;\n\tsetp.lt.u32 p, %1, 5;\n\t@p mov.u32 %0, 1;\n\t@!p mov.u32 %0, 2;\n\t}" : "=r"(u) : "r"(b));
  *o++ = u;
  asm("mad.lo.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(3), "r"(-1));
  *o++ = r;
  asm("mul.wide.s32 %0, %1, %2;" : "=l"(l) : "r"(a), "r"(1 << 20));
  *o++ = l;
  asm("mul.hi.u32 %0, %1, %2;" : "=r"(u) : "r"(b), "r"(b));
  *o++ = u;
  asm("add.cc.u32 %0, %1, 1;" : "=r"(u) : "r"(0xffffffffu));
  *o++ = u;
  asm("{ add.cc.u32 %0, %2, %3; addc.u32 %1, 4, 5; }" : "=r"(u), "=r"(r) : "r"(0xfffffff0u), "r"(0x20u));
  *o++ = u * 100 + r;
  asm("cvt.rni.s32.f32 %0, %1;" : "=r"(r) : "f"(f));
  *o++ = r;
  asm("cvt.rzi.u32.f32 %0, %1;" : "=r"(u) : "f"(f));
  *o++ = u;
  float g;
  asm("fma.rn.f32 %0, %1, %1, %2;" : "=f"(g) : "f"(f), "f"(0.5f));
  *o++ = (long long)(g * 100);
  asm("cvt.sat.f32.f32 %0, %1;" : "=f"(g) : "f"(f));
  *o++ = (long long)(g * 100);
  asm("sqrt.rn.f32 %0, %1;" : "=f"(g) : "f"(6.25f));
  *o++ = (long long)(g * 100);
  double d;
  asm("cvt.f64.f32 %0, %1;" : "=d"(d) : "f"(f));
  *o++ = (long long)(d * 4);
  unsigned short h;
  asm("cvt.u16.u32 %0, %1;" : "=h"(h) : "r"(b));
  *o++ = h;
  asm("prmt.b32 %0, %1, %2, 0x5410;" : "=r"(u) : "r"(a), "r"(b));
  *o++ = u;
  asm("shf.l.wrap.b32 %0, %1, %2, 8;" : "=r"(u) : "r"(a), "r"(b));
  *o++ = u;
  asm("{ .reg .b32 lo, hi; mov.b64 {lo, hi}, %1; add.s32 %0, lo, hi; }" : "=r"(r) : "l"(0x0000000500000007LL));
  *o++ = r;
  asm("popc.b32 %0, %1;" : "=r"(r) : "r"(b));
  *o++ = r;
  asm("min.s32 %0, %1, -3;" : "+r"(r) : "r"(r));
  *o++ = r;
}

__global__ void memory(int *data, unsigned *out) {
  __shared__ int s[32];
  int t = threadIdx.x, v;
  asm volatile("ld.global.s32 %0, [%1];" : "=r"(v) : "l"(data + t) : "memory");
  asm volatile("st.volatile.global.s32 [%0], %1;" ::"l"(data + 32 + t), "r"(v * 2) : "memory");
  unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(&s[t]));
  asm volatile("st.shared.s32 [%0], %1;" ::"r"(address), "r"(v + 1) : "memory");
  __syncthreads();
  unsigned other = static_cast<unsigned>(__cvta_generic_to_shared(&s[0])) + (31 - t) * 4;
  asm volatile("ld.shared.s32 %0, [%1];" : "=r"(v) : "r"(other) : "memory");
  out[t] = v;
  asm volatile("{ .reg .pred p; shfl.sync.down.b32 %0|p, %1, 1, 0x1f, 0xffffffff; @!p mov.b32 %0, 99; }" : "=r"(v) : "r"(t));
  out[32 + t] = v;
  asm volatile("atom.global.add.u32 %0, [%1], 2;" : "=r"(v) : "l"(out + 128) : "memory");
  asm volatile("red.global.max.u32 [%0], %1;" ::"l"(out + 129), "r"(t) : "memory");
  unsigned lane, mask, x, n;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
  asm("mov.u32 %0, %%tid.x;" : "=r"(x));
  asm("mov.u32 %0, %%ntid.x;" : "=r"(n));
  out[64 + t] = lane + 100 * __popc(mask) + 10000 * (x == unsigned(t)) + 100000 * (n == 32);
  asm volatile("bar.sync 1, 32;");
  int4 q;
  asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(q.x), "=r"(q.y), "=r"(q.z), "=r"(q.w) : "l"(data + t / 4 * 4));
  out[96 + t] = q.x + q.y * 10 + q.z * 100 + q.w * 1000;
}

// Vectors for some threads alone, with the number of the lane, which is no thread's memory.
__global__ void pairs(const long long *in, long long *out, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  long long a = 0, b = 0;
  if (t < n)
    asm volatile("ld.global.nc.v2.u64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(in + 2 * t));
  asm volatile("st.global.cg.s64 [%0], %1;" ::"l"(out + t), "l"(a * 3 + b + lane));
}

int main() {
  long long *o = managed<long long>(32);
  int a = 0x1234, n = 0;
  unsigned b = 0xdeadbe17u;
  arithmetic<<<1, 1>>>(o, a, b, 3.5f);
  finish_kernel();
  unsigned c = 0x0ff0;
  long long want[] = {(long long)((a & b) | (a & c) | (b & c)), b >> 5 & 0x7ff, (signed char)(a >> 4), (b & ~0xfff00u) | (a & 0xfff) << 8, 7, 2,
                      a * 3 - 1, (long long)a << 20, (long long)((unsigned long long)b * b >> 32), 0, 16 * 100 + 10, 4, 3, 1275, 100,
                      250, 14, b & 0xffff, (long long)(b << 16 | (a & 0xffffu)), (long long)(b << 8 | a >> 24), 12, 21, -3};
  for (long long w : want) {
    EXPECT_AT(n, o[n], w);
    ++n;
  }
  int *data = managed<int>(64);
  unsigned *out = managed<unsigned>(130);
  for (int i = 0; i < 32; ++i)
    data[i] = i * 3;
  memory<<<1, 32>>>(data, out);
  finish_kernel();
  for (int t = 0; t < 32; ++t) {
    EXPECT_AT(t, data[32 + t], t * 6);
    EXPECT_AT(t, out[t], unsigned((31 - t) * 3 + 1));
    EXPECT_AT(t, out[32 + t], unsigned(t == 31 ? 99 : t + 1));
    EXPECT_AT(t, out[64 + t], unsigned(t + 100 * t + 110000));
    int q = t / 4 * 12;
    EXPECT_AT(t, out[96 + t], unsigned(q + (q + 3) * 10 + (q + 6) * 100 + (q + 9) * 1000));
  }
  constexpr int all = 128, some = 100;
  long long *in = managed<long long>(2 * all), *sums = managed<long long>(all);
  for (int i = 0; i < 2 * all; ++i)
    in[i] = i * 5;
  pairs<<<2, all / 2>>>(in, sums, some);
  finish_kernel();
  for (int t = 0; t < all; ++t)
    EXPECT_AT(t, sums[t], (t < some ? 2 * t * 15 + (2 * t + 1) * 5 : 0) + t % 32);
  EXPECT(out[128] == 64 && out[129] == 31);
  return result();
}
