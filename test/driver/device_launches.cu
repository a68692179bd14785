// Kernels that kernels launch: nested, in order, recursive, with arguments of all kinds, and what such a launch refuses. In block
// functions and in the coroutine form, at all levels.

// RUN: %regrain --offload-arch=cpu -fgpu-rdc -Wno-unused-value %s -o %t
// RUN: %t | FileCheck %s
// RUN: env REGRAIN_CPU_MODE=coroutine %t | FileCheck %s
// RUN: env REGRAIN_CPU_SEED=7 %t | FileCheck %s
// RUN: %regrain --offload-arch=cpu -fgpu-rdc -O0 %s -o %t.0 && %t.0 | FileCheck %s
// RUN: %regrain --offload-arch=cpu -fgpu-rdc -O1 %s -o %t.1 && %t.1 | FileCheck %s
// CUDA 11's form, in which a block may wait for what it launched.
// RUN: %regrain --offload-arch=cpu -fgpu-rdc -DCUDA_FORCE_CDP1_IF_SUPPORTED -D__CDPRT_SUPPRESS_SYNC_DEPRECATION_WARNING %s -o %t.v1
// RUN: %t.v1 | FileCheck %s --check-prefixes=CHECK,OLD

#include <cstdio>
#include <cstring>

static int failures;
#define EXPECT(what)                                                                                                   \
  do {                                                                                                                 \
    if (!(what)) {                                                                                                     \
      printf("line %d: %s is not so\n", __LINE__, #what);                                                              \
      ++failures;                                                                                                      \
    }                                                                                                                  \
  } while (0)

template <class T> struct Managed {
  T *data;
  explicit Managed(size_t count) {
    cudaMallocManaged(&data, count * sizeof(T));
    memset((void *)data, 0, count * sizeof(T));
  }
  ~Managed() { cudaFree(data); }
  T &operator[](size_t at) { return data[at]; }
};

static void done(const char *what) {
  cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) printf("%s: %s\n", what, cudaGetErrorName(error)), ++failures;
  printf("%s: done\n", what);
}

// Arguments: small ones, aligned ones, structures, private kernels and templates.
struct Odd {
  char letters[7];
};
struct alignas(16) Wide {
  double x, y;
};
static __global__ void takes(char c, double d, Odd odd, short s, Wide wide, float *sum, bool yes) {
  sum[blockIdx.x * blockDim.x + threadIdx.x] = c + d + odd.letters[6] + s + wide.x * wide.y + (yes ? 1000 : 0);
}
namespace {
template <class T> __global__ void only_here(T *out, T value) { out[threadIdx.x] = value + T(threadIdx.x); }
} // namespace
__global__ void gives(float *sum, long *out) {
  if (threadIdx.x == 1) {
    Odd odd = {"abcdef"};
    odd.letters[6] = char(blockIdx.x);
    Wide wide = {3, 7};
    takes<<<2, 4>>>('\1', 0.5, odd, short(-2), wide, sum + blockIdx.x * 8, true);
    only_here<long><<<1, 8>>>(out + blockIdx.x * 8, 1L << 40);
  }
}
static void arguments() {
  Managed<float> sum(16);
  Managed<long> out(16);
  gives<<<2, 32>>>(sum.data, out.data);
  done("arguments");
  for (int i = 0; i < 16; ++i) EXPECT(sum[i] == 1020.5f + (i >= 8));
  for (int i = 0; i < 16; ++i) EXPECT(out[i] == (1L << 40) + i % 8);
}
// CHECK: arguments: done

// The default stream of a block, and streams of its own, go in order; what a thread wrote before a launch is seen.
__global__ void times(int *p, int by, int plus) { p[threadIdx.x] = p[threadIdx.x] * by + plus; }
__global__ void chain(int *p, int *q) {
  p[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x != 0) return;
  int *mine = p + blockIdx.x * blockDim.x;
  times<<<1, blockDim.x>>>(mine, 3, 1);
  times<<<1, blockDim.x>>>(mine, 2, 0);
  cudaStream_t stream;
  cudaEvent_t event;
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)) return;
  if (cudaEventCreateWithFlags(&event, cudaEventDisableTiming)) return;
  int *other = q + blockIdx.x * blockDim.x;
  cudaMemsetAsync(other, 0, blockDim.x * sizeof(int), stream);
  times<<<1, blockDim.x, 0, stream>>>(other, 1, 5);
  times<<<1, blockDim.x, 0, stream>>>(other, 10, 2);
  cudaEventRecord(event, stream);
  cudaStreamWaitEvent(0, event, 0);
  cudaMemcpyAsync(mine + 1, other, sizeof(int), cudaMemcpyDeviceToDevice, 0);
  cudaEventDestroy(event);
  cudaStreamDestroy(stream);
}
static void order() {
  Managed<int> p(96), q(96);
  chain<<<3, 32>>>(p.data, q.data);
  done("order");
  for (int i = 0; i < 96; ++i) EXPECT(q[i] == 52);
  for (int i = 0; i < 96; ++i) EXPECT(p[i] == (i % 32 == 1 ? 52 : 6 * (i % 32) + 2));
}
// CHECK: order: done

// A launch behind another one waits for what that one launches, and what follows on the host for all of it.
__device__ int next;
__global__ void note(int *at) { *at = atomicAdd(&next, 1); }
__global__ void inner(int *at) {
  at[0] = atomicAdd(&next, 1);
  note<<<1, 1>>>(at + 1);
}
__global__ void outer(int *at) {
  inner<<<1, 1>>>(at);
  inner<<<1, 1>>>(at + 2);
  at[4] = atomicAdd(&next, 1);
}
static void nesting() {
  Managed<int> at(6);
  outer<<<1, 1>>>(at.data);
  note<<<1, 1>>>(at.data + 5);
  done("nesting");
  EXPECT(at[0] < at[1] && at[1] < at[2] && at[2] < at[3] && at[3] < at[5] && at[4] < at[5] && at[5] == 5);
}
// CHECK: nesting: done

// Quicksort: as deep as the data are unlucky, each level a launch for each side.
__device__ int too_deep;
__global__ void sort(unsigned *data, int left, int right, int depth) {
  if (depth >= 16 || right - left <= 16) {
    for (int i = left + 1; i <= right; ++i)
      for (int j = i; j > left && data[j - 1] > data[j]; --j) {
        unsigned kept = data[j];
        data[j] = data[j - 1], data[j - 1] = kept;
      }
    atomicAdd(&too_deep, depth >= 16);
    return;
  }
  unsigned pivot = data[(left + right) / 2];
  int l = left, r = right;
  while (l <= r) {
    while (data[l] < pivot) ++l;
    while (data[r] > pivot) --r;
    if (l <= r) {
      unsigned kept = data[l];
      data[l++] = data[r], data[r--] = kept;
    }
  }
  if (left < r) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    sort<<<1, 1, 0, stream>>>(data, left, r, depth + 1);
    cudaStreamDestroy(stream);
  }
  if (l < right) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    sort<<<1, 1, 0, stream>>>(data, l, right, depth + 1);
    cudaStreamDestroy(stream);
  }
}
static void quicksort() {
  const int count = 5000;
  Managed<unsigned> data(count);
  unsigned random = 1, before = 0, after = 0;
  for (int i = 0; i < count; ++i) before += data[i] = (random = random * 1664525 + 1013904223) >> 8;
  sort<<<1, 1>>>(data.data, 0, count - 1, 0);
  done("quicksort");
  for (int i = 1; i < count; ++i) EXPECT(data[i - 1] <= data[i]);
  for (int i = 0; i < count; ++i) after += data[i];
  EXPECT(before == after);
}
// CHECK: quicksort: done

// Every thread launches, with shared memory of the child's own, static and dynamic.
__global__ void reversed(int *out, int base) {
  extern __shared__ int dynamic[];
  __shared__ int fixed[32];
  dynamic[threadIdx.x] = base + threadIdx.x;
  fixed[31 - threadIdx.x] = base;
  __syncthreads();
  out[threadIdx.x] = dynamic[31 - threadIdx.x] + fixed[threadIdx.x];
}
__global__ void all(int *out) {
  __shared__ int shared[32];
  shared[threadIdx.x] = threadIdx.x * 100;
  __syncthreads();
  reversed<<<1, 32, 32 * sizeof(int)>>>(out + 32 * threadIdx.x, shared[31 - threadIdx.x]);
  __syncthreads();
  shared[threadIdx.x] = -1;
}
static void everyone() {
  Managed<int> out(1024);
  all<<<1, 32>>>(out.data);
  done("everyone");
  for (int i = 0; i < 1024; ++i) EXPECT(out[i] == 200 * (31 - i / 32) + 31 - i % 32);
}
// CHECK: everyone: done

// A kernel by its address, and what can be asked about it.
typedef void (*Kernel)(int *);
__global__ void one(int *p) { *p += 1; }
__global__ void __launch_bounds__(128) ten(int *p) { *p += 10; }
__device__ Kernel table[2] = {one, ten};
__global__ void by_address(int *p, int which) {
  table[which]<<<1, 1>>>(p);
  table[1 - which]<<<2, 1>>>(p + 1);
  cudaFuncAttributes attributes;
  if (cudaFuncGetAttributes(&attributes, ten) == cudaSuccess) p[2] = attributes.maxThreadsPerBlock;
  int device = -1, count = 0;
  cudaGetDevice(&device), cudaGetDeviceCount(&count);
  p[3] = device * 10 + count;
  cudaDeviceGetAttribute(p + 4, cudaDevAttrWarpSize, 0);
  size_t limit = 0;
  cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize);
  p[5] = limit != 0;
}
static void addresses() {
  Managed<int> p(6);
  by_address<<<1, 1>>>(p.data, 1);
  done("addresses");
  EXPECT(p[0] == 10 && (p[1] == 1 || p[1] == 2) && p[2] == 128 && p[3] == 1 && p[4] == 32 && p[5] == 1);
}
// CHECK: addresses: done

// Memory of device code, from one kernel to the next.
__global__ void fill(int **box) { (*box)[threadIdx.x] = threadIdx.x; }
__global__ void add_up(int **box, int *sum) { atomicAdd(sum, (*box)[threadIdx.x]); }
__global__ void release(int **box) { cudaFree(*box); }
__global__ void owns(int **box, int *sum) {
  if (cudaMalloc((void **)box, 64 * sizeof(int)) != cudaSuccess) return;
  fill<<<1, 64>>>(box);
  add_up<<<1, 64>>>(box, sum);
  release<<<1, 1>>>(box);
}
static void memory() {
  Managed<int *> box(1);
  Managed<int> sum(1);
  owns<<<1, 1>>>(box.data, sum.data);
  done("memory");
  EXPECT(sum[0] == 2016);
}
// CHECK: memory: done

// What cannot be launched: an error of the thread that tried.
__global__ void bounded(int *p) { *p = 1; }
__global__ void refused(int *codes, int *touched, int threads) {
  if (threadIdx.x == 1) bounded<<<1, threads>>>(touched);
  if (threadIdx.x == 2) bounded<<<0, 1>>>(touched);
  if (threadIdx.x == 3) bounded<<<1, 1, 1 << 30>>>(touched);
  if (threadIdx.x == 4) bounded<<<1, 1, 0, (cudaStream_t)0x77777770>>>(touched);
  codes[threadIdx.x] = cudaPeekAtLastError();
  codes[8 + threadIdx.x] = cudaGetLastError();
  codes[16 + threadIdx.x] = cudaGetLastError();
}
static void errors() {
  Managed<int> codes(24), touched(1);
  refused<<<1, 8>>>(codes.data, touched.data, 2000);
  done("errors");
  int wanted[8] = {cudaSuccess, cudaErrorInvalidConfiguration, cudaErrorInvalidConfiguration, cudaErrorInvalidValue,
                   cudaErrorInvalidResourceHandle};
  for (int i = 0; i < 8; ++i) EXPECT(codes[i] == wanted[i] && codes[8 + i] == wanted[i] && codes[16 + i] == 0);
  EXPECT(touched[0] == 0);
}
// CHECK: errors: done

// 24 levels below the host's launch, and no more.
__global__ void deeper(int *reached, int *code, int level) {
  *reached = level;
  deeper<<<1, 1>>>(reached, code, level + 1);
  if (cudaError_t error = cudaGetLastError()) *code = error;
}
static void depth() {
  Managed<int> reached(1), code(1);
  deeper<<<1, 1>>>(reached.data, code.data, 0);
  done("depth");
  EXPECT(reached[0] == 24 && code[0] == cudaErrorLaunchMaxDepthExceeded);
}
// CHECK: depth: done

#ifndef CUDA_FORCE_CDP1_IF_SUPPORTED
// A tail launch runs behind all else of its grid, before what follows that; a long chain of them is no deep one.
__global__ void letter(char *text, int *length, char c) { text[(*length)++] = c; }
__global__ void tailed(char *text, int *length, char c) {
  letter<<<1, 1, 0, cudaStreamTailLaunch>>>(text, length, c + 2);
  letter<<<1, 1, 0, cudaStreamTailLaunch>>>(text, length, c + 3);
  letter<<<1, 1>>>(text, length, c);
  letter<<<1, 1>>>(text, length, c + 1);
}
__global__ void tails(char *text, int *length) {
  letter<<<1, 1, 0, cudaStreamTailLaunch>>>(text, length, 'z');
  tailed<<<1, 1>>>(text, length, 'a');
  tailed<<<1, 1>>>(text, length, 'A');
}
__global__ void again(int *left) {
  if (--*left > 0) again<<<1, 1, 0, cudaStreamTailLaunch>>>(left);
}
__global__ void scatter(int *hits) { atomicAdd(hits, 1); }
__global__ void forgets(int *hits) { scatter<<<4, 4, 0, cudaStreamFireAndForget>>>(hits); }
static void special_streams() {
  Managed<char> text(16);
  Managed<int> numbers(3);
  tails<<<1, 1>>>(text.data, numbers.data);
  letter<<<1, 1>>>(text.data, numbers.data, '!');
  numbers[1] = 20000;
  again<<<1, 1>>>(numbers.data + 1);
  forgets<<<2, 2>>>(numbers.data + 2);
  done("special streams");
  EXPECT(!strcmp(text.data, "abcdABCDz!"));
  EXPECT(numbers[1] == 0 && numbers[2] == 64);
}
#else
// A block waits for what it launched: here the host's launch needs its result.
__global__ void square(int *p) { p[threadIdx.x] *= p[threadIdx.x]; }
__global__ void waits(int *p, int *sums, int depth) {
  __shared__ int sum;
  int *mine = p + 32 * blockIdx.x;
  mine[threadIdx.x] = threadIdx.x;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    square<<<1, 32>>>(mine);
    if (depth > 0) waits<<<1, 32>>>(p + 32 * (blockIdx.x + depth), sums + depth, depth - 1);
    if (cudaDeviceSynchronize() != cudaSuccess) sum = -1;
  }
  __syncthreads();
  atomicAdd(&sum, mine[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
static void special_streams() {
  Managed<int> p(32 * 16), sums(16);
  waits<<<1, 32>>>(p.data, sums.data, 4);
  done("waiting");
  for (int at : {0, 4, 7, 9, 10}) EXPECT(sums[at] == 10416);
  waits<<<8, 32>>>(p.data, sums.data, 0);
  done("many wait");
  for (int at = 0; at < 8; ++at) EXPECT(sums[at] == 10416);
  printf("special streams: done\n");
}
#endif
// OLD: waiting: done
// OLD: many wait: done
// CHECK: special streams: done

// A launch whose kernel fails is the host's error.
__global__ void fails() { __trap(); }
__global__ void launches_failure(int *p) {
  fails<<<1, 1>>>();
  one<<<1, 1>>>(p);
}
static void failure() {
  Managed<int> p(1);
  launches_failure<<<1, 1>>>(p.data);
  EXPECT(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
  printf("failure: done\n");
}
// CHECK: failure: done

int main() {
  arguments();
  order();
  nesting();
  quicksort();
  everyone();
  addresses();
  memory();
  errors();
  depth();
  special_streams();
  failure();
  printf("%d failures\n", failures);
  return failures != 0;
}
// CHECK: {{^}}0 failures
