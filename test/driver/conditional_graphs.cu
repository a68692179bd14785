// Graphs with conditional nodes on the CPU target: values that kernels set, bodies built by hand and by capture, and what is refused.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 --offload-arch=cpu -w -I %root/test/integration %s -o %t && %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
// RUN: %if nvcc %{ %regrain --cuda-path=%cuda13 -O2 --offload-arch=cpu -w -I %root/test/integration %s -o %t.13 && %t.13 %}
#include "check.h"

__global__ void choose(int *from, cudaGraphConditionalHandle handle) { cudaGraphSetConditional(handle, *from); }
__global__ void add(int *to, int v) { *to += v; }
__global__ void count_down(int *left, int *rounds, cudaGraphConditionalHandle handle) {
  ++*rounds;
  if (threadIdx.x == 0) cudaGraphSetConditional(handle, --*left > 0);
}

static cudaGraphNode_t put(cudaGraph_t graph, cudaGraphNodeParams *params, cudaGraphNode_t after = nullptr,
                           cudaError_t expected = cudaSuccess) {
  cudaGraphNode_t node = nullptr;
#if CUDART_VERSION >= 13000
  EXPECT_ERROR(cudaGraphAddNode(&node, graph, &after, nullptr, after != nullptr, params), expected);
#else
  EXPECT_ERROR(cudaGraphAddNode(&node, graph, &after, after != nullptr, params), expected);
  cudaGraphNode_t again = nullptr;
  cudaGraphNodeParams unknown = *params;
  unknown.type = cudaGraphNodeTypeCount;
  EXPECT_ERROR(cudaGraphAddNode_v2(&again, graph, nullptr, nullptr, 0, &unknown), cudaErrorInvalidValue);
#endif
  return node;
}

static cudaGraphNode_t put_kernel(cudaGraph_t graph, void *kernel, void **args, cudaGraphNode_t after = nullptr) {
  cudaGraphNodeParams params = {cudaGraphNodeTypeKernel};
  params.kernel.func = kernel, params.kernel.gridDim = dim3(1), params.kernel.blockDim = dim3(1);
  params.kernel.kernelParams = args;
  return put(graph, &params, after);
}

static cudaGraphNodeParams condition(cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type, int size) {
  cudaGraphNodeParams params = {cudaGraphNodeTypeConditional};
  params.conditional.handle = handle, params.conditional.type = type, params.conditional.size = size;
  return params;
}

struct Numbers {
  int *at;
  Numbers() {
    OK(cudaMallocManaged(&at, 8 * sizeof(int)));
    OK(cudaMemset(at, 0, 8 * sizeof(int)));
  }
  ~Numbers() { OK(cudaFree(at)); }
  int &operator[](int i) { return at[i]; }
};

static void launch(cudaGraphExec_t exec) {
  OK(cudaGraphLaunch(exec, 0));
  OK(cudaDeviceSynchronize());
}

// A kernel's value chooses a body: if, if and else, one of many.
static void choices() {
  for (int size = 1; size <= 4; ++size) {
    Numbers n;
    cudaGraph_t graph;
    OK(cudaGraphCreate(&graph, 0));
    cudaGraphConditionalHandle handle;
    OK(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0));
    void *args[] = {&n.at, &handle};
    cudaGraphNode_t first = put_kernel(graph, (void *)choose, args);
    auto type = size < 3 ? cudaGraphCondTypeIf : cudaGraphCondTypeSwitch;
    cudaGraphNodeParams params = condition(handle, type, size);
    cudaGraphNode_t node = put(graph, &params, first);
    cudaGraphNodeType kind;
    OK(cudaGraphNodeGetType(node, &kind));
    EXPECT(kind == cudaGraphNodeTypeConditional);
    for (int body = 0; body < size; ++body) {
      int *to = n.at + 1 + body, v = 10 + body;
      void *args[] = {&to, &v};
      put_kernel(params.conditional.phGraph_out[body], (void *)add, args);
    }
    cudaGraphExec_t exec;
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int value = 0; value < 5; ++value) {
      for (int i = 1; i < 8; ++i) n[i] = 0;
      n[0] = value;
      launch(exec);
      int chosen = size < 3 ? (value ? 0 : 1) : value;
      for (int body = 0; body < size; ++body) EXPECT(n[1 + body] == (body == chosen ? 10 + body : 0));
    }
    cudaGraph_t copy;
    EXPECT_ERROR(cudaGraphClone(&copy, graph), cudaErrorNotSupported);
    cudaGraph_t around;
    OK(cudaGraphCreate(&around, 0));
    cudaGraphNode_t child;
    EXPECT_ERROR(cudaGraphAddChildGraphNode(&child, around, nullptr, 0, graph), cudaErrorNotSupported);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphDestroy(around));
  }
}

// Rounds of a body that is captured, with a value at the beginning of each launch, and a loop in a loop.
static void loops() {
  Numbers n;
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle outer, inner;
  OK(cudaGraphConditionalHandleCreate(&outer, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams params = condition(outer, cudaGraphCondTypeWhile, 1);
  put(graph, &params);
  cudaGraph_t body = params.conditional.phGraph_out[0];
  OK(cudaGraphConditionalHandleCreate(&inner, body, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams nested = condition(inner, cudaGraphCondTypeWhile, 1);
  cudaGraphNode_t loop = put(body, &nested);

  OK(cudaStreamBeginCaptureToGraph(stream, nested.conditional.phGraph_out[0], nullptr, nullptr, 0,
                                      cudaStreamCaptureModeGlobal));
  count_down<<<1, 1, 0, stream>>>(n.at + 2, n.at + 3, inner);
  OK(cudaStreamEndCapture(stream, nullptr));
  OK(cudaStreamBeginCaptureToGraph(stream, body, &loop, nullptr, 1, cudaStreamCaptureModeGlobal));
  OK(cudaMemsetAsync(n.at + 2, 0, 1, stream));
  add<<<1, 1, 0, stream>>>(n.at + 2, 3);
  choose<<<1, 1, 0, stream>>>(n.at + 2, inner);
  count_down<<<1, 1, 0, stream>>>(n.at, n.at + 1, outer);
  cudaGraph_t ended;
  OK(cudaStreamEndCapture(stream, &ended));
  EXPECT(ended == body);
  EXPECT_ERROR(cudaStreamEndCapture(stream, nullptr), cudaErrorInvalidValue);

  cudaGraphExec_t exec;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  for (int round = 0; round < 2; ++round) {
    n[0] = 4, n[1] = 0, n[2] = 2, n[3] = 0;
    launch(exec);
    // Two rounds of the inner loop with what the host wrote, then three in each further round of the outer one.
    EXPECT(n[0] == 0 && n[1] == 4 && n[2] == 3);
    EXPECT(n[3] == 2 + 3 * 3);
  }
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
  OK(cudaStreamDestroy(stream));
}

// A node that is put by hand into what a stream captures.
static void in_capture() {
  Numbers n;
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  cudaStreamCaptureStatus status;
  cudaGraph_t graph, whole;
  const cudaGraphNode_t *last;
  size_t count;
#if CUDART_VERSION >= 13000
  auto info = [&] { OK(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, &last, nullptr, &count)); };
#else
  auto info = [&] { OK(cudaStreamGetCaptureInfo_v2(stream, &status, nullptr, &graph, &last, &count)); };
#endif
  info();
  cudaGraphConditionalHandle handle;
  OK(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0));
  choose<<<1, 1, 0, stream>>>(n.at, handle);
  info();
  EXPECT(count == 1);
  cudaGraphNodeParams params = condition(handle, cudaGraphCondTypeWhile, 1);
  cudaGraphNode_t before = last[0], node = put(graph, &params, before);
#if CUDART_VERSION >= 13000
  OK(cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1, cudaStreamSetCaptureDependencies));
#else
  OK(cudaStreamUpdateCaptureDependencies(stream, &node, 1, cudaStreamSetCaptureDependencies));
#endif
  add<<<1, 1, 0, stream>>>(n.at + 2, 100);
  OK(cudaStreamEndCapture(stream, &whole));
  OK(cudaStreamBeginCaptureToGraph(stream, params.conditional.phGraph_out[0], nullptr, nullptr, 0,
                                      cudaStreamCaptureModeRelaxed));
  count_down<<<1, 1, 0, stream>>>(n.at, n.at + 1, handle);
  OK(cudaStreamEndCapture(stream, nullptr));

  cudaGraphNode_t beside[4];
  count = 4;
#if CUDART_VERSION >= 13000
  OK(cudaGraphNodeGetDependencies(node, beside, nullptr, &count));
  EXPECT(count == 1 && beside[0] == before);
  OK(cudaGraphNodeGetDependentNodes(node, nullptr, nullptr, &count));
#else
  OK(cudaGraphNodeGetDependencies(node, beside, &count));
  EXPECT(count == 1 && beside[0] == before);
  OK(cudaGraphNodeGetDependentNodes(node, nullptr, &count));
#endif
  EXPECT(count == 1);

  cudaGraphExec_t exec;
  OK(cudaGraphInstantiate(&exec, whole, 0));
  for (int rounds = 0; rounds < 4; ++rounds) {
    n[0] = rounds, n[1] = n[2] = 0;
    launch(exec);
    EXPECT(n[0] == 0 && n[1] == rounds && n[2] == 100);
  }
  // What has conditional nodes is no part of another graph, by capture neither.
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_ERROR(cudaGraphLaunch(exec, stream), cudaErrorNotSupported);
  EXPECT_ERROR(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(whole));
  OK(cudaStreamDestroy(stream));
}

static void refused() {
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle handle;
  OK(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0));
  EXPECT_ERROR(cudaGraphConditionalHandleCreate(&handle, nullptr, 0, 0), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaGraphConditionalHandleCreate(&handle, graph, 0, 2), cudaErrorInvalidValue);
  cudaGraphNodeParams bad[] = {condition(handle, cudaGraphCondTypeIf, 3), condition(handle, cudaGraphCondTypeWhile, 2),
                               condition(handle, cudaGraphCondTypeSwitch, 0), condition(7, cudaGraphCondTypeIf, 1)};
  for (cudaGraphNodeParams &params : bad) put(graph, &params, nullptr, cudaErrorInvalidValue);
  cudaGraphNodeParams semaphore = {cudaGraphNodeTypeExtSemaphoreSignal}, memory = {cudaGraphNodeTypeMemAlloc};
  put(graph, &semaphore, nullptr, cudaErrorNotSupported);
  put(graph, &memory, nullptr, cudaErrorInvalidValue);
  OK(cudaGraphDestroy(graph));
  // Arrays are allocated like other memory: not while a stream records.
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  cudaArray_t array;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  EXPECT_ERROR(cudaMallocArray(&array, &format, 16, 16), cudaErrorStreamCaptureUnsupported);
  EXPECT_ERROR(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  OK(cudaStreamDestroy(stream));
}

int main() {
  choices();
  loops();
  in_capture();
  refused();
  return result();
}
