// ldmatrix and stmatrix as inline PTX, with 32-bit and with generic addresses, in all counts and transposed, against formulas of the host;
// lanes whose addresses are not asked for have none. Then a product of tiles in shared memory as libraries write it.
//
// RUN: %regrain --offload-arch=cpu -O3 %s -o %t && %t | FileCheck %s
// RUN: env REGRAIN_CPU_MODE=coroutine %t | FileCheck %s
// RUN: %regrain --offload-arch=cpu -O0 %s -o %t.0 && %t.0 | FileCheck %s
// RUN: %regrain --offload-arch=cpu -O3 -fregrain-coarsen-blocks=2 %s -o %t.c && %t.c | FileCheck %s
// RUN: %regrain --offload-arch=cpu -O3 -fregrain-emulate=sm_90 %s -o %t.e && %t.e | FileCheck %s
// RUN: %regrain --offload-arch=cpu -O3 -c %s -o %t.o -Rpass-analysis=regrain-vectorize-threads 2>&1 | FileCheck %s --check-prefix=ROWS
//
// ROWS-DAG: kernel 'load<4, false>{{.*}}threads go in rows of 32
// ROWS-DAG: kernel 'gemm({{.*}}threads go in rows of 32
//
// CHECK: loads: 6 kinds, 0 wrong
// CHECK-NEXT: stores: 6 kinds, 0 wrong
// CHECK-NEXT: gemm: 0 wrong
#include <cstdint>
#include <cstdio>
#include <cuda_fp16.h>

constexpr int WARPS = 2, BLOCKS = 3, WORDS = 32 * 4 * 3;

__device__ static unsigned shared_address(const void *p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

template <int N, bool TRANS> __device__ void load_one(uint32_t (&d)[4], unsigned at) {
  if constexpr (N == 4 && !TRANS)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(at));
  if constexpr (N == 4 && TRANS)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(at));
  if constexpr (N == 2 && !TRANS)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(d[0]), "=r"(d[1]) : "r"(at));
  if constexpr (N == 2 && TRANS)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(d[0]), "=r"(d[1]) : "r"(at));
  if constexpr (N == 1 && !TRANS) asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(d[0]) : "r"(at) : "memory");
  if constexpr (N == 1 && TRANS) asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared::cta.b16 {%0}, [%1];" : "=r"(d[0]) : "r"(at));
}

template <int N, bool TRANS> __device__ void store_one(const uint32_t (&d)[4], void *at) {
  if constexpr (N == 4 && !TRANS)
    asm volatile("stmatrix.sync.aligned.m8n8.x4.b16 [%0], {%1,%2,%3,%4};" ::"l"(at), "r"(d[0]), "r"(d[1]), "r"(d[2]), "r"(d[3]));
  if constexpr (N == 4 && TRANS)
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.b16 [%0], {%1,%2,%3,%4};" ::"l"(at), "r"(d[0]), "r"(d[1]), "r"(d[2]), "r"(d[3]));
  if constexpr (N == 2 && !TRANS) asm volatile("stmatrix.sync.aligned.m8n8.x2.b16 [%0], {%1,%2};" ::"l"(at), "r"(d[0]), "r"(d[1]));
  if constexpr (N == 2 && TRANS) asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.b16 [%0], {%1,%2};" ::"l"(at), "r"(d[0]), "r"(d[1]));
  if constexpr (N == 1 && !TRANS) asm volatile("stmatrix.sync.aligned.m8n8.x1.b16 [%0], {%1};" ::"l"(at), "r"(d[0]));
  if constexpr (N == 1 && TRANS) asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.b16 [%0], {%1};" ::"l"(at), "r"(d[0]));
}

/// Rows of 48 bytes in an order of their own.
__host__ __device__ constexpr int row_of(int lane) { return (lane * 5 + 3) % 32; }

template <int N, bool TRANS> __global__ void load(const uint32_t *in, uint32_t *out) {
  __shared__ __align__(16) uint32_t tile[WARPS][WORDS];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, which = blockIdx.x * WARPS + warp;
  for (int i = lane; i < WORDS; i += 32) tile[warp][i] = in[which * WORDS + i];
  __syncwarp();
  uint32_t d[4] = {};
  unsigned at = N == 4 || lane < 8 * N ? shared_address(&tile[warp][12 * row_of(lane)]) : 0xfffffff0u;
  load_one<N, TRANS>(d, at);
  for (int i = 0; i < 4; ++i) out[(which * 32 + lane) * 4 + i] = d[i];
}

template <int N, bool TRANS> __global__ void store(const uint32_t *in, uint32_t *out) {
  __shared__ __align__(16) uint32_t tile[WARPS][WORDS];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, which = blockIdx.x * WARPS + warp;
  for (int i = lane; i < WORDS; i += 32) tile[warp][i] = 0xabcdabcd;
  uint32_t d[4];
  for (int i = 0; i < 4; ++i) d[i] = in[(which * 32 + lane) * 4 + i];
  __syncwarp();
  store_one<N, TRANS>(d, lane < 8 * N ? &tile[warp][12 * row_of(lane)] : nullptr);
  for (int i = lane; i < WORDS; i += 32) out[which * WORDS + i] = tile[warp][i];
}

/// 64 x 64 of C for each block of two warps, by tiles of 32 in shared memory with padding; A by rows, B by rows, which `.trans` turns.
constexpr int SIZE = 128, STEP = 32, PITCH = STEP + 8, WIDE = 64 + 8;
__global__ void gemm(const half *a, const half *b, float *c) {
  extern __shared__ __align__(16) half memory[];
  half *at = memory, *bt = memory + 64 * PITCH;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = blockIdx.y * 64, column = blockIdx.x * 64;
  float sums[2][8][4] = {};
  for (int k = 0; k < SIZE; k += STEP) {
    for (int i = threadIdx.x; i < 64 * STEP; i += 64) {
      at[i / STEP * PITCH + i % STEP] = a[(row + i / STEP) * SIZE + k + i % STEP];
      bt[i / 64 * WIDE + i % 64] = b[(k + i / 64) * SIZE + column + i % 64];
    }
    __syncthreads();
    for (int part = 0; part < STEP; part += 16) {
      uint32_t fa[2][4], fb[8][4];
      for (int i = 0; i < 2; ++i)
        load_one<4, false>(fa[i], shared_address(at + (32 * warp + 16 * i + lane % 16) * PITCH + part + lane / 16 * 8));
      for (int j = 0; j < 8; ++j) load_one<2, true>(fb[j], shared_address(bt + (part + lane % 16) * WIDE + 8 * j));
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 8; ++j)
          asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                       : "+f"(sums[i][j][0]), "+f"(sums[i][j][1]), "+f"(sums[i][j][2]), "+f"(sums[i][j][3])
                       : "r"(fa[i][0]), "r"(fa[i][1]), "r"(fa[i][2]), "r"(fa[i][3]), "r"(fb[j][0]), "r"(fb[j][1]));
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 8; ++j)
      for (int e = 0; e < 4; ++e)
        c[(row + 32 * warp + 16 * i + lane / 4 + e / 2 * 8) * SIZE + column + 8 * j + lane % 4 * 2 + e % 2] = sums[i][j][e];
}

template <typename T> static T *device(const T *from, long count) {
  T *made;
  cudaMalloc(&made, count * sizeof(T));
  cudaMemcpy(made, from, count * sizeof(T), cudaMemcpyHostToDevice);
  return made;
}

constexpr int ALL = WARPS * BLOCKS;
static uint32_t rows[ALL * WORDS], registers[ALL * 32 * 4], seed = 3;
static uint32_t next() { return seed = seed * 1664525 + 1013904223; }

/// The halfword in a row and column of a matrix of a warp.
static uint32_t element(int warp, int matrix, int row, int column) {
  return rows[warp * WORDS + 12 * row_of(8 * matrix + row) + column / 2] >> (16 * (column % 2)) & 0xffff;
}
/// What a lane has of a matrix.
static uint32_t word(int warp, int matrix, int lane, bool trans) {
  int group = lane / 4, pair = lane % 4 * 2;
  return trans ? element(warp, matrix, pair, group) | element(warp, matrix, pair + 1, group) << 16
               : element(warp, matrix, group, pair) | element(warp, matrix, group, pair + 1) << 16;
}

template <int N, bool TRANS> static int loads() {
  for (auto &one : rows) one = next() ^ next() >> 16;
  auto *in = device(rows, ALL * WORDS), *out = device(registers, ALL * 32 * 4);
  load<N, TRANS><<<BLOCKS, 32 * WARPS>>>(in, out);
  int bad = cudaDeviceSynchronize() != cudaSuccess;
  cudaMemcpy(registers, out, sizeof registers, cudaMemcpyDeviceToHost);
  for (int t = 0; t < ALL * 32; ++t)
    for (int m = 0; m < 4; ++m) bad += registers[4 * t + m] != (m < N ? word(t / 32, m, t % 32, TRANS) : 0);
  cudaFree(in), cudaFree(out);
  return bad;
}

template <int N, bool TRANS> static int stores() {
  for (auto &one : registers) one = next() ^ next() >> 16;
  auto *in = device(registers, ALL * 32 * 4), *out = device(rows, ALL * WORDS);
  store<N, TRANS><<<BLOCKS, 32 * WARPS>>>(in, out);
  int bad = cudaDeviceSynchronize() != cudaSuccess, kept = 0;
  cudaMemcpy(rows, out, sizeof rows, cudaMemcpyDeviceToHost);
  for (int t = 0; t < ALL * 32; ++t)
    for (int m = 0; m < N; ++m) bad += registers[4 * t + m] != word(t / 32, m, t % 32, TRANS);
  for (auto one : rows) kept += one == 0xabcdabcd;
  cudaFree(in), cudaFree(out);
  return bad + (kept != ALL * (WORDS - N * 32));
}

static int products() {
  static half a[SIZE * SIZE], b[SIZE * SIZE];
  static float c[SIZE * SIZE];
  for (auto &one : a) one = __float2half(int(next() >> 16) % 16 - 8);
  for (auto &one : b) one = __float2half(int(next() >> 16) % 16 - 8);
  auto *da = device(a, SIZE * SIZE), *db = device(b, SIZE * SIZE);
  auto *dc = device(c, SIZE * SIZE);
  gemm<<<dim3(2, 2), 64, (64 * PITCH + STEP * WIDE) * 2>>>(da, db, dc);
  int bad = cudaDeviceSynchronize() != cudaSuccess;
  cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost);
  for (int i = 0; i < SIZE; ++i)
    for (int j = 0; j < SIZE; ++j) {
      float sum = 0;
      for (int k = 0; k < SIZE; ++k) sum += __half2float(a[i * SIZE + k]) * __half2float(b[k * SIZE + j]);
      bad += c[i * SIZE + j] != sum;
    }
  return bad;
}

int main() {
  int bad = loads<1, false>() + loads<2, false>() + loads<4, false>() + loads<1, true>() + loads<2, true>() + loads<4, true>();
  printf("loads: 6 kinds, %d wrong\n", bad);
  bad = stores<1, false>() + stores<2, false>() + stores<4, false>() + stores<1, true>() + stores<2, true>() + stores<4, true>();
  printf("stores: 6 kinds, %d wrong\n", bad);
  printf("gemm: %d wrong\n", products());
}
