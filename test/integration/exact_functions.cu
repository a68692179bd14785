// Functions that are a few operations on bits, in rows of threads and one thread after the other.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

#include <cstdint>
#include <cstring>

constexpr int N = 1024, FUNCTIONS = 22;

__global__ void functions(const int *xs, const int *ys, const long long *ls, long long *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int x = xs[i], y = ys[i];
  long long l = ls[i];
  long long *o = out + i * FUNCTIONS;
  o[0] = abs(x), o[1] = llabs(l), o[2] = __popc(x), o[3] = __popcll(l), o[4] = __clz(x), o[5] = __clzll(l);
  o[6] = __ffs(x), o[7] = __ffsll(l), o[8] = __brev(x), o[9] = __brevll(l), o[10] = __mulhi(x, y);
  o[11] = __umulhi(x, y), o[12] = __mul24(x, y), o[13] = __umul24(x, y), o[14] = __sad(x, y, x), o[15] = __usad(x, y, x);
  o[16] = __float_as_int(__int_as_float(x & 0x7f7fffff)), o[17] = __double_as_longlong(__ll2double_rn(l));
  o[18] = __double_as_longlong(__int2double_rn(x)), o[19] = __double_as_longlong(__uint2double_rn(x));
  o[20] = __float_as_int(__ull2float_rn(l)), o[21] = __float_as_int(__double2float_rn(__ll2double_rn(l) / 3));
}

template <class To, class From> static To bits(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To made;
  std::memcpy(&made, &value, sizeof made);
  return made;
}

template <class T> static T reversed(T value) {
  T made = 0;
  for (unsigned bit = 0; bit < 8 * sizeof(T); ++bit)
    made |= (value >> bit & 1) << (8 * sizeof(T) - 1 - bit);
  return made;
}

static void wanted(int x, int y, long long l, long long *o) {
  uint32_t u = x, v = y;
  uint64_t w = l;
  auto distance = [](int64_t a, int64_t b) { return uint32_t(a > b ? a - b : b - a); };
  auto low24 = [](uint32_t value) { return int32_t(value << 8) >> 8; };
  o[0] = int32_t(x < 0 ? 0u - u : u), o[1] = int64_t(l < 0 ? 0ull - w : w), o[2] = __builtin_popcount(u);
  o[3] = __builtin_popcountll(w), o[4] = u ? __builtin_clz(u) : 32, o[5] = w ? __builtin_clzll(w) : 64;
  o[6] = __builtin_ffs(x), o[7] = __builtin_ffsll(l), o[8] = reversed(u), o[9] = reversed(w);
  o[10] = int32_t(int64_t(x) * y >> 32), o[11] = uint32_t(uint64_t(u) * v >> 32);
  o[12] = int32_t(uint32_t(low24(u)) * uint32_t(low24(v))), o[13] = uint32_t((u & 0xffffff) * (v & 0xffffff));
  o[14] = uint32_t(distance(x, y) + u), o[15] = uint32_t(distance(u, v) + u), o[16] = x & 0x7f7fffff;
  o[17] = bits<int64_t>(double(l)), o[18] = bits<int64_t>(double(x)), o[19] = bits<int64_t>(double(u));
  o[20] = bits<int32_t>(float(w)), o[21] = bits<int32_t>(float(double(l) / 3));
}

int main() {
  int *xs = managed<int>(N), *ys = managed<int>(N);
  long long *ls = managed<long long>(N), *out = managed<long long>(N * FUNCTIONS);
  const int edges[] = {0, 1, -1, INT32_MIN, INT32_MAX, 0x800000, -0x800000, 0xffffff, 77, -12345678};
  uint64_t state = 7;
  auto next = [&] { return state = state * 6364136223846793005 + 1442695040888963407; };
  for (int i = 0; i < N; ++i) {
    xs[i] = i < 100 ? edges[i / 10] : int(next() >> 32);
    ys[i] = i < 100 ? edges[i % 10] : int(next() >> 32);
    ls[i] = i < 10 ? edges[i] : i < 20 ? INT64_MIN + i - 10 : int64_t(next() >> next() % 64);
  }
  functions<<<N / 128, 128>>>(xs, ys, ls, out);
  finish_kernel();
  for (int i = 0; i < N; ++i) {
    long long want[FUNCTIONS];
    wanted(xs[i], ys[i], ls[i], want);
    for (int k = 0; k < FUNCTIONS; ++k)
      EXPECT(out[i * FUNCTIONS + k] == want[k] ||
             !printf("function %d of %d, %d, %lld: %lld, expected %lld\n", k, xs[i], ys[i], ls[i],
                     out[i * FUNCTIONS + k], want[k]));
  }
  return result();
}
