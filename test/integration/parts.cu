// CPU-ONLY: objects of code for GPUs have no such parts.
// An object of several parts: kernels that have functions, variables, tables and shared memory in common, in two units with the same names.
// RUN: %regrain -O2 --offload-arch=cpu -c %s -o %t.one.o
// RUN: %regrain -O2 --offload-arch=cpu -DOTHER -c %s -o %t.two.o
// RUN: %regrain --offload-arch=cpu %t.one.o %t.two.o -o %t && %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
// RUN: llvm-nm %t.one.o | FileCheck %s
// RUN: llvm-nm %t.two.o | FileCheck %s
// What parts have of one another has the unit's name behind its own; what each has for itself is not seen.
// CHECK-DAG: __regrain_block._ZL3sumPiPKiii.b64x1x1.[[UNIT:[0-9a-f]{16}]]{{$}}
// CHECK-DAG: __regrain_block._ZL4saltPiPKiii.b64x1x1.[[UNIT]]{{$}}
// CHECK-DAG: {{ [BDd] }}__regrain_dev__ZL7counter.[[UNIT]]{{$}}
// The IR of the program's kernels is one file still, and so is what is shown of the device's code.
// RUN: rm -rf %t.dump && %regrain -O2 --offload-arch=cpu -fregrain-dump-ir=%t.dump -c %s -o %t.shown.o
// RUN: cat %t.dump/parts.*-finished.ll | FileCheck %s --check-prefix=WHOLE
// WHOLE-DAG: define {{.*}} @__regrain_block._ZL3sumPiPKiii.b64x1x1(
// WHOLE-DAG: define {{.*}} @__regrain_block._ZL4saltPiPKiii.b64x1x1(

#include <cstdio>
#include <cstdlib>

#ifdef OTHER
#define UNIT 2
#define RUN run_other
#else
#define UNIT 1
#define RUN run_one
#endif

// Changed by all kernels; another one in each unit.
static __device__ int counter;
static __constant__ int weights[8] = {3, 1, 4, 1, 5, 9, 2, 6};

typedef int (*Step)(int, int);
static __device__ int add(int a, int b) { return a + b * UNIT; }
static __device__ int mix(int a, int b) { return a * 31 ^ b; }
// The addresses of functions of other parts, in a table that is copied.
static __device__ const Step steps[2] = {add, mix};

// Not inlined, and called by all.
static __device__ __noinline__ int shared_work(int value, int rounds) {
  static __device__ int calls;
  if (rounds == 1000)
    calls++;
  int sum = value;
  for (int i = 0; i < rounds; i++)
    sum = (i % 2 ? mix(sum, weights[i % 8]) : add(sum, weights[i % 8])) + __popc(sum);
  return sum + calls;
}

// The same by what the table says, in a kernel of which there is no block function.
static __device__ __noinline__ int work_by_table(int value, int rounds) {
  int sum = value;
  for (int i = 0; i < rounds; i++)
    sum = steps[i % 2](sum, weights[i % 8]) + __popc(sum);
  return sum;
}

// Recursion, and with it no function that could be copied into its callers.
static __device__ __noinline__ int depth(int n) { return n <= 0 ? 0 : 1 + depth(n - 1 - (n & 1)); }

#define ROUND(k) value = (value ^ tile[(threadIdx.x + k) % 64]) * 5 + weights[(k) % 8];
#define ROUNDS(k) ROUND(k) ROUND(k + 1) ROUND(k + 2) ROUND(k + 3) ROUND(k + 4) ROUND(k + 5) ROUND(k + 6) ROUND(k + 7)
// So many instructions that a part is worth its while.
#define KERNEL(name, constant, work)                                                     \
  static __global__ void name(int *out, const int *in, int n, int rounds) {        \
    __shared__ int tile[64];                                                       \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                                 \
    tile[threadIdx.x] = i < n ? in[i] : 0;                                         \
    __syncthreads();                                                               \
    int value = tile[63 - threadIdx.x] + constant;                                 \
    ROUNDS(0) ROUNDS(8) ROUNDS(16) ROUNDS(24) ROUNDS(32)                           \
    __syncthreads();                                                               \
    if (i < n)                                                                     \
      out[i] = work(value, rounds) + depth(constant);                              \
    if (threadIdx.x == 0)                                                          \
      atomicAdd(&counter, constant);                                               \
  }
KERNEL(sum, 3, shared_work)
KERNEL(salt, 11, shared_work)
KERNEL(spin, 17, work_by_table)

static int reference_work(int value, int rounds) {
  static const int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
  int sum = value;
  for (int i = 0; i < rounds; i++) {
    int weight = table[i % 8], before = sum;
    sum = (i % 2 ? (int)((unsigned)sum * 31u) ^ weight : sum + weight * UNIT) + __builtin_popcount(before);
  }
  return sum;
}

static int reference_depth(int n) { return n <= 0 ? 0 : 1 + reference_depth(n - 1 - (n & 1)); }

static int wrong(const int *out, const int *in, int n, int rounds, int constant) {
  static const int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
  int found = 0;
  for (int i = 0; i < n; i++) {
    int first = i / 64 * 64, lane = i % 64;
    auto tile = [&](int at) { return first + at < n ? in[first + at] : 0; };
    int value = tile(63 - lane) + constant;
    for (int k = 0; k < 40; k++)
      value = (int)((unsigned)(value ^ tile((lane + k) % 64)) * 5u) + table[k % 8];
    found += out[i] != reference_work(value, rounds) + reference_depth(constant);
  }
  return found;
}

int RUN() {
  const int n = 1000, rounds = 13, blocks = (n + 63) / 64;
  int *in, *out, failed = 0;
  cudaMallocManaged(&in, n * sizeof *in);
  cudaMallocManaged(&out, n * sizeof *out);
  for (int i = 0; i < n; i++)
    in[i] = (i * 7919) % 1013;
  sum<<<blocks, 64>>>(out, in, n, rounds);
  cudaDeviceSynchronize();
  failed += wrong(out, in, n, rounds, 3);
  salt<<<blocks, 64>>>(out, in, n, rounds);
  cudaDeviceSynchronize();
  failed += wrong(out, in, n, rounds, 11);
  spin<<<blocks, 64>>>(out, in, n, rounds);
  cudaDeviceSynchronize();
  failed += wrong(out, in, n, rounds, 17);
  int counted = 0;
  cudaMemcpyFromSymbol(&counted, counter, sizeof counted);
  failed += counted != blocks * (3 + 11 + 17);
  return failed;
}

#ifndef OTHER
int run_other();
int main() {
  int failed = run_one() + run_other();
  printf("%d wrong\n", failed);
  return failed != 0;
}
#endif
