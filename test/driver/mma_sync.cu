// mma.sync as inline PTX, by the registers that PTX documents: every shape and type up to sm_90, against a plain loop on the host. The host
// gives each lane its registers, by formulas of its own; inputs are small integers, so that all sums are exact.
// Kernels are launched through a pointer, so their blocks go by the form for all shapes, whose thread loops end at each product.
//
// RUN: %regrain --offload-arch=cpu -O3 %s -o %t && %t | FileCheck %s
// RUN: env REGRAIN_CPU_MODE=coroutine %t | FileCheck %s
// RUN: %regrain --offload-arch=cpu -O0 %s -o %t.0 && %t.0 | FileCheck %s
// RUN: %regrain --offload-arch=cpu -O3 -fregrain-coarsen-blocks=2 %s -o %t.c && %t.c | FileCheck %s
// RUN: %regrain --offload-arch=cpu -O3 -fregrain-emulate=sm_90 %s -o %t.e && %t.e | FileCheck %s
//
// CHECK: products: 49, 0 wrong
// CHECK-NEXT: codes: 0 wrong
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int WARPS = 2, BLOCKS = 3, ALL = WARPS * BLOCKS;

/// A kernel that gives each lane of each warp its registers of A, B and C (words of 32 or 64 bits) and takes those of D.
#define KERNEL(name, word, letter, ptx, D, A, B, C, ...)                                                            \
  __global__ void name(const word *given, word *made) {                                                           \
    constexpr int each = A + B + C;                                                                                \
    int thread = blockIdx.x * blockDim.x + threadIdx.x;                                                            \
    word g[each], d[D];                                                                                            \
    for (int i = 0; i < each; ++i) g[i] = given[thread * each + i];                                                \
    ONE(D, A, B, C, letter, ptx);                                                                                  \
    for (int i = 0; i < D; ++i) made[thread * D + i] = d[i];                                                       \
  }
#define ONE(D, A, B, C, letter, ptx) ONE_##D##_##A##_##B##_##C(letter, ptx)
#define OUT2(l) "=" l(d[0]), "=" l(d[1])
#define OUT4(l) OUT2(l), "=" l(d[2]), "=" l(d[3])
#define OUT8(l) OUT4(l), "=" l(d[4]), "=" l(d[5]), "=" l(d[6]), "=" l(d[7])
#define IN4(l) l(g[0]), l(g[1]), l(g[2]), l(g[3])
#define IN5(l) IN4(l), l(g[4])
#define IN7(l) IN5(l), l(g[5]), l(g[6])
#define IN8(l) IN7(l), l(g[7])
#define IN10(l) IN8(l), l(g[8]), l(g[9])
#define IN16(l) IN10(l), l(g[10]), l(g[11]), l(g[12]), l(g[13]), l(g[14]), l(g[15])
#define IN12(l) IN10(l), l(g[10]), l(g[11])
#define ONE_2_1_1_2(l, ptx) asm volatile(ptx " {%0,%1}, {%2}, {%3}, {%4,%5};" : OUT2(l) : IN4(l))
#define ONE_4_2_1_4(l, ptx) asm volatile(ptx " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};" : OUT4(l) : IN7(l))
#define ONE_4_4_2_4(l, ptx) asm volatile(ptx " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};" : OUT4(l) : IN10(l))
#define ONE_2_2_1_2(l, ptx) asm volatile(ptx " {%0,%1}, {%2,%3}, {%4}, {%5,%6};" : OUT2(l) : IN5(l))
#define ONE_2_4_2_2(l, ptx) asm volatile(ptx " {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%8,%9};" : OUT2(l) : IN8(l))
#define ONE_4_2_2_4(l, ptx) asm volatile(ptx " {%0,%1,%2,%3}, {%4,%5}, {%6,%7}, {%8,%9,%10,%11};" : OUT4(l) : IN8(l))
#define ONE_4_8_4_4(l, ptx)                                                                                        \
  asm volatile(ptx " {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%16,%17,%18,%19};" : OUT4(l) : IN16(l))
#define ONE_8_2_2_8(l, ptx)                                                                                        \
  asm volatile(ptx " {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9}, {%10,%11}, {%12,%13,%14,%15,%16,%17,%18,%19};" : OUT8(l) : IN12(l))

#define MMA "mma.sync.aligned."
KERNEL(f16_16x8x8, uint32_t, "r", MMA "m16n8k8.row.col.f32.f16.f16.f32", 4, 2, 1, 4)
KERNEL(f16_16x8x16, uint32_t, "r", MMA "m16n8k16.row.col.f32.f16.f16.f32", 4, 4, 2, 4)
KERNEL(f16_to_f16_16x8x8, uint32_t, "r", MMA "m16n8k8.row.col.f16.f16.f16.f16", 2, 2, 1, 2)
KERNEL(f16_to_f16_16x8x16, uint32_t, "r", MMA "m16n8k16.row.col.f16.f16.f16.f16", 2, 4, 2, 2)
KERNEL(bf16_16x8x8, uint32_t, "r", MMA "m16n8k8.row.col.f32.bf16.bf16.f32", 4, 2, 1, 4)
KERNEL(bf16_16x8x16, uint32_t, "r", MMA "m16n8k16.row.col.f32.bf16.bf16.f32", 4, 4, 2, 4)
KERNEL(tf32_16x8x4, uint32_t, "r", MMA "m16n8k4.row.col.f32.tf32.tf32.f32", 4, 2, 1, 4)
KERNEL(tf32_16x8x8, uint32_t, "r", MMA "m16n8k8.row.col.f32.tf32.tf32.f32", 4, 4, 2, 4)
KERNEL(f64_8x8x4, uint64_t, "l", MMA "m8n8k4.row.col.f64.f64.f64.f64", 2, 1, 1, 2)
KERNEL(f64_16x8x4, uint64_t, "l", MMA "m16n8k4.row.col.f64.f64.f64.f64", 4, 2, 1, 4)
KERNEL(f64_16x8x8, uint64_t, "l", MMA "m16n8k8.row.col.f64.f64.f64.f64", 4, 4, 2, 4)
KERNEL(f64_16x8x16, uint64_t, "l", MMA "m16n8k16.row.col.f64.f64.f64.f64", 4, 8, 4, 4)
#define SMALL(a, b)                                                                                                \
  KERNEL(a##_##b##_16x8x16, uint32_t, "r", MMA "m16n8k16.row.col.f32." #a "." #b ".f32", 4, 2, 1, 4)              \
  KERNEL(a##_##b##_16x8x32, uint32_t, "r", MMA "m16n8k32.row.col.f32." #a "." #b ".f32", 4, 4, 2, 4)              \
  KERNEL(a##_##b##_to_f16_16x8x32, uint32_t, "r", MMA "m16n8k32.row.col.f16." #a "." #b ".f16", 2, 4, 2, 2)
SMALL(e4m3, e4m3)
SMALL(e4m3, e5m2)
SMALL(e5m2, e4m3)
SMALL(e5m2, e5m2)
#define BYTES(a, b)                                                                                                \
  KERNEL(a##_##b##_8x8x16, uint32_t, "r", MMA "m8n8k16.row.col.s32." #a "." #b ".s32", 2, 1, 1, 2)                \
  KERNEL(a##_##b##_16x8x16, uint32_t, "r", MMA "m16n8k16.row.col.satfinite.s32." #a "." #b ".s32", 4, 2, 1, 4)    \
  KERNEL(a##_##b##_16x8x32, uint32_t, "r", MMA "m16n8k32.row.col.s32." #a "." #b ".s32", 4, 4, 2, 4)
BYTES(s8, s8)
BYTES(u8, s8)
BYTES(s8, u8)
#define NIBBLES(a, b)                                                                                              \
  KERNEL(a##_##b##_8x8x32, uint32_t, "r", MMA "m8n8k32.row.col.s32." #a "." #b ".s32", 2, 1, 1, 2)                \
  KERNEL(a##_##b##_16x8x32, uint32_t, "r", MMA "m16n8k32.row.col.s32." #a "." #b ".s32", 4, 2, 1, 4)              \
  KERNEL(a##_##b##_16x8x64, uint32_t, "r", MMA "m16n8k64.row.col.satfinite.s32." #a "." #b ".s32", 4, 4, 2, 4)
NIBBLES(s4, s4)
NIBBLES(u4, s4)
#define BITS(op)                                                                                                   \
  KERNEL(op##_8x8x128, uint32_t, "r", MMA "m8n8k128.row.col.s32.b1.b1.s32." #op ".popc", 2, 1, 1, 2)              \
  KERNEL(op##_16x8x128, uint32_t, "r", MMA "m16n8k128.row.col.s32.b1.b1.s32." #op ".popc", 4, 2, 1, 4)            \
  KERNEL(op##_16x8x256, uint32_t, "r", MMA "m16n8k256.row.col.s32.b1.b1.s32." #op ".popc", 4, 4, 2, 4)
BITS(xor)
BITS(and)
KERNEL(volta_row_col, uint32_t, "r", MMA "m8n8k4.row.col.f32.f16.f16.f32", 8, 2, 2, 8)
KERNEL(volta_col_row, uint32_t, "r", MMA "m8n8k4.col.row.f32.f16.f16.f32", 8, 2, 2, 8)
KERNEL(volta_row_row, uint32_t, "r", MMA "m8n8k4.row.row.f16.f16.f16.f16", 4, 2, 2, 4)
KERNEL(volta_col_col, uint32_t, "r", MMA "m8n8k4.col.col.f16.f16.f16.f16", 4, 2, 2, 4)

enum Kind { F16, BF16, TF32, F64, E4M3, E5M2, S8, U8, S4, U4, B1, F32, S32 };
static const int bits_of[] = {16, 16, 32, 64, 8, 8, 8, 8, 4, 4, 1, 32, 32};

static uint32_t seed = 7;
static int next() { return (seed = seed * 1664525 + 1013904223) >> 16; }
static int any(Kind kind) { return kind == B1 ? next() & 1 : kind == U8 || kind == U4 ? next() % 16 : next() % 16 - 8; }

/// A whole number below 16 in a byte with so many bits behind the point; those of the exponent are the rest but the sign.
static uint64_t byte_of(int x, int fraction) {
  if (!x) return 0;
  int exponent = 0, size = x < 0 ? -x : x;
  while (size >> (exponent + 1)) ++exponent;
  int bias = (1 << (6 - fraction)) - 1, digits = (size << fraction >> exponent) & ((1 << fraction) - 1);
  return (x < 0) << 7 | (exponent + bias) << fraction | digits;
}

/// The bits of a small number.
static uint64_t code(Kind kind, int x) {
  uint64_t word = 0;
  float f = x;
  double d = x;
  half h = __float2half(f);
  __nv_bfloat16 b = __float2bfloat16(f);
  switch (kind) {
  case F16: memcpy(&word, &h, 2); break;
  case BF16: memcpy(&word, &b, 2); break;
  case F32: memcpy(&word, &f, 4); break;
  // What hardware does not see.
  case TF32: memcpy(&word, &f, 4); word |= x ? 0x1fff : 0; break;
  case E4M3: return byte_of(x, 3);
  case E5M2: return byte_of(x, 2);
  case F64: memcpy(&word, &d, 8); break;
  default: word = uint64_t(x) & (~0ull >> (64 - bits_of[kind]));
  }
  return word;
}

static int products, wrong;

/// Where element `i` of a lane's registers lies in its matrix.
struct Place { int row, column; };
using Where = Place (*)(int lane, int i, int elements);

/// PTX's formulas for all but Volta's product: `elements` of a register (pair, quadruple, ...) are neighbours.
static Place of_a(int lane, int i, int elements) {
  int group = lane >> 2, in_group = lane % 4, number = i / elements;
  return {group + (number & 1 ? 8 : 0), in_group * elements + i % elements + number / 2 * 4 * elements};
}
static Place of_b(int lane, int i, int elements) {
  return {(lane % 4) * elements + i % elements + i / elements * 4 * elements, lane >> 2};
}
static Place of_c(int lane, int i, int) { return {(lane >> 2) + (i >= 2 ? 8 : 0), (lane % 4) * 2 + (i & 1)}; }
static int upper(int lane) { return lane < 16 ? 0 : 4; }
static Place a_row(int lane, int i, int) { return {lane % 4 + upper(lane), i}; }
static Place a_column(int lane, int i, int) { return {i + upper(lane), lane % 4}; }
static Place b_row(int lane, int i, int) { return {lane % 4, i + upper(lane)}; }
static Place b_column(int lane, int i, int) { return {i, lane % 4 + upper(lane)}; }
static Place c_halves(int lane, int i, int) { return {lane % 4 + upper(lane), i}; }
static Place c_floats(int lane, int i, int) { return {(lane & 1) + (i & 2) + upper(lane), (i & 4) + (lane & 2) + (i & 1)}; }

/// Puts an element into the registers of a lane.
template <typename W> static void put(W *registers, int i, Kind kind, int x) {
  int per = 8 * sizeof(W) / bits_of[kind];
  registers[i / per] |= W(code(kind, x)) << (i % per * bits_of[kind]);
}

template <typename W>
static void check(void (*kernel)(const W *, W *), const char *name, int m, int n, int k, Kind a, Kind b, Kind c, Where wa = of_a,
                  Where wb = of_b, Where wc = of_c, bool quads = false, bool with_and = false) {
  int groups = quads ? 4 : 1, lanes = 32 / groups, per = 8 * sizeof(W);
  int ea = m * k / lanes, eb = k * n / lanes, ec = m * n / lanes;
  int ra = ea * bits_of[a] / per, rb = eb * bits_of[b] / per, rc = ec * bits_of[c] / per, each = ra + rb + rc;
  static W given[ALL * 32 * 24], made[ALL * 32 * 8];
  static int A[ALL * 4][16][256], B[ALL * 4][256][8], C[ALL * 4][16][8];
  memset(given, 0, sizeof given), memset(made, 0xff, sizeof made);
  for (int w = 0; w < ALL * groups; ++w) {
    for (int i = 0; i < m; ++i) for (int j = 0; j < k; ++j) A[w][i][j] = any(a);
    for (int i = 0; i < k; ++i) for (int j = 0; j < n; ++j) B[w][i][j] = any(b);
    for (int i = 0; i < m; ++i) for (int j = 0; j < n; ++j) C[w][i][j] = next() % 64 - 32;
  }
  auto of_group = [&](int warp, int lane) { return quads ? 4 * warp + (lane % 16) / 4 : warp; };
  for (int t = 0; t < ALL * 32; ++t) {
    int lane = t % 32, w = of_group(t / 32, lane);
    W *registers = given + t * each;
    for (int i = 0; i < ea; ++i) {
      Place p = wa(lane, i, per / bits_of[a]);
      put(registers, i, a, A[w][p.row][p.column]);
    }
    for (int i = 0; i < eb; ++i) {
      Place p = wb(lane, i, per / bits_of[b]);
      put(registers + ra, i, b, B[w][p.row][p.column]);
    }
    for (int i = 0; i < ec; ++i) {
      Place p = wc(lane, i, 1);
      put(registers + ra + rb, i, c, C[w][p.row][p.column]);
    }
  }
  W *dg, *dm;
  cudaMalloc(&dg, sizeof given), cudaMalloc(&dm, sizeof made);
  cudaMemcpy(dg, given, sizeof given, cudaMemcpyHostToDevice);
  kernel<<<BLOCKS, 32 * WARPS>>>(dg, dm);
  if (cudaDeviceSynchronize() != cudaSuccess) ++wrong;
  cudaMemcpy(made, dm, sizeof made, cudaMemcpyDeviceToHost);
  int bad = 0;
  for (int t = 0; t < ALL * 32; ++t) {
    int lane = t % 32, w = of_group(t / 32, lane);
    W wanted[8] = {};
    for (int i = 0; i < ec; ++i) {
      Place p = wc(lane, i, 1);
      int sum = C[w][p.row][p.column];
      for (int j = 0; j < k; ++j) {
        int x = A[w][p.row][j], y = B[w][j][p.column];
        sum += a == B1 ? (with_and ? x & y : x ^ y) : x * y;
      }
      put(wanted, i, c, sum);
    }
    bad += memcmp(wanted, made + t * rc, rc * sizeof(W)) != 0;
  }
  if (bad) printf("%s: %d lanes wrong\n", name, bad);
  wrong += bad, ++products;
  cudaFree(dg), cudaFree(dm);
}

/// What a byte says with so many bits behind the point: of three the highest code alone is no number, of two the highest exponent is for
/// infinity and what is no number.
static double worth(int code, int fraction) {
  int bias = (1 << (6 - fraction)) - 1, exponent = (code & 127) >> fraction, digits = code & ((1 << fraction) - 1);
  double size = exponent ? std::ldexp((1 << fraction) + digits, exponent - bias - fraction) : std::ldexp(digits, 1 - bias - fraction);
  if (fraction == 3 && (code & 127) == 127) size = NAN;
  if (fraction == 2 && exponent == 31) size = digits ? NAN : INFINITY;
  return code & 128 ? -size : size;
}

/// Each code of a byte times one: the code that stands in the first column of a row, of 16 rows of 16 warps.
static int wrong_codes(void (*kernel)(const uint32_t *, uint32_t *), int fraction) {
  constexpr int each = 10, threads = 16 * 32;
  static uint32_t given[threads * each], made[threads * 4];
  uint32_t one = ((1 << (6 - fraction)) - 1) << fraction, *dg, *dm;
  memset(given, 0, sizeof given);
  for (int t = 0; t < threads; ++t) {
    for (int i = 0; i < 16; ++i) {
      Place place = of_a(t % 32, i, 4);
      if (place.column == 0) given[t * each + i / 4] |= (t / 32 * 16 + place.row) << (i % 4 * 8);
    }
    for (int i = 0; i < 8; ++i)
      if (of_b(t % 32, i, 4).row == 0) given[t * each + 4 + i / 4] |= one << (i % 4 * 8);
  }
  cudaMalloc(&dg, sizeof given), cudaMalloc(&dm, sizeof made);
  cudaMemcpy(dg, given, sizeof given, cudaMemcpyHostToDevice);
  kernel<<<8, 64>>>(dg, dm);
  cudaMemcpy(made, dm, sizeof made, cudaMemcpyDeviceToHost);
  int bad = 0;
  for (int t = 0; t < threads; ++t)
    for (int i = 0; i < 4; ++i) {
      float found, wanted = worth(t / 32 * 16 + of_c(t % 32, i, 1).row, fraction);
      memcpy(&found, &made[t * 4 + i], 4);
      bad += wanted != wanted ? found == found : found != wanted;
    }
  cudaFree(dg), cudaFree(dm);
  return bad;
}

#define CHECK(kernel, ...) check(kernel, #kernel, __VA_ARGS__)

int main() {
  CHECK(f16_16x8x8, 16, 8, 8, F16, F16, F32);
  CHECK(f16_16x8x16, 16, 8, 16, F16, F16, F32);
  CHECK(f16_to_f16_16x8x8, 16, 8, 8, F16, F16, F16);
  CHECK(f16_to_f16_16x8x16, 16, 8, 16, F16, F16, F16);
  CHECK(bf16_16x8x8, 16, 8, 8, BF16, BF16, F32);
  CHECK(bf16_16x8x16, 16, 8, 16, BF16, BF16, F32);
  CHECK(tf32_16x8x4, 16, 8, 4, TF32, TF32, F32);
  CHECK(tf32_16x8x8, 16, 8, 8, TF32, TF32, F32);
  CHECK(f64_8x8x4, 8, 8, 4, F64, F64, F64);
  CHECK(f64_16x8x4, 16, 8, 4, F64, F64, F64);
  CHECK(f64_16x8x8, 16, 8, 8, F64, F64, F64);
  CHECK(f64_16x8x16, 16, 8, 16, F64, F64, F64);
#define CHECK_SMALL(a, b, A, B)                                                                                    \
  CHECK(a##_##b##_16x8x16, 16, 8, 16, A, B, F32), CHECK(a##_##b##_16x8x32, 16, 8, 32, A, B, F32);                 \
  CHECK(a##_##b##_to_f16_16x8x32, 16, 8, 32, A, B, F16)
  CHECK_SMALL(e4m3, e4m3, E4M3, E4M3);
  CHECK_SMALL(e4m3, e5m2, E4M3, E5M2);
  CHECK_SMALL(e5m2, e4m3, E5M2, E4M3);
  CHECK_SMALL(e5m2, e5m2, E5M2, E5M2);
#define CHECK_BYTES(a, b, A, B)                                                                                    \
  CHECK(a##_##b##_8x8x16, 8, 8, 16, A, B, S32), CHECK(a##_##b##_16x8x16, 16, 8, 16, A, B, S32);                   \
  CHECK(a##_##b##_16x8x32, 16, 8, 32, A, B, S32)
  CHECK_BYTES(s8, s8, S8, S8);
  CHECK_BYTES(u8, s8, U8, S8);
  CHECK_BYTES(s8, u8, S8, U8);
#define CHECK_NIBBLES(a, b, A, B)                                                                                  \
  CHECK(a##_##b##_8x8x32, 8, 8, 32, A, B, S32), CHECK(a##_##b##_16x8x32, 16, 8, 32, A, B, S32);                   \
  CHECK(a##_##b##_16x8x64, 16, 8, 64, A, B, S32)
  CHECK_NIBBLES(s4, s4, S4, S4);
  CHECK_NIBBLES(u4, s4, U4, S4);
#define CHECK_BITS(op, AND)                                                                                        \
  CHECK(op##_8x8x128, 8, 8, 128, B1, B1, S32, of_a, of_b, of_c, false, AND);                                      \
  CHECK(op##_16x8x128, 16, 8, 128, B1, B1, S32, of_a, of_b, of_c, false, AND);                                    \
  CHECK(op##_16x8x256, 16, 8, 256, B1, B1, S32, of_a, of_b, of_c, false, AND)
  CHECK_BITS(xor, false);
  CHECK_BITS(and, true);
  CHECK(volta_row_col, 8, 8, 4, F16, F16, F32, a_row, b_column, c_floats, true);
  CHECK(volta_col_row, 8, 8, 4, F16, F16, F32, a_column, b_row, c_floats, true);
  CHECK(volta_row_row, 8, 8, 4, F16, F16, F16, a_row, b_row, c_halves, true);
  CHECK(volta_col_col, 8, 8, 4, F16, F16, F16, a_column, b_column, c_halves, true);
  printf("products: %d, %d wrong\n", products, wrong);
  printf("codes: %d wrong\n", wrong_codes(e4m3_e4m3_16x8x32, 3) + wrong_codes(e5m2_e5m2_16x8x32, 2));
}
