// Streams, events, callbacks, asynchronous copies.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"
#include <atomic>
#include <chrono>
#include <thread>

constexpr int N = 1 << 12;

__global__ void add(int *data, int v) { data[blockIdx.x * blockDim.x + threadIdx.x] += v; }
__global__ void multiply(int *data, int v) { data[blockIdx.x * blockDim.x + threadIdx.x] *= v; }

static std::atomic<int> calls;
static void host_function(void *data) {
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  calls += *static_cast<int *>(data);
}
static void callback(cudaStream_t, cudaError_t status, void *data) {
  if (status == cudaSuccess)
    calls += *static_cast<int *>(data);
}

int main() {
  int *a, *b, *host, *back;
  OK(cudaMalloc(&a, N * sizeof(int)));
  OK(cudaMalloc(&b, N * sizeof(int)));
  OK(cudaMallocHost(&host, N * sizeof(int)));
  OK(cudaHostAlloc(&back, N * sizeof(int), cudaHostAllocDefault));
  for (int i = 0; i < N; ++i)
    host[i] = i;
  cudaStream_t s, t;
  OK(cudaStreamCreate(&s));
  OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  cudaEvent_t begin, end, handed, untimed;
  OK(cudaEventCreate(&begin));
  OK(cudaEventCreate(&end));
  OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  OK(cudaEventCreate(&handed));

  // Work on one stream keeps its order; another waits for an event of it.
  OK(cudaEventRecord(begin, s));
  OK(cudaMemcpyAsync(a, host, N * sizeof(int), cudaMemcpyHostToDevice, s));
  add<<<N / 64, 64, 0, s>>>(a, 5);
  multiply<<<N / 64, 64, 0, s>>>(a, 3);
  OK(cudaMemcpyAsync(b, a, N * sizeof(int), cudaMemcpyDeviceToDevice, s));
  OK(cudaEventRecord(handed, s));
  OK(cudaStreamWaitEvent(t, handed, 0));
  add<<<N / 64, 64, 0, t>>>(b, 1);
  OK(cudaMemcpyAsync(back, b, N * sizeof(int), cudaMemcpyDeviceToHost, t));
  OK(cudaEventRecord(end, t));
  OK(cudaEventSynchronize(end));
  for (int i = 0; i < N; ++i)
    EXPECT_AT(i, back[i], (i + 5) * 3 + 1);
  float ms = -1;
  OK(cudaEventElapsedTime(&ms, begin, end));
  EXPECT(ms > 0 && ms < 10000);
  OK(cudaEventQuery(end));
  OK(cudaStreamQuery(t));

  // Host functions run in their place in the stream.
  int one = 1, ten = 10;
  OK(cudaLaunchHostFunc(s, host_function, &one));
  OK(cudaStreamAddCallback(s, callback, &ten, 0));
  OK(cudaEventRecord(end, s));
  OK(cudaStreamSynchronize(s));
  EXPECT_AT(0, calls.load(), 11);
  OK(cudaEventRecord(begin, s));
  OK(cudaLaunchHostFunc(s, host_function, &one));
  OK(cudaEventRecord(end, s));
  OK(cudaEventSynchronize(end));
  OK(cudaEventElapsedTime(&ms, begin, end));
  EXPECT(ms >= 15);

  // The default stream waits for blocking streams, and they for it.
  OK(cudaMemset(a, 0, N * sizeof(int)));
  OK(cudaLaunchHostFunc(s, host_function, &one));
  add<<<N / 64, 64, 0, s>>>(a, 2);
  multiply<<<N / 64, 64>>>(a, 50);
  add<<<N / 64, 64, 0, s>>>(a, 7);
  OK(cudaStreamSynchronize(s));
  OK(cudaMemcpy(back, a, N * sizeof(int), cudaMemcpyDeviceToHost));
  EXPECT(back[0] == 107 && back[N - 1] == 107);

  OK(cudaEventRecord(untimed, s));
  OK(cudaStreamSynchronize(s));
  EXPECT_ERROR(cudaEventElapsedTime(&ms, begin, untimed), cudaErrorInvalidResourceHandle);
  cudaGetLastError();
  int least, greatest;
  OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT(least >= greatest);
  add<<<1, 64, 0, cudaStreamPerThread>>>(a, 1);
  OK(cudaStreamSynchronize(cudaStreamPerThread));
  OK(cudaStreamSynchronize(cudaStreamLegacy));
  OK(cudaEventDestroy(begin));
  OK(cudaStreamDestroy(s));
  OK(cudaStreamDestroy(t));
  OK(cudaFreeHost(host));
  OK(cudaFree(a));
  return result();
}
