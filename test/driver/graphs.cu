// Graphs on the CPU target: built by hand and by capture, launched again and again, changed, refused.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 --offload-arch=cpu -w -I %root/test/integration %s -o %t && %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
// RUN: %regrain -O2 --offload-arch=cpu -w -DCUDA_API_PER_THREAD_DEFAULT_STREAM -I %root/test/integration %s -o %t.ptds && %t.ptds
// RUN: %if nvcc %{ %regrain --cuda-path=%cuda13 -O2 --offload-arch=cpu -w -I %root/test/integration %s -o %t.13 && %t.13 %}
#include "check.h"
#include <chrono>
#include <thread>
#include <vector>

constexpr int N = 1 << 10;

__global__ void add(int *data, int v) { data[blockIdx.x * blockDim.x + threadIdx.x] += v; }
__global__ void multiply(int *data, int v) { data[blockIdx.x * blockDim.x + threadIdx.x] *= v; }
struct Large { double values[5]; char tail; };
__global__ void take(double *out, Large large, char c) { out[threadIdx.x] = large.values[threadIdx.x] + large.tail + c; }

static int calls;
static void count(void *by) { calls += *static_cast<int *>(by); }

static cudaKernelNodeParams launch(void *kernel, void **args, dim3 grid = dim3(N / 256), dim3 block = dim3(256)) {
  cudaKernelNodeParams params = {};
  params.func = kernel, params.gridDim = grid, params.blockDim = block, params.kernelParams = args;
  return params;
}

static void connect(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to, cudaError_t expected = cudaSuccess) {
#if CUDART_VERSION >= 13000
  EXPECT_ERROR(cudaGraphAddDependencies(graph, &from, &to, nullptr, 1), expected);
#else
  EXPECT_ERROR(cudaGraphAddDependencies(graph, &from, &to, 1), expected);
#endif
}

static void by_hand() {
  int *data = managed<int>(N), host[N], three = 3, four = 4, two = 2;
  cudaGraph_t graph;
  cudaGraphExec_t instance;
  OK(cudaGraphCreate(&graph, 0));
  cudaMemsetParams fill = {};
  fill.dst = data, fill.value = 0x01020304, fill.elementSize = 4, fill.width = N, fill.height = 1;
  cudaGraphNode_t filled, added, multiplied, copied, called, empty;
  OK(cudaGraphAddMemsetNode(&filled, graph, nullptr, 0, &fill));
  void *add_args[] = {&data, &three}, *multiply_args[] = {&data, &two};
  auto add_params = launch((void *)add, add_args), multiply_params = launch((void *)multiply, multiply_args);
  // Added in another order than they are done in.
  OK(cudaGraphAddKernelNode(&multiplied, graph, nullptr, 0, &multiply_params));
  OK(cudaGraphAddKernelNode(&added, graph, &filled, 1, &add_params));
  connect(graph, added, multiplied);
  connect(graph, added, multiplied, cudaErrorInvalidValue);
  OK(cudaGraphAddMemcpyNode1D(&copied, graph, &multiplied, 1, host, data, sizeof host, cudaMemcpyDeviceToHost));
  cudaHostNodeParams call = {count, &four};
  OK(cudaGraphAddHostNode(&called, graph, &copied, 1, &call));
  cudaGraphNode_t both[] = {added, called};
  OK(cudaGraphAddEmptyNode(&empty, graph, both, 2));
  // Arguments were copied when the node was made.
  three = two = 100;

  size_t number = 0, roots = 1;
  cudaGraphNode_t nodes[8] = {};
  OK(cudaGraphGetNodes(graph, nullptr, &number));
  EXPECT(number == 6);
  number = 8;
  OK(cudaGraphGetNodes(graph, nodes, &number));
  EXPECT(number == 6 && nodes[0] == filled && nodes[5] == empty && nodes[6] == nullptr);
  OK(cudaGraphGetRootNodes(graph, nodes, &roots));
  EXPECT(roots == 1 && nodes[0] == filled);
  cudaGraphNodeType type;
  OK(cudaGraphNodeGetType(called, &type));
  EXPECT(type == cudaGraphNodeTypeHost);
  size_t edges = 0;
#if CUDART_VERSION >= 13000
  OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
#else
  OK(cudaGraphGetEdges(graph, nullptr, nullptr, &edges));
#endif
  EXPECT(edges == 6);

  OK(cudaGraphInstantiate(&instance, graph, 0));
  calls = 0;
  for (int round = 0; round < 3; ++round) {
    std::memset(host, 0, sizeof host);
    OK(cudaGraphLaunch(instance, 0));
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < N; ++i) EXPECT_AT(i, host[i], (0x01020304 + 3) * 2);
  }
  EXPECT(calls == 12);

  // A node of the instance alone, then all of it from a changed graph.
  int ten = 10;
  void *ten_args[] = {&data, &ten};
  auto ten_params = launch((void *)add, ten_args);
  OK(cudaGraphExecKernelNodeSetParams(instance, added, &ten_params));
  OK(cudaGraphLaunch(instance, 0));
  EXPECT(host[5] == (0x01020304 + 10) * 2);
  EXPECT_ERROR(cudaGraphExecKernelNodeSetParams(instance, copied, &ten_params), cudaErrorInvalidValue);
  cudaGraph_t copy;
  OK(cudaGraphClone(&copy, graph));
  fill.value = 7;
  OK(cudaGraphMemsetNodeSetParams(filled, &fill));
  cudaGraphExecUpdateResultInfo info;
  OK(cudaGraphExecUpdate(instance, graph, &info));
  EXPECT(info.result == cudaGraphExecUpdateSuccess);
  OK(cudaGraphLaunch(instance, 0));
  EXPECT(host[9] == (7 + 3) * 2);
  OK(cudaGraphExecUpdate(instance, copy, &info));
  OK(cudaGraphLaunch(instance, 0));
  EXPECT(host[9] == (0x01020304 + 3) * 2);
  OK(cudaGraphDestroyNode(empty));
  EXPECT_ERROR(cudaGraphExecUpdate(instance, graph, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT(info.result == cudaGraphExecUpdateErrorTopologyChanged);
  EXPECT_ERROR(cudaGraphNodeGetType(empty, &type), cudaErrorInvalidValue);

  // A graph in a graph, and one that goes in a circle.
  cudaGraph_t outer;
  cudaGraphExec_t outer_instance;
  cudaGraphNode_t inner, again;
  OK(cudaGraphCreate(&outer, 0));
  OK(cudaGraphAddChildGraphNode(&inner, outer, nullptr, 0, graph));
  OK(cudaGraphAddKernelNode(&again, outer, &inner, 1, &ten_params));
  OK(cudaGraphInstantiateWithFlags(&outer_instance, outer, 0));
  OK(cudaGraphLaunch(outer_instance, 0));
  EXPECT(data[0] == (7 + 3) * 2 + 10 && host[0] == (7 + 3) * 2);
  connect(outer, again, inner);
  EXPECT_ERROR(cudaGraphInstantiate(&outer_instance, outer, 0), cudaErrorInvalidValue);

  // A launch that cannot be is refused where the node is made; stale handles are known.
  auto wrong = launch((void *)add, ten_args, dim3(1), dim3(2048));
  EXPECT_ERROR(cudaGraphAddKernelNode(&again, outer, nullptr, 0, &wrong), cudaErrorInvalidConfiguration);
  OK(cudaGraphDestroy(graph));
  EXPECT_ERROR(cudaGraphDestroy(graph), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaGraphAddEmptyNode(&again, graph, nullptr, 0), cudaErrorInvalidValue);
  OK(cudaGraphLaunch(instance, 0));
  OK(cudaGraphExecDestroy(instance));
  EXPECT_ERROR(cudaGraphLaunch(instance, 0), cudaErrorInvalidValue);
  cudaGetLastError();
}

static void fills() {
  // Rows of elements of each size, with a pitch.
  unsigned char *data = managed<unsigned char>(256);
  for (unsigned element : {1u, 2u, 4u}) {
    std::memset(data, 0, 256);
    cudaGraph_t graph;
    cudaGraphExec_t instance;
    cudaGraphNode_t node;
    OK(cudaGraphCreate(&graph, 0));
    cudaMemsetParams fill = {};
    fill.dst = data, fill.pitch = 32, fill.value = 0x0a0b0c0d, fill.elementSize = element, fill.width = 3, fill.height = 4;
    OK(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &fill));
    OK(cudaGraphInstantiate(&instance, graph, 0));
    OK(cudaGraphLaunch(instance, 0));
    OK(cudaDeviceSynchronize());
    const unsigned char bytes[] = {0x0d, 0x0c, 0x0b, 0x0a};
    for (int i = 0; i < 256; ++i)
      EXPECT_AT(i, data[i], i / 32 < 4 && i % 32 < int(3 * element) ? bytes[i % 32 % element] : 0);
  }
}

static void captured() {
  int *data = managed<int>(N), host[N], one = 1;
  cudaStream_t stream, other;
  cudaEvent_t forked, joined;
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamCreate(&other));
  OK(cudaEventCreate(&forked));
  OK(cudaEventCreate(&joined));
  double *out = managed<double>(5);
  Large large = {{1, 2, 3, 4, 5}, 6};

  cudaStreamCaptureStatus status;
  OK(cudaStreamIsCapturing(stream, &status));
  EXPECT(status == cudaStreamCaptureStatusNone);
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  OK(cudaStreamIsCapturing(stream, &status));
  EXPECT(status == cudaStreamCaptureStatusActive);
  OK(cudaMemsetAsync(data, 0, N * sizeof(int), stream));
  add<<<N / 256, 256, 0, stream>>>(data, 5);
  OK(cudaEventRecord(forked, stream));
  OK(cudaStreamWaitEvent(other, forked, 0));
  OK(cudaStreamIsCapturing(other, &status));
  EXPECT(status == cudaStreamCaptureStatusActive);
  take<<<1, 5, 0, other>>>(out, large, char(2));
  large.values[0] = 99;
  multiply<<<N / 256, 256, 0, stream>>>(data, 3);
  OK(cudaLaunchHostFunc(other, count, &one));
  OK(cudaEventRecord(joined, other));
  OK(cudaStreamWaitEvent(stream, joined, 0));
  OK(cudaMemcpyAsync(host, data, sizeof host, cudaMemcpyDeviceToHost, stream));
  OK(cudaGetLastError());
  cudaGraph_t graph;
  OK(cudaStreamEndCapture(stream, &graph));
  // Nothing has been done.
  for (int i = 0; i < N; ++i) EXPECT_AT(i, data[i], 0);
  EXPECT(out[0] == 0);

  calls = 0;
  cudaGraphExec_t instance;
  OK(cudaGraphInstantiate(&instance, graph, 0));
  for (int round = 1; round <= 3; ++round) {
    std::memset(host, 0, sizeof host);
    OK(cudaGraphLaunch(instance, stream));
    OK(cudaStreamSynchronize(stream));
    for (int i = 0; i < N; ++i) EXPECT_AT(i, host[i], 15);
    for (int i = 0; i < 5; ++i) EXPECT_AT(i, out[i], i + 1 + 8.0);
    EXPECT(calls == round);
  }
  size_t number = 0;
  OK(cudaGraphGetNodes(graph, nullptr, &number));
  EXPECT(number == 6);

  // A graph that is launched while another is captured is a part of that.
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  OK(cudaGraphLaunch(instance, stream));
  add<<<N / 256, 256, 0, stream>>>(data, 1);
  cudaGraph_t outer;
  OK(cudaStreamEndCapture(stream, &outer));
  EXPECT(calls == 3);
  OK(cudaGraphInstantiate(&instance, outer, 0));
  OK(cudaGraphLaunch(instance, stream));
  OK(cudaStreamSynchronize(stream));
  EXPECT(calls == 4 && data[N - 1] == 16);
}

static void refused() {
  int *data = managed<int>(N);
  cudaStream_t stream, other, apart;
  cudaEvent_t event;
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamCreate(&other));
  OK(cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking));
  OK(cudaEventCreate(&event));
  cudaGraph_t graph = (cudaGraph_t)1;
  cudaStreamCaptureStatus status;
  auto begin = [&](cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
    OK(cudaStreamBeginCapture(stream, mode));
    add<<<N / 256, 256, 0, stream>>>(data, 1);
  };
  auto invalid = [&] {
    OK(cudaStreamIsCapturing(stream, &status));
    EXPECT(status == cudaStreamCaptureStatusInvalidated);
    add<<<N / 256, 256, 0, stream>>>(data, 1);
    EXPECT_ERROR(cudaGetLastError(), cudaErrorStreamCaptureInvalidated);
    EXPECT_ERROR(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    EXPECT(graph == nullptr);
    OK(cudaStreamIsCapturing(stream, &status));
    EXPECT(status == cudaStreamCaptureStatusNone);
    cudaGetLastError();
  };

  EXPECT_ERROR(cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
  EXPECT_ERROR(cudaStreamEndCapture(stream, &graph), cudaErrorInvalidValue);
  begin();
  EXPECT_ERROR(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
  invalid();
  begin();
  EXPECT_ERROR(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
  invalid();
  begin();
  add<<<1, 1, 0, cudaStreamLegacy>>>(data, 1);
  EXPECT_ERROR(cudaGetLastError(), cudaErrorStreamCaptureImplicit);
  invalid();
  begin();
  OK(cudaEventRecord(event, stream));
  EXPECT_ERROR(cudaEventQuery(event), cudaErrorCapturedEvent);
  invalid();
  OK(cudaEventRecord(event, other));
  begin();
  EXPECT_ERROR(cudaStreamWaitEvent(stream, event, 0), cudaErrorStreamCaptureIsolation);
  invalid();
  begin();
  void *pointer;
  EXPECT_ERROR(cudaMalloc(&pointer, 64), cudaErrorStreamCaptureUnsupported);
  invalid();

  // Work that nothing joins, and a capture that is ended where it did not begin.
  begin();
  OK(cudaEventRecord(event, stream));
  OK(cudaStreamWaitEvent(other, event, 0));
  add<<<1, 1, 0, other>>>(data, 1);
  EXPECT_ERROR(cudaStreamEndCapture(other, &graph), cudaErrorStreamCaptureUnmatched);
  invalid();
  begin();
  OK(cudaEventRecord(event, stream));
  OK(cudaStreamWaitEvent(other, event, 0));
  add<<<1, 1, 0, other>>>(data, 1);
  EXPECT_ERROR(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureUnjoined);
  begin();
  cudaError_t elsewhere = cudaSuccess;
  std::thread([&] { elsewhere = cudaStreamEndCapture(stream, &graph); }).join();
  EXPECT(elsewhere == cudaErrorStreamCaptureWrongThread);
  invalid();

  // Two captures do not become one.
  begin();
  OK(cudaStreamBeginCapture(other, cudaStreamCaptureModeGlobal));
  OK(cudaEventRecord(event, other));
  EXPECT_ERROR(cudaStreamWaitEvent(stream, event, 0), cudaErrorStreamCaptureMerge);
  EXPECT_ERROR(cudaStreamEndCapture(other, &graph), cudaErrorStreamCaptureInvalidated);
  invalid();

  // Allocation might wait for all streams, unless the thread says that it knows what it does, or the capture is another thread's own.
  begin();
  EXPECT_ERROR(cudaMalloc(&pointer, 64), cudaErrorStreamCaptureUnsupported);
  invalid();
  OK(cudaMalloc(&pointer, 64));
  begin();
  EXPECT_ERROR(cudaFree(pointer), cudaErrorStreamCaptureUnsupported);
  invalid();
  OK(cudaFree(pointer));
  begin();
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  OK(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT(mode == cudaStreamCaptureModeGlobal);
  OK(cudaMalloc(&pointer, 64));
  OK(cudaFree(pointer));
  OK(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT(mode == cudaStreamCaptureModeRelaxed);
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphDestroy(graph));
  begin(cudaStreamCaptureModeThreadLocal);
  std::thread([&] { elsewhere = cudaMalloc(&pointer, 64); }).join();
  EXPECT(elsewhere == cudaSuccess);
  EXPECT_ERROR(cudaFree(pointer), cudaErrorStreamCaptureUnsupported);
  invalid();
  OK(cudaFree(pointer));

  // A relaxed one leaves the rest alone.
  begin(cudaStreamCaptureModeRelaxed);
  OK(cudaDeviceSynchronize());
  int *copy = managed<int>(1);
  OK(cudaMemcpy(copy, data, sizeof(int), cudaMemcpyDefault));
  add<<<1, 1, 0, apart>>>(copy, 41);
  OK(cudaStreamSynchronize(apart));
  EXPECT(copy[0] == 41);
  OK(cudaStreamEndCapture(stream, &graph));
  for (int i = 0; i < N; ++i) EXPECT_AT(i, data[i], 0);
  cudaGetLastError();
}

static void said() {
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  cudaStreamCaptureStatus status;
  unsigned long long id = 0, second = 0;
  cudaGraph_t graph = nullptr, ended;
  const cudaGraphNode_t *last = nullptr;
  size_t number = 9;
  auto ask = [&](unsigned long long *id) {
#if CUDART_VERSION >= 13000
    const cudaGraphEdgeData *data;
    return cudaStreamGetCaptureInfo(stream, &status, id, &graph, &last, &data, &number);
#else
    return cudaStreamGetCaptureInfo(stream, &status, id, &graph, &last, &number);
#endif
  };
  OK(ask(&id));
  EXPECT(status == cudaStreamCaptureStatusNone && id == 0 && number == 9);
  int *data = managed<int>(N);
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  add<<<1, 1, 0, stream>>>(data, 1);
  OK(ask(&id));
  EXPECT(status == cudaStreamCaptureStatusActive && id != 0 && graph != nullptr && number == 1);
  OK(ask(&second));
  EXPECT(second == id);
  OK(cudaStreamEndCapture(stream, &ended));
  EXPECT(ended == graph);
  cudaGraphNode_t node;
  number = 1;
  OK(cudaGraphGetNodes(ended, &node, &number));
  EXPECT(number == 1);
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  OK(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT(mode == cudaStreamCaptureModeGlobal);
  OK(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT(mode == cudaStreamCaptureModeRelaxed);
}

int main() {
  by_hand();
  fills();
  captured();
  refused();
  said();
  return result();
}
