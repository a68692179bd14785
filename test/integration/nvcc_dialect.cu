// What nvcc takes and clang alone does not: its min and max on the host, C's headers without being asked for, register, blanks in
// the brackets of launches, loads and stores with every cache hint, its atomic functions.
// RUN: %regrain -O2 -std=c++17 --offload-arch=cpu,sm_80 %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
// RUN: %regrain -O2 -std=c++17 --offload-arch=cpu -fregrain-coarsen-blocks=2 -fregrain-coarsen-threads=2 %s -o %t
// RUN: %t
static long seconds() { return time(0) + (long)strlen("x") - (long)labs(-1L); }

#include "check.h"

#include <cuda_profiler_api.h>
#include <nvtx3/nvToolsExt.h>
#include <type_traits>

using namespace std;

#if !__CUDACC__ || __CUDACC_VER_MAJOR__ < 11 || !defined(__CUDACC_VER_MINOR__) || !defined(__CUDACC_VER_BUILD__)
#error the macros of nvcc's version
#endif

// The mixes of types, alike on both sides.
template <typename A, typename B, typename R> __host__ __device__ bool mixes(A a, B b) {
  static_assert(is_same<decltype(min(a, b)), R>::value && is_same<decltype(max(a, b)), R>::value, "the common type");
  return min(a, b) == ((R)a < (R)b ? (R)a : (R)b) && max(a, b) == ((R)a > (R)b ? (R)a : (R)b);
}
__host__ __device__ int all_mixes(int i) {
  typedef unsigned int U;
  typedef unsigned long UL;
  typedef long long LL;
  typedef unsigned long long ULL;
  int right = mixes<int, int, int>(i, 3) + mixes<U, U, U>(i, 3) + mixes<int, U, U>(-i, 3) + mixes<U, int, U>(3, -i);
  right += mixes<long, long, long>(i, -3) + mixes<UL, UL, UL>(i, 3) + mixes<long, UL, UL>(-i, 3) + mixes<UL, long, UL>(3, -i);
  right += mixes<LL, LL, LL>(i, -3) + mixes<ULL, ULL, ULL>(i, 3) + mixes<LL, ULL, ULL>(-i, 3) + mixes<ULL, LL, ULL>(3, -i);
  right += mixes<float, float, float>(i, 2.5f) + mixes<double, double, double>(i, 2.5);
  right += mixes<float, double, double>(i, 2.5) + mixes<double, float, double>(i, 2.5f);
  right += umin(3u, 4u) == 3 && umax(3u, 4u) == 4 && llmin(-3ll, 4ll) == -3 && ullmax(3ull, 4ull) == 4;
  right += min(NAN, 2.f) == 2.f && max(2., (double)NAN) == 2.;
  return right + (isnan(NAN) && !isinf(1.f) && isfinite(2.) && !signbit(2.f) && rsqrt(4.) == .5 && abs(-3ll) == 3);
}
__global__ void mixes_there(int *right) { right[threadIdx.x] = all_mixes(5 + threadIdx.x); }

// Every element is moved by a load and a store of each hint.
template <typename T> __global__ void hinted(T *to, const T *from) {
  const int t = threadIdx.x;
  __stwb(to + t, __ldca(from + t));
  __stcg(to + 32 + t, __ldcg(from + 32 + t));
  __stcs(to + 64 + t, __ldcs(from + 64 + t));
  __stwt(to + 96 + t, __ldlu(from + 96 + t));
  __stwb(to + 128 + t, __ldcv(from + 128 + t));
  __stwb(to + 160 + t, __ldg(from + 160 + t));
}
template <typename T> void move_all() {
  T *from = managed<T>(192), *to = managed<T>(192);
  for (unsigned i = 0; i < 192 * sizeof(T); ++i)
    ((unsigned char *)from)[i] = (unsigned char)(i * 7 % 120);
  hinted<< <1, 32>> >(to, from);
  finish_kernel();
  EXPECT(memcmp(to, from, 192 * sizeof(T)) == 0);
}
template <typename... T> void move_each() { (move_all<T>(), ...); }

__global__ void atomics(int *a, unsigned long long *b) {
  __nv_atomic_fetch_add(a, 2, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_add(a + 1, __nv_atomic_load_n(a + 8, __NV_ATOMIC_RELAXED), __NV_ATOMIC_SEQ_CST);
  __nv_atomic_fetch_max(a + 2, (int)threadIdx.x, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
  __nv_atomic_fetch_or(b, 1ull << threadIdx.x, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_SYSTEM);
  int seen = __nv_atomic_load_n(a + 3, __NV_ATOMIC_RELAXED);
  while (!__nv_atomic_compare_exchange_n(a + 3, &seen, seen + 3, true, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED))
    ;
  if (threadIdx.x == 0)
    __nv_atomic_store_n(a + 4, 9, __NV_ATOMIC_RELEASE);
  __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
  __nanosleep(1);
}

int main() {
  register int *right = managed<int>(32);
  EXPECT(seconds() > 0);
  EXPECT_AT(0, all_mixes(5), 19);
  mixes_there<<<1, 32>> >(right);
  finish_kernel();
  for (int i = 0; i < 32; ++i)
    EXPECT_AT(i, right[i], 19);

  move_each<char, signed char, short, int, long, long long, unsigned char, unsigned short, unsigned, unsigned long>();
  move_each<unsigned long long, float, double, char2, short2, int2, longlong2, uchar2, ushort2, uint2, ulonglong2>();
  move_each<float2, double2, char4, short4, int4, uchar4, ushort4, uint4, float4>();

  int *a = managed<int>(16);
  unsigned long long *b = managed<unsigned long long>(1);
  a[8] = 5;
  atomics<< <1, 64>> >(a, b);
  finish_kernel();
  EXPECT_AT(0, a[0], 128);
  EXPECT_AT(1, a[1], 320);
  EXPECT_AT(2, a[2], 63);
  EXPECT_AT(3, a[3], 192);
  EXPECT_AT(4, a[4], 9);
  EXPECT(*b == ~0ull);

  OK(cudaProfilerStart());
  OK(cudaProfilerStop());
  // No tool is attached.
  nvtxRangePushA("range");
  EXPECT(nvtxRangePop() < 0);
  return result();
}
