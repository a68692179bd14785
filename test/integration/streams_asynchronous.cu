// Streams that are asynchronous: what waits for what. Kernels wait at gates that the host opens, so that it is certain what has not been done
// yet, also where one OS thread runs all blocks. Where work is done at once all gates are open from the start.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: env REGRAIN_CPU_THREADS=2 %t
// RUN: env REGRAIN_CPU_THREADS=3 REGRAIN_CPU_MODE=coroutine %t
// RUN: env REGRAIN_CPU_STREAMS=synchronous %t
// RUN: env REGRAIN_CPU_THREADS=1 %t
// RUN: env REGRAIN_CPU_SEED=5 %t
// RUN: env REGRAIN_CPU_STREAMS=later %t 2>&1 | FileCheck %s
// CHECK: warning: expected REGRAIN_CPU_STREAMS to be 'asynchronous' or 'synchronous', got 'later'
// RUN: %regrain -O2 --default-stream per-thread -DPER_THREAD --offload-arch=cpu %s -o %t.per_thread
// RUN: env REGRAIN_CPU_THREADS=2 %t.per_thread
// CPU-ONLY: how kernels of different streams overlap is the chip's there.
#include "check.h"
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

constexpr int N = 1 << 12, kLarge = 1 << 18;

static bool is_set(const char *name, const char *value) {
  const char *found = std::getenv(name);
  return found && (!value || !std::strcmp(found, value));
}
static const bool at_once = is_set("REGRAIN_CPU_STREAMS", "synchronous") || is_set("REGRAIN_CPU_SEED", nullptr);

__global__ void wait_at(const volatile int *gate) {
  while (*gate == 0)
    ;
}
__global__ void open_gate(volatile int *gate) { *gate = 1; }
__global__ void add(int *data, int v) { data[blockIdx.x * blockDim.x + threadIdx.x] += v; }
__global__ void multiply(int *data, int v) { data[blockIdx.x * blockDim.x + threadIdx.x] *= v; }
__global__ void fail(int *data) {
  if (data[0] >= 0)
    __trap();
}

static void pause_for(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

// A gate that a stream waits at.
struct Gate {
  int *flag;
  std::thread opener;
  explicit Gate(cudaStream_t stream) {
    OK(cudaHostAlloc(&flag, sizeof(int), cudaHostAllocDefault));
    *flag = at_once;
    wait_at<<<1, 1, 0, stream>>>(flag);
    OK(cudaGetLastError());
  }
  void open() { __atomic_store_n(flag, 1, __ATOMIC_SEQ_CST); }
  // Opens it after a while, for what waits meanwhile.
  void open_soon() {
    opener = std::thread([this] { pause_for(30), open(); });
  }
  bool is_open() const { return __atomic_load_n(flag, __ATOMIC_SEQ_CST); }
  ~Gate() {
    if (opener.joinable())
      opener.join();
  }
};

static const cudaError_t pending = at_once ? cudaSuccess : cudaErrorNotReady;

static int *pinned(int count) {
  int *memory;
  OK(cudaMallocHost(&memory, count * sizeof(int)));
  std::memset(memory, 0, count * sizeof(int));
  return memory;
}

static int *on_device(int count) {
  int *memory;
  OK(cudaMalloc(&memory, count * sizeof(int)));
  OK(cudaMemset(memory, 0, count * sizeof(int)));
  return memory;
}

static cudaStream_t stream(unsigned flags = cudaStreamDefault) {
  cudaStream_t made;
  OK(cudaStreamCreateWithFlags(&made, flags));
  return made;
}

static void events() {
  cudaStream_t producer = stream(cudaStreamNonBlocking), consumer = stream(cudaStreamNonBlocking), other = stream();
  cudaEvent_t begin, made, unused;
  OK(cudaEventCreate(&begin));
  OK(cudaEventCreate(&made));
  OK(cudaEventCreate(&unused));
  int *data = on_device(N), *result = pinned(N), *apart = on_device(N);
  OK(cudaEventRecord(begin, producer));
  Gate gate(producer);
  add<<<N / 64, 64, 0, producer>>>(data, 5);
  OK(cudaEventRecord(made, producer));
  OK(cudaStreamWaitEvent(consumer, made, 0));
  OK(cudaStreamWaitEvent(consumer, unused, 0));
  multiply<<<N / 64, 64, 0, consumer>>>(data, 3);
  OK(cudaMemcpyAsync(result, data, N * sizeof(int), cudaMemcpyDeviceToHost, consumer));
  // Who waits for nothing goes on.
  add<<<N / 64, 64, 0, other>>>(apart, 1);
  OK(cudaStreamSynchronize(other));
  int first = 0;
  OK(cudaMemcpyAsync(&first, apart, sizeof(int), cudaMemcpyDeviceToHost, other));
  EXPECT(first == 1);
  EXPECT_ERROR(cudaStreamQuery(producer), pending);
  EXPECT_ERROR(cudaStreamQuery(consumer), pending);
  EXPECT_ERROR(cudaEventQuery(made), pending);
  OK(cudaStreamQuery(other));
  OK(cudaGetLastError());
  float ms = 0;
  EXPECT_ERROR(cudaEventElapsedTime(&ms, begin, made), pending);
  cudaGetLastError();
  pause_for(20);
  EXPECT(at_once || result[7] == 0);
  gate.open();
  OK(cudaEventSynchronize(made));
  OK(cudaEventElapsedTime(&ms, begin, made));
  EXPECT(at_once || ms >= 15);
  OK(cudaStreamSynchronize(consumer));
  for (int i = 0; i < N; ++i)
    EXPECT_AT(i, result[i], 15);
  // An event that is recorded again counts from then on.
  Gate second(producer);
  OK(cudaEventRecord(made, producer));
  EXPECT_ERROR(cudaEventQuery(made), pending);
  OK(cudaEventDestroy(begin));
  second.open();
  OK(cudaEventSynchronize(made));
  OK(cudaStreamDestroy(producer));
  OK(cudaStreamDestroy(consumer));
}

static void legacy() {
  cudaStream_t one = stream(), other = stream(), apart = stream(cudaStreamNonBlocking);
  int *data = on_device(N), *free_data = on_device(N), *result = pinned(N);
  {
    Gate gate(one);
    add<<<N / 64, 64, 0, one>>>(data, 2);
    multiply<<<N / 64, 64, 0, cudaStreamLegacy>>>(data, 50);
    add<<<N / 64, 64, 0, other>>>(data, 7);
    add<<<N / 64, 64, 0, apart>>>(free_data, 9);
    OK(cudaStreamSynchronize(apart));
    EXPECT_ERROR(cudaStreamQuery(other), pending);
    EXPECT_ERROR(cudaStreamQuery(cudaStreamLegacy), pending);
    OK(cudaMemcpyAsync(result, free_data, sizeof(int), cudaMemcpyDeviceToHost, apart));
    OK(cudaStreamSynchronize(apart));
    EXPECT(result[0] == 9);
    gate.open();
    OK(cudaStreamSynchronize(other));
  }
  OK(cudaMemcpy(result, data, N * sizeof(int), cudaMemcpyDeviceToHost));
  EXPECT(result[0] == 107 && result[N - 1] == 107);
#ifndef PER_THREAD
  // A copy that is waited for waits for all streams that block, and for none that does not.
  Gate gate(one), aside(apart);
  add<<<N / 64, 64, 0, one>>>(data, 1);
  gate.open_soon();
  OK(cudaMemcpy(result, data, N * sizeof(int), cudaMemcpyDeviceToHost));
  EXPECT(gate.is_open() && (at_once || !aside.is_open()));
  EXPECT(result[0] == 108 && result[N - 1] == 108);
  // So does what frees memory, for all of them.
  aside.open_soon();
  OK(cudaFree(free_data));
  EXPECT(aside.is_open());
#endif
}

static void pageable() {
  cudaStream_t to = stream();
  int *data = on_device(kLarge), *result = pinned(kLarge), small[64], back[64] = {};
  std::vector<int> large(kLarge, 4);
  for (int i = 0; i < 64; ++i)
    small[i] = i;
  {
    Gate gate(to);
    OK(cudaMemcpyAsync(data, small, sizeof small, cudaMemcpyHostToDevice, to));
    std::memset(small, 0, sizeof small);
    EXPECT_ERROR(cudaStreamQuery(to), pending);
    gate.open();
    OK(cudaMemcpyAsync(result, data, sizeof small, cudaMemcpyDeviceToHost, to));
    OK(cudaStreamSynchronize(to));
    for (int i = 0; i < 64; ++i)
      EXPECT_AT(i, result[i], i);
  }
  {
    Gate gate(to);
    add<<<1, 64, 0, to>>>(data, 1);
    gate.open_soon();
    OK(cudaMemcpyAsync(back, data, sizeof back, cudaMemcpyDeviceToHost, to));
    EXPECT(back[0] == 1 && back[63] == 64);
  }
  Gate gate(to);
  gate.open_soon();
  OK(cudaMemcpyAsync(data, large.data(), kLarge * sizeof(int), cudaMemcpyHostToDevice, to));
  std::fill(large.begin(), large.end(), 0);
  OK(cudaMemcpyAsync(result, data, kLarge * sizeof(int), cudaMemcpyDeviceToHost, to));
  OK(cudaStreamSynchronize(to));
  EXPECT(result[0] == 4 && result[kLarge - 1] == 4);
  // Rows.
  OK(cudaMemset2DAsync(data, 64, 0, 64, 64, to));
  OK(cudaMemset2DAsync(data, 64, 1, 16, 64, to));
  OK(cudaMemcpy2DAsync(result, 32, data, 64, 32, 64, cudaMemcpyDeviceToHost, to));
  OK(cudaStreamSynchronize(to));
  for (int i = 0; i < 64 * 8; ++i)
    EXPECT_AT(i, result[i], i % 8 < 4 ? 0x01010101 : 0);
  EXPECT_ERROR(cudaMemcpyAsync(small, back, sizeof small, cudaMemcpyHostToDevice, to), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaMemset2DAsync(data, 8, 0, 16, 2, to), cudaErrorInvalidPitchValue);
  cudaGetLastError();
}

static void memory() {
  cudaStream_t to = stream();
  int *result = pinned(N), *data;
  Gate gate(to);
  OK(cudaMallocAsync(&data, N * sizeof(int), to));
  OK(cudaMemsetAsync(data, 0, N * sizeof(int), to));
  add<<<N / 64, 64, 0, to>>>(data, 3);
  OK(cudaMemcpyAsync(result, data, N * sizeof(int), cudaMemcpyDeviceToHost, to));
  OK(cudaFreeAsync(data, to));
  EXPECT_ERROR(cudaFreeAsync(data, to), cudaErrorInvalidValue);
  // What is allocated now is other memory as long as that is used.
  cudaStream_t apart = stream(cudaStreamNonBlocking);
  for (int i = 0; i < 64; ++i) {
    int *other;
    OK(cudaMalloc(&other, N * sizeof(int)));
    OK(cudaMemsetAsync(other, 0xff, N * sizeof(int), apart));
  }
  OK(cudaStreamSynchronize(apart));
  gate.open();
  OK(cudaStreamSynchronize(to));
  EXPECT(result[0] == 3 && result[N - 1] == 3);
  if (!at_once)
    EXPECT_ERROR(cudaFree(data), cudaErrorInvalidValue);
  cudaGetLastError();
}

struct Order {
  std::atomic<int> next{0};
  int seen[8] = {};
  cudaError_t inside = cudaSuccess;
  cudaStream_t of = nullptr;
};
static void note(void *data) {
  auto *order = (Order *)data;
  order->seen[order->next++] = 1;
}
static void note_and_wait(void *data) {
  auto *order = (Order *)data;
  order->seen[order->next++] = 2;
  order->inside = cudaStreamSynchronize(order->of);
}
static void called_back(cudaStream_t of, cudaError_t status, void *data) {
  auto *order = (Order *)data;
  order->seen[order->next++] = of == order->of && status == cudaSuccess ? 3 : -1;
}

static void host_functions() {
  cudaStream_t to = stream(), other = stream(cudaStreamNonBlocking);
  Order order;
  order.of = to;
  int *data = on_device(N), *result = pinned(1);
  Gate gate(to);
  OK(cudaLaunchHostFunc(to, note, &order));
  OK(cudaLaunchHostFunc(to, note_and_wait, &order));
  add<<<N / 64, 64, 0, to>>>(data, 3);
  OK(cudaStreamAddCallback(to, called_back, &order, 0));
  OK(cudaLaunchHostFunc(other, note, &order));
  OK(cudaStreamSynchronize(other));
  EXPECT(at_once || order.next == 1);
  gate.open();
  OK(cudaStreamSynchronize(to));
  EXPECT(order.next == 4 && order.inside == (at_once ? cudaSuccess : cudaErrorNotPermitted));
  const int expected[2][4] = {{1, 1, 2, 3}, {1, 2, 3, 1}};
  for (int i = 0; i < 4; ++i)
    EXPECT_AT(i, order.seen[i], expected[at_once][i]);
  OK(cudaMemcpyAsync(result, data, sizeof(int), cudaMemcpyDeviceToHost, to));
  OK(cudaDeviceSynchronize());
  EXPECT(*result == 3);
}

static void per_thread() {
  // A kernel of one thread waits for one of another.
  int *gate = pinned(1), *data = on_device(N), result[2] = {};
  *gate = at_once;
  std::thread waits([&] {
    wait_at<<<1, 1, 0, cudaStreamPerThread>>>(gate);
    add<<<N / 64, 64, 0, cudaStreamPerThread>>>(data, 4);
    OK(cudaMemcpyAsync(result, data, sizeof(int), cudaMemcpyDeviceToHost, cudaStreamPerThread));
    OK(cudaStreamSynchronize(cudaStreamPerThread));
  });
  pause_for(20);
  std::thread([&] {
    OK(cudaStreamQuery(cudaStreamPerThread));
    open_gate<<<1, 1, 0, cudaStreamPerThread>>>(gate);
    OK(cudaStreamSynchronize(cudaStreamPerThread));
  }).join();
  waits.join();
  EXPECT(result[0] == 4);
  // It waits for the legacy stream, and that for it.
  cudaStream_t other = stream();
  Gate closed(other);
  multiply<<<N / 64, 64, 0, cudaStreamLegacy>>>(data, 2);
  add<<<N / 64, 64, 0, cudaStreamPerThread>>>(data, 1);
  EXPECT_ERROR(cudaStreamQuery(cudaStreamPerThread), pending);
  closed.open();
  OK(cudaMemcpyAsync(result, data, sizeof(int), cudaMemcpyDeviceToHost, cudaStreamPerThread));
  EXPECT(result[0] == 9);
  // Threads that use one stream do not run in it at the same time.
  cudaStream_t shared = stream();
  OK(cudaMemset(data, 0, N * sizeof(int)));
  auto many = [&] {
    for (int i = 0; i < 200; ++i)
      add<<<4, 64, 0, shared>>>(data, 1);
  };
  std::thread helper(many);
  many();
  helper.join();
  OK(cudaMemcpyAsync(result, data, sizeof(int), cudaMemcpyDeviceToHost, shared));
  OK(cudaStreamSynchronize(shared));
  EXPECT(result[0] == 400);
}

static void graphs() {
  cudaStream_t to = stream(), other = stream(cudaStreamNonBlocking);
  int *data = on_device(N), *result = pinned(N);
  cudaGraph_t graph;
  cudaGraphExec_t instance;
  OK(cudaStreamBeginCapture(to, cudaStreamCaptureModeGlobal));
  add<<<N / 64, 64, 0, to>>>(data, 1);
  multiply<<<N / 64, 64, 0, to>>>(data, 2);
  OK(cudaMemcpyAsync(result, data, N * sizeof(int), cudaMemcpyDeviceToHost, to));
  OK(cudaStreamEndCapture(to, &graph));
  OK(cudaGraphInstantiate(&instance, graph, 0));
  Gate gate(other);
  OK(cudaGraphLaunch(instance, other));
  OK(cudaGraphLaunch(instance, other));
  OK(cudaGraphExecDestroy(instance));
  pause_for(10);
  EXPECT(at_once || result[1] == 0);
  OK(cudaStreamDestroy(other));
  gate.open();
  OK(cudaDeviceSynchronize());
  EXPECT(result[0] == 6 && result[N - 1] == 6);
}

// Kernels that found their gates open, and one that does not; a default stream that waits for an event.
static void gates() {
  cudaStream_t to = stream(cudaStreamNonBlocking);
  cudaEvent_t passed;
  OK(cudaEventCreate(&passed));
  int *data = on_device(N), *result = pinned(1);
  for (int i = 0; i < 40; ++i) {
    Gate gate(to);
    gate.open();
    OK(cudaStreamSynchronize(to));
  }
  Gate gate(to);
  add<<<1, 64, 0, to>>>(data, 5);
  OK(cudaEventRecord(passed, to));
  OK(cudaStreamWaitEvent(cudaStreamLegacy, passed, 0));
  multiply<<<1, 64, 0, cudaStreamLegacy>>>(data, 2);
  OK(cudaStreamWaitEvent(cudaStreamPerThread, passed, 0));
  OK(cudaMemcpyAsync(result, data, sizeof(int), cudaMemcpyDeviceToHost, cudaStreamPerThread));
  EXPECT_ERROR(cudaStreamQuery(cudaStreamPerThread), pending);
  gate.open();
  OK(cudaStreamSynchronize(cudaStreamPerThread));
  EXPECT(*result == 10);
}

// More than a stream keeps.
static void many() {
  cudaStream_t to = stream();
  int *data = on_device(N), *result = pinned(N);
  Gate gate(to);
  gate.open_soon();
  for (int i = 0; i < 3000; ++i)
    add<<<1, 64, 0, to>>>(data, 1);
  OK(cudaMemcpyAsync(result, data, N * sizeof(int), cudaMemcpyDeviceToHost, to));
  OK(cudaStreamSynchronize(to));
  EXPECT(result[0] == 3000 && result[63] == 3000 && result[64] == 0);
}

static void failures_of_kernels() {
  cudaStream_t to = stream(), other = stream(cudaStreamNonBlocking);
  int *data = on_device(N);
  Order order;
  Gate gate(to);
  fail<<<1, 1, 0, to>>>(data);
  OK(cudaStreamAddCallback(to, called_back, &order, 0));
  EXPECT_ERROR(cudaGetLastError(), at_once ? cudaErrorLaunchFailure : cudaSuccess);
  if (!at_once)
    OK(cudaStreamSynchronize(other));
  gate.open();
  EXPECT_ERROR(cudaStreamSynchronize(to), cudaErrorLaunchFailure);
  EXPECT(order.next == 1 && order.seen[0] == -1);
  EXPECT_ERROR(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  add<<<1, 64, 0, other>>>(data, 1);
  EXPECT_ERROR(cudaGetLastError(), cudaErrorLaunchFailure);
}

int main() {
  events();
  legacy();
  pageable();
  memory();
  host_functions();
  per_thread();
  graphs();
  gates();
  many();
  failures_of_kernels();
  return result();
}
