// Fragments of nvcuda::wmma: every shape, type and layout up to sm_80, with leading dimensions larger than the matrices, against a plain
// loop on the host. Inputs are small integers, so that all sums are exact.
//
// RUN: %regrain --offload-arch=cpu -O3 -Rpass-analysis=regrain-vectorize-threads %s -o %t 2> %t.rows && %t | FileCheck %s
// RUN: FileCheck %s --check-prefix=ROWS --input-file=%t.rows
// RUN: env REGRAIN_CPU_MODE=coroutine %t | FileCheck %s
// RUN: %regrain --offload-arch=cpu -O0 %s -o %t.0 && %t.0 | FileCheck %s
// RUN: %regrain --offload-arch=cpu -O3 -fregrain-coarsen-blocks=2 %s -o %t.c && %t.c | FileCheck %s
// RUN: %regrain --offload-arch=cpu -O3 -fregrain-emulate=sm_80 %s -o %t.e && %t.e | FileCheck %s
//
// ROWS: kernel 'multiply{{.*}}threads go in rows of 32
//
// CHECK: products: 57, 0 wrong
// CHECK-NEXT: clamped: 0 wrong
// CHECK-NEXT: elements: 0 wrong
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;
namespace precision = nvcuda::wmma::experimental::precision;

constexpr int WARPS = 3, BLOCKS = 3, PAD = 32, TILE = 32 * 48;

/// How a type of elements lies in memory, and what the host makes of a small integer.
template <typename T> struct Stored {
  using type = T;
  static constexpr int low = -8, bits = 8 * sizeof(T);
  static T of(int x) { return T(x); }
};
template <> struct Stored<unsigned char> : Stored<int8_t> {
  using type = unsigned char;
  static constexpr int low = 0;
  static unsigned char of(int x) { return x; }
};
template <> struct Stored<half> { using type = half; static constexpr int low = -8, bits = 16; static half of(int x) { return __float2half(x); } };
template <> struct Stored<__nv_bfloat16> {
  using type = __nv_bfloat16;
  static constexpr int low = -8, bits = 16;
  static __nv_bfloat16 of(int x) { return __float2bfloat16(x); }
};
/// The lower 13 bits are noise that hardware does not see.
template <> struct Stored<wmma::precision::tf32> {
  using type = float;
  static constexpr int low = -8, bits = 32;
  static float of(int x) {
    float value = x;
    uint32_t word;
    memcpy(&word, &value, 4);
    if (x) word |= 0x123;
    memcpy(&value, &word, 4);
    return value;
  }
};
template <int BITS, int LOW> struct Packed { using type = int; static constexpr int low = LOW, bits = BITS; };
template <> struct Stored<precision::s4> : Packed<4, -8> {};
template <> struct Stored<precision::u4> : Packed<4, 0> {};
template <> struct Stored<precision::b1> : Packed<1, 0> {};

static uint32_t seed = 1;
static int next() { return (seed = seed * 1664525 + 1013904223) >> 16; }

template <typename T> static void put(void *memory, long at, int value) {
  if constexpr (Stored<T>::bits >= 8) {
    ((typename Stored<T>::type *)memory)[at] = Stored<T>::of(value);
  } else {
    constexpr int bits = Stored<T>::bits, mask = (1 << bits) - 1;
    unsigned char &byte = ((unsigned char *)memory)[at * bits / 8];
    int shift = at * bits % 8;
    byte = (byte & ~(mask << shift)) | (value & mask) << shift;
  }
}

/// One product for each warp, through shared memory where the program wants that.
template <int M, int N, int K, typename T, typename C, typename D, typename LA, typename LB, typename OP>
__global__ void multiply(const void *a, const void *b, const C *c, D *d, long a_size, long b_size, int lda, int ldb, int ldc,
                         wmma::layout_t layout) {
  __shared__ __align__(128) C tile[WARPS][TILE];
  int warp = threadIdx.x / 32, which = blockIdx.x * WARPS + warp;
  wmma::fragment<wmma::matrix_a, M, N, K, T, LA> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, T, LB> fb;
  wmma::fragment<wmma::accumulator, M, N, K, C> fc;
  wmma::fragment<wmma::accumulator, M, N, K, D> fd;
  for (int i = threadIdx.x % 32; i < (layout == wmma::mem_row_major ? M : N) * ldc; i += 32) tile[warp][i] = c[which * TILE + i];
  __syncwarp();
  using P = const typename wmma::fragment<wmma::matrix_a, M, N, K, T, LA>::storage_element_type *;
  if constexpr (Stored<T>::bits >= 8) {
    using Element = const typename Stored<T>::type *;
    wmma::load_matrix_sync(fa, (Element)((const char *)a + which * a_size), lda);
    wmma::load_matrix_sync(fb, (Element)((const char *)b + which * b_size), ldb);
  } else {
    wmma::load_matrix_sync(fa, (P)((const char *)a + which * a_size), lda);
    wmma::load_matrix_sync(fb, (P)((const char *)b + which * b_size), ldb);
  }
  wmma::load_matrix_sync(fc, tile[warp], ldc, layout);
  if constexpr (Stored<T>::bits == 1) wmma::bmma_sync(fd, fa, fb, fc, OP::bits);
  else wmma::mma_sync(fd, fa, fb, fc);
  wmma::store_matrix_sync(d + which * TILE, fd, ldc, layout);
}

struct Xor { static constexpr auto bits = wmma::experimental::bmmaBitOpXOR; static int of(int a, int b) { return a ^ b; } };
struct And { static constexpr auto bits = wmma::experimental::bmmaBitOpAND; static int of(int a, int b) { return a & b; } };
struct Times { static constexpr int bits = 0; static int of(int a, int b) { return a * b; } };

static int products, wrong;

template <typename T> static T *device(const void *from, long bytes) {
  void *made;
  cudaMalloc(&made, bytes);
  cudaMemcpy(made, from, bytes, cudaMemcpyHostToDevice);
  return (T *)made;
}

template <int M, int N, int K, typename T, typename C, typename D, typename LA, typename LB, typename OP = Times>
static void check(wmma::layout_t layout) {
  constexpr bool a_rows = std::is_same_v<LA, wmma::row_major>, b_rows = std::is_same_v<LB, wmma::row_major>;
  bool c_rows = layout == wmma::mem_row_major;
  constexpr int unit = Stored<T>::bits < 8 ? 128 : PAD, all = BLOCKS * WARPS, range = Stored<T>::bits == 1 ? 2 : 16;
  int lda = (a_rows ? K : M) + unit, ldb = (b_rows ? N : K) + unit, ldc = (c_rows ? N : M) + 16;
  long a_size = 1L * lda * (a_rows ? M : K) * Stored<T>::bits / 8, b_size = 1L * ldb * (b_rows ? K : N) * Stored<T>::bits / 8;
  static char a[1 << 19], b[1 << 19];
  static int wanted[all][M][N];
  static C c[all * TILE];
  static D d[all * TILE];
  memset(a, 0x55, sizeof a), memset(b, 0x55, sizeof b);
  for (int w = 0; w < all; ++w) {
    static int ai[M][K], bi[K][N];
    for (int i = 0; i < M; ++i)
      for (int k = 0; k < K; ++k)
        put<T>(a + w * a_size, a_rows ? i * lda + k : k * lda + i, ai[i][k] = Stored<T>::low + next() % range);
    for (int k = 0; k < K; ++k)
      for (int j = 0; j < N; ++j)
        put<T>(b + w * b_size, b_rows ? k * ldb + j : j * ldb + k, bi[k][j] = Stored<T>::low + next() % range);
    for (int i = 0; i < M; ++i)
      for (int j = 0; j < N; ++j) {
        int sum = next() % 64 - 32;
        c[w * TILE + (c_rows ? i * ldc + j : j * ldc + i)] = C(sum);
        for (int k = 0; k < K; ++k) sum += OP::of(ai[i][k], bi[k][j]);
        wanted[w][i][j] = sum;
      }
  }
  for (auto &one : d) one = D(-7777);
  auto *da = device<char>(a, sizeof a), *db = device<char>(b, sizeof b);
  auto *dc = device<C>(c, sizeof c);
  auto *dd = device<D>(d, sizeof d);
  multiply<M, N, K, T, C, D, LA, LB, OP><<<BLOCKS, 32 * WARPS>>>(da, db, dc, dd, a_size, b_size, lda, ldb, ldc, layout);
  if (cudaDeviceSynchronize() != cudaSuccess) ++wrong;
  cudaMemcpy(d, dd, sizeof d, cudaMemcpyDeviceToHost);
  for (int w = 0; w < all; ++w)
    for (int line = 0; line < (c_rows ? M : N); ++line)
      for (int at = 0; at < ldc; ++at) {
        bool inside = at < (c_rows ? N : M);
        double got = double(float(d[w * TILE + line * ldc + at]));
        // A half holds only the first of a sum's digits.
        double want = !inside ? double(float(D(-7777))) : double(float(D(float(c_rows ? wanted[w][line][at] : wanted[w][at][line]))));
        if (got != want && ++wrong < 20)
          printf("%dx%dx%d warp %d line %d at %d: got %g, want %g\n", M, N, K, w, line, at, got, want);
      }
  cudaFree(da), cudaFree(db), cudaFree(dc), cudaFree(dd);
  ++products;
}

template <int M, int N, int K, typename T, typename C, typename D> static void layouts() {
  using Row = wmma::row_major;
  using Column = wmma::col_major;
  check<M, N, K, T, C, D, Row, Column>(wmma::mem_row_major);
  check<M, N, K, T, C, D, Row, Row>(wmma::mem_col_major);
  check<M, N, K, T, C, D, Column, Column>(wmma::mem_col_major);
  check<M, N, K, T, C, D, Column, Row>(wmma::mem_row_major);
}

template <int M, int N, int K> static void shape() {
  using Row = wmma::row_major;
  using Column = wmma::col_major;
  layouts<M, N, K, half, float, float>();
  layouts<M, N, K, signed char, int, int>();
  check<M, N, K, half, half, half, Row, Column>(wmma::mem_col_major);
  check<M, N, K, half, half, half, Column, Row>(wmma::mem_row_major);
  check<M, N, K, half, half, float, Column, Column>(wmma::mem_row_major);
  check<M, N, K, half, float, half, Row, Row>(wmma::mem_row_major);
  check<M, N, K, __nv_bfloat16, float, float, Row, Column>(wmma::mem_row_major);
  check<M, N, K, __nv_bfloat16, float, float, Column, Row>(wmma::mem_col_major);
  check<M, N, K, unsigned char, int, int, Row, Row>(wmma::mem_row_major);
}

/// Sums of bytes near the end of what 32 bits hold.
__global__ void clamp(const signed char *a, int *out, int start) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> fc, fd;
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, a, 16);
  wmma::fill_fragment(fc, start);
  wmma::mma_sync(fd, fa, fb, fc, true);
  wmma::store_matrix_sync(out, fd, 16, wmma::mem_row_major);
  wmma::mma_sync(fd, fa, fb, fc, false);
  wmma::store_matrix_sync(out + 256, fd, 16, wmma::mem_row_major);
}

static void clamped() {
  static signed char a[256];
  static int out[512];
  int bad = 0;
  for (int start : {INT32_MAX - 20000, INT32_MIN + 20000}) {
    for (auto &one : a) one = next() % 256 - 128;
    auto *da = device<signed char>(a, sizeof a);
    auto *dout = device<int>(out, sizeof out);
    clamp<<<1, 32>>>(da, dout, start);
    cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 16; ++i)
      for (int j = 0; j < 16; ++j) {
        int64_t sum = start;
        for (int k = 0; k < 16; ++k) sum += a[16 * i + k] * a[16 * j + k];
        int64_t limited = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
        bad += out[16 * i + j] != limited, bad += out[256 + 16 * i + j] != int32_t(sum);
      }
    cudaFree(da), cudaFree(dout);
  }
  printf("clamped: %d wrong\n", bad);
}

/// Programs scale fragments element by element, whatever the layout, and fragments of all kinds have all their elements.
__global__ void scale(const half *a, float *out) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::load_matrix_sync(fa, a, 16);
  for (int i = 0; i < fa.num_elements; ++i) fa.x[i] = __hadd(fa.x[i], fa.x[i]);
  wmma::fill_fragment(fb, __float2half(1));
  wmma::fill_fragment(fc, 0.5f);
  for (int round = 0; round < 3; ++round) wmma::mma_sync(fc, fa, fb, fc);
  for (int i = 0; i < fc.num_elements; ++i) fc.x[i] = fc.x[i] * 4 + 1;
  if (out) wmma::store_matrix_sync(out, fc, 16, wmma::mem_row_major);
}

static void elements() {
  static half a[256];
  static float out[256];
  int bad = 0;
  for (int i = 0; i < 256; ++i) a[i] = __float2half(next() % 16);
  auto *da = device<half>(a, sizeof a);
  auto *dout = device<float>(out, sizeof out);
  scale<<<1, 32>>>(da, dout);
  cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 16; ++i) {
    float sum = 0;
    for (int k = 0; k < 16; ++k) sum += __half2float(a[16 * i + k]);
    for (int j = 0; j < 16; ++j) bad += out[16 * i + j] != 4 * (0.5f + 6 * sum) + 1;
  }
  printf("elements: %d wrong\n", bad);
}

int main() {
  shape<16, 16, 16>();
  shape<32, 8, 16>();
  shape<8, 32, 16>();
  layouts<16, 16, 8, wmma::precision::tf32, float, float>();
  layouts<8, 8, 4, double, double, double>();
  using Row = wmma::row_major;
  using Column = wmma::col_major;
  check<8, 8, 32, precision::s4, int, int, Row, Column>(wmma::mem_row_major);
  check<8, 8, 32, precision::u4, int, int, Row, Column>(wmma::mem_col_major);
  check<8, 8, 128, precision::b1, int, int, Row, Column, Xor>(wmma::mem_row_major);
  check<8, 8, 128, precision::b1, int, int, Row, Column, And>(wmma::mem_col_major);
  printf("products: %d, %d wrong\n", products, wrong);
  clamped();
  elements();
}
