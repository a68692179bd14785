// Faults of kernels are their failures, with CUDA's codes; the program goes on, and so does the device after a reset.
// CPU-ONLY: the messages are those of its runtime
// RUN: %regrain -O0 -g --offload-arch=cpu %s -o %t0
// RUN: %regrain -O3 -g --offload-arch=cpu %s -o %t3
// RUN: timeout 60 %t0 all 2>&1 | FileCheck %s --check-prefixes=ALL,THREAD
// RUN: timeout 60 %t3 all 2>&1 | FileCheck %s --check-prefixes=ALL,BLOCK
// RUN: env REGRAIN_CPU_MODE=coroutine timeout 60 %t3 all 2>&1 | FileCheck %s --check-prefixes=ALL,THREAD
// RUN: env REGRAIN_CPU_THREADS=1 timeout 60 %t3 all 2>&1 | FileCheck %s --check-prefixes=ALL,BLOCK
// RUN: timeout 60 %t0 deep 2>&1 | FileCheck %s --check-prefixes=DEEP,STACK
// RUN: timeout 60 %t3 deep 2>&1 | FileCheck %s --check-prefixes=DEEP
// RUN: env REGRAIN_CPU_MODE=coroutine timeout 60 %t3 deep 2>&1 | FileCheck %s --check-prefixes=DEEP,STACK
// RUN: timeout 60 %t0 host | FileCheck %s --check-prefix=HOST
// RUN: timeout 60 %t3 host | FileCheck %s --check-prefix=HOST
// RUN: timeout 60 %t0 streams 2>&1 | FileCheck %s --check-prefix=STREAMS
// RUN: timeout 60 %t3 streams 2>&1 | FileCheck %s --check-prefix=STREAMS
// RUN: env REGRAIN_CPU_MODE=coroutine timeout 60 %t3 streams 2>&1 | FileCheck %s --check-prefix=STREAMS
// RUN: timeout 60 %t0 divide 2>&1 | FileCheck %s --check-prefix=DIVIDE
// RUN: timeout 60 %t3 divide 2>&1 | FileCheck %s --check-prefix=DIVIDE
// RUN: not --crash env REGRAIN_CPU_FAULTS=off timeout --foreground 60 %t3 off 2>&1 | FileCheck %s --check-prefix=OFF --allow-empty
// RUN: not --crash timeout --foreground 60 %t3 null-on-host 2>&1 | FileCheck %s --check-prefix=AFTER
// RUN: not --crash timeout --foreground 60 %t3 frees 2>&1 | FileCheck %s --check-prefix=FREES
// RUN: env REGRAIN_CPU_FAULTS=sometimes timeout 60 %t3 divide 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: regrain runtime: warning: expected REGRAIN_CPU_FAULTS to be 'on' or 'off', got 'sometimes'
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>
#include <unistd.h>

// OFF-NOT: regrain runtime
// OFF-NOT: after
// AFTER: after reset: 42
// AFTER-NOT: regrain runtime
// AFTER-NOT: after

__device__ int poke(int *p, int i) {
  p[i] = i;
  return p[i + 1];
}

// ALL-LABEL: wild:
// THREAD: error: kernel 'wild(int*, int)', block (1,0,0), thread (5,0,0): illegal address 0x1014 is written
// BLOCK: error: kernel 'wild(int*, int){{.*}}', block (1,0,0): illegal address 0x1014 is written
// ALL-NEXT: {{.*}}faults.cu:[[@LINE-7]]: note: in poke{{(\(int\*, int\))?}}
// ALL-NEXT: {{.*}}faults.cu:[[@LINE+7]]: note: called in wild{{(\(int\*, int\))?$}}
// THREAD-NEXT: note: -fregrain-check=memory says which object
// BLOCK-NEXT: note: REGRAIN_CPU_MODE=coroutine says which thread; -fregrain-check=memory says which object
// ALL: launch cudaSuccess wait cudaErrorIllegalAddress again cudaErrorIllegalAddress malloc cudaErrorIllegalAddress
// ALL-NEXT: after reset: 42
__global__ void wild(int *p, int n) {
  if (blockIdx.x == 1 && threadIdx.x == 5)
    poke((int *)0x1000, threadIdx.x);
  p[threadIdx.x] = n;
}

// ALL-LABEL: reads:
// ALL: error: kernel 'reads(int*, int){{.*}}', {{(one of blocks|block)}} ({{[01]}},0,0){{( to \(1,0,0\)|, thread \(7,0,0\))?}}: illegal address 0x10 is read
// ALL-NEXT: {{.*}}faults.cu:[[@LINE+4]]: note: in reads
// ALL: launch cudaSuccess wait cudaErrorIllegalAddress
// ALL-NEXT: after reset: 42
__global__ void reads(int *p, int n) {
  p[threadIdx.x] = *(threadIdx.x == 7 ? (int *)16 : p + 32 + n);
}

// A thread before a barrier, others wait there.
// ALL-LABEL: between:
// ALL: error: kernel 'between(int*, int){{.*}}', {{(one of blocks|block)}} ({{[01]}},0,0){{( to \(1,0,0\)|, thread \(3,0,0\))?}}: illegal address 0x20 is written
// ALL-NEXT: {{.*}}faults.cu:[[@LINE+9]]: note: in between
// ALL: launch cudaSuccess wait cudaErrorIllegalAddress
// ALL-NEXT: after reset: 42
__global__ void between(int *p, int n) {
  __shared__ int tile[32];
  tile[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  int sum = tile[31 - threadIdx.x];
  if (sum == 0 && threadIdx.x == 3)
    *(int *)32 = n;
  __syncthreads();
  p[threadIdx.x] = sum + tile[threadIdx.x ^ 1];
}

// A thread that others of its block spin for: the waiting form.
// ALL-LABEL: waits:
// ALL: error: kernel 'waits(int*, int){{.*}}', {{(one of blocks|block)}} ({{[01]}},0,0){{( to \(1,0,0\)|, thread \(0,0,0\))?}}: illegal address 0x30 is written
// ALL-NEXT: {{.*}}faults.cu:[[@LINE+7]]: note: in waits
// ALL: launch cudaSuccess wait cudaErrorIllegalAddress
// ALL-NEXT: after reset: 42
__global__ void waits(int *p, int n) {
  volatile int *flag = p;
  if (threadIdx.x == 0) {
    if (n == 42)
      *(volatile int *)48 = n;
    *flag = 1;
  } else
    while (*flag == 0)
      ;
}

// A call of what is no function.
// ALL-LABEL: calls:
// ALL: error: kernel 'calls(int*, int){{.*}}', {{(one of blocks|block)}} ({{[01]}},0,0){{( to \(1,0,0\)|, thread \(0,0,0\))?}}: illegal address 0x40 is called
// ALL-NEXT: {{.*}}faults.cu:[[@LINE+5]]: note: in calls
// ALL: launch cudaSuccess wait cudaErrorIllegalAddress
// ALL-NEXT: after reset: 42
__global__ void calls(int *p, int n) {
  auto f = (int (*)(int))(size_t)(n + 22);
  p[threadIdx.x] = f(n) + 1;
}

// No address of the processor's at all.
// ALL-LABEL: nowhere:
// ALL: error: kernel 'nowhere(int*, int){{.*}}', {{(one of blocks|block)}} ({{[01]}},0,0){{( to \(1,0,0\)|, thread \(0,0,0\))?}}: an address is accessed that cannot be one, or is not aligned
// ALL: launch cudaSuccess wait cudaErrorIllegalAddress
// ALL-NEXT: after reset: 42
__global__ void nowhere(int *p, int n) {
  *(int *)(0x1234567800000000 + n * 4) = 1;
}

// Texts that a kernel prints are read in the runtime.
// ALL-LABEL: prints:
// ALL: error: kernel 'prints(int*, int){{.*}}', {{(one of blocks|block)}} ({{[01]}},0,0){{( to \(1,0,0\)|, thread \(0,0,0\))?}}: illegal address 0x50 is read
// ALL-NEXT: {{.*}}faults.cu:[[@LINE+5]]: note: in prints{{.*}}
// ALL: launch cudaSuccess wait cudaErrorIllegalAddress
// ALL-NEXT: after reset: 42
__global__ void prints(int *p, int n) {
  if (threadIdx.x == 0)
    printf("%d %s\n", n, (const char *)0x50);
}

// ALL-LABEL: traps:
// ALL: error: kernel 'traps(int*, int){{.*}}trap
// ALL: launch cudaSuccess wait cudaErrorLaunchFailure again cudaErrorLaunchFailure malloc cudaErrorLaunchFailure
// ALL-NEXT: after reset: 42
__global__ void traps(int *p, int n) {
  if (threadIdx.x == n - 40)
    __trap();
}

// ALL-LABEL: breaks:
// ALL: error: kernel 'breaks(int*, int){{.*}}trap
// ALL: launch cudaSuccess wait cudaErrorLaunchFailure
// ALL-NEXT: after reset: 42
__global__ void breaks(int *p, int n) {
  if (threadIdx.x == n - 40)
    asm volatile("brkpt;");
}

// Frames that go beyond the stack's end by much.
// DEEP: error: kernel 'deep(int*, int){{.*}}'{{.*}}: stack overflow
// DEEP-NEXT: {{.*}}faults.cu:[[@LINE+4]]: note: in down
// STACK: note: cudaDeviceSetLimit(cudaLimitStackSize, ...) gives more stack
// DEEP: wait cudaErrorHardwareStackError again cudaErrorHardwareStackError malloc cudaErrorHardwareStackError
// DEEP-NEXT: after reset: 42
__device__ __noinline__ int down(int *p, int n) { int room[2000]; room[n % 2000] = p[0]; return n < 0 ? 0 : down(room, n + 1) + room[n / 2 % 2000]; }
__global__ void deep(int *p, int n) { p[threadIdx.x] = down(p, n); }

// CUDA does not say what a quotient by zero is; only that the kernel goes on.
// DIVIDE: quotients
// DIVIDE: of the least number -2147483648 0 -9223372036854775808 0
// DIVIDE: wait cudaSuccess
template <typename T> __device__ void divide(T *to, T a, T b) { to[0] = a / b, to[1] = a % b; }
__global__ void divisions(long long *to, int zero, int minus) {
  int i[4], least[2];
  unsigned u[2];
  unsigned long long w[2];
  long long wide[2];
  unsigned char c[2];
  divide<int>(i, 7, zero), divide<int>(i + 2, -7, zero), divide<unsigned>(u, 9, zero), divide<unsigned long long>(w, 11, zero);
  divide<unsigned char>(c, 5, zero), divide<int>(least, (int)0x80000000 + zero, minus), divide<long long>(wide, (long long)(1ull << 63) + zero, minus);
  long long found[] = {i[0], i[2], u[0], (long long)w[0], c[0], i[1], i[3], u[1], (long long)w[1], c[1], least[0], least[1], wide[0], wide[1]};
  for (int k = 0; k < 14; ++k)
    to[k] = found[k];
}

// A fault where the allocator is locked cannot be gone on from. What is freed is a page, or a sanitizer's allocator refuses it unread.
// FREES: error: kernel 'frees(int*, int){{.*}}', block (0,0,0): fault at address 0x{{.*}} in the runtime itself: the kernel may have written to the host's memory; the process cannot go on
// FREES-NOT: after
__global__ void frees(int *p, int n) { free((void *)(size_t)(0x2000 + 0x1000 * n)); }

__global__ void fine(int *p, int n) { p[threadIdx.x] = n + threadIdx.x; }

// STREAMS: launch cudaSuccess
// STREAMS: error: kernel 'wild(int*, int)
// STREAMS: streams cudaErrorIllegalAddress cudaErrorIllegalAddress
// STREAMS: after reset: 42
static void streams() {
  cudaStream_t s[2];
  int *p[2];
  for (int i = 0; i < 2; ++i)
    cudaStreamCreate(&s[i]), cudaMalloc(&p[i], 1 << 20);
  for (int round = 0; round < 50; ++round)
    fine<<<200, 256, 0, s[1]>>>(p[1], round);
  wild<<<4, 32, 0, s[0]>>>(p[0], 1);
  printf("launch %s\n", cudaGetErrorName(cudaGetLastError()));
  fflush(stdout);
  for (int round = 0; round < 50; ++round)
    fine<<<200, 256, 0, s[1]>>>(p[1], round);
  cudaError_t first = cudaStreamSynchronize(s[0]), second = cudaStreamSynchronize(s[1]);
  printf("streams %s %s\n", cudaGetErrorName(first), cudaGetErrorName(second));
}

static void check_again() {
  int *p, v[32] = {};
  cudaDeviceReset();
  cudaGetLastError();
  cudaMalloc(&p, sizeof v);
  fine<<<1, 32>>>(p, 42);
  cudaError_t error = cudaMemcpy(v, p, sizeof v, cudaMemcpyDefault);
  if (error != cudaSuccess || v[31] != 73)
    printf("after reset: %s, %d\n", cudaGetErrorName(error), v[31]);
  else
    printf("after reset: %d\n", v[0]);
  fflush(stdout);
}

static void run(const char *name, void (*kernel)(int *, int), int n) {
  int *p, *more;
  cudaMalloc(&p, 64 * sizeof(int));
  cudaMemset(p, 0, 64 * sizeof(int));
  printf("%s:\n", name);
  fflush(stdout);
  kernel<<<2, 32>>>(p, n);
  const char *launch = cudaGetErrorName(cudaGetLastError()), *wait = cudaGetErrorName(cudaDeviceSynchronize());
  cudaGetLastError();
  const char *again = cudaGetErrorName(cudaDeviceSynchronize()), *malloc = cudaGetErrorName(cudaMalloc(&more, 4));
  printf("launch %s wait %s again %s malloc %s\n", launch, wait, again, malloc);
  check_again();
}

// The program's own handlers, from before and for its own faults, go on working.
// HOST: handled 1 2 on the host
// HOST: kernel cudaErrorIllegalAddress
// HOST: handled 3 on the host
// HOST: sent 4
static std::atomic<int> handled;
static sigjmp_buf back;
static void handler(int, siginfo_t *info, void *) {
  handled++;
  if (info->si_code > 0)
    siglongjmp(back, 1);
}
static void fault_on_host() {
  if (sigsetjmp(back, 1) == 0)
    *(volatile int *)8 = 1;
}
static void host() {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  fault_on_host();
  int first = handled;
  int *p;
  cudaMalloc(&p, 256);
  fine<<<2, 32>>>(p, 1);
  cudaDeviceSynchronize();
  fault_on_host();
  printf("handled %d %d on the host\n", first, handled.load());
  wild<<<2, 32>>>(p, 1);
  printf("kernel %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  std::thread([] { fault_on_host(); }).join();
  printf("handled %d on the host\n", handled.load());
  kill(getpid(), SIGSEGV);
  printf("sent %d\n", handled.load());
}

static void quotients() {
  long long *p, v[14] = {};
  cudaMalloc(&p, sizeof v);
  divisions<<<1, 1>>>(p, 0, -1);
  cudaError_t error = cudaMemcpy(v, p, sizeof v, cudaMemcpyDefault);
  printf("quotients %lld %lld %lld %llu %lld and remainders %lld %lld %lld %lld %lld\n", v[0], v[1], v[2], (unsigned long long)v[3], v[4], v[5],
         v[6], v[7], v[8], v[9]);
  printf("of the least number %lld %lld %lld %lld\nwait %s\n", v[10], v[11], v[12], v[13], cudaGetErrorName(error));
}

int main(int, char **argv) {
  if (!strcmp(argv[1], "host")) {
    host();
  } else if (!strcmp(argv[1], "streams")) {
    streams(), check_again();
  } else if (!strcmp(argv[1], "deep")) {
    run("deep", deep, 1);
  } else if (!strcmp(argv[1], "frees")) {
    run("frees", frees, 1);
  } else if (!strcmp(argv[1], "divide")) {
    quotients();
  } else if (!strcmp(argv[1], "off")) {
    run("wild", wild, 1);
    printf("after\n");
  } else if (!strcmp(argv[1], "null-on-host")) {
    check_again();
    *(volatile int *)8 = 1;
    printf("after\n");
  } else {
    run("wild", wild, 1);
    run("reads", reads, 1);
    run("between", between, 1);
    run("waits", waits, 42);
    run("calls", calls, 42);
    run("nowhere", nowhere, 42);
    run("prints", prints, 42);
    run("traps", traps, 42);
    run("breaks", breaks, 42);
  }
}
