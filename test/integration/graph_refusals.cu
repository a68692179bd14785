// What graphs on the CPU refuse, each with CUDA's code, and that a refusal changes nothing: the graph runs as before.
// CPU-ONLY: the refusals are the CPU's own.
// RUN: %regrain -O2 --offload-arch=cpu -Wno-deprecated-declarations %s -o %t && timeout 60 %t | FileCheck %s
// RUN: env REGRAIN_CPU_STREAMS=synchronous timeout 60 %t | FileCheck %s
#include "check.h"
#include <vector>

constexpr int N = 64;

__global__ void fill(int *data, int value) { data[threadIdx.x] = value; }

static cudaGraph_t captured(cudaStream_t stream, void (*work)(cudaStream_t, void *), void *data) {
  cudaGraph_t graph = nullptr;
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  work(stream, data);
  OK(cudaStreamEndCapture(stream, &graph));
  return graph;
}

static cudaGraphNode_t only_node(cudaGraph_t graph, cudaGraphNodeType wanted) {
  cudaGraphNode_t node = nullptr;
  size_t count = 1;
  cudaGraphNodeType type;
  OK(cudaGraphGetNodes(graph, &node, &count));
  EXPECT(count == 1);
  OK(cudaGraphNodeGetType(node, &type));
  EXPECT(type == wanted);
  return node;
}

static void run(cudaGraph_t graph) {
  cudaGraphExec_t instance;
  OK(cudaGraphInstantiateWithFlags(&instance, graph, 0));
  OK(cudaGraphLaunch(instance, 0));
  OK(cudaDeviceSynchronize());
  OK(cudaGraphExecDestroy(instance));
}

struct Run {
  cudaArray_t array;
  int *values;
};

// Ten elements from the fourth of the second row on, into the third row: no form of CUDA's says that. Nor a part of an element.
static void runs_of_arrays(cudaStream_t stream) {
  cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  Run run_of = {nullptr, managed<int>(24)};
  OK(cudaMallocArray(&run_of.array, &format, 6, 4));
  std::vector<int> zeros(24), found(24);
  OK(cudaMemcpy2DToArray(run_of.array, 0, 0, zeros.data(), 24, 24, 4, cudaMemcpyHostToDevice));
  for (int i = 0; i < 24; ++i) run_of.values[i] = 100 + i;
  cudaGraph_t graph = captured(stream, [](cudaStream_t stream, void *data) {
    auto [array, values] = *(Run *)data;
    OK(cudaMemcpyToArrayAsync(array, 3 * sizeof(int), 1, values, 40, cudaMemcpyDeviceToDevice, stream));
  }, &run_of);
  cudaMemcpy3DParms params = {};
  cudaGraphNode_t node = only_node(graph, cudaGraphNodeTypeMemcpy);
  EXPECT_ERROR(cudaGraphMemcpyNodeGetParams(node, &params), cudaErrorNotSupported);
  run(graph);
  OK(cudaMemcpy2DFromArray(found.data(), 24, run_of.array, 0, 0, 24, 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 24; ++i) EXPECT_AT(i, found[i], i >= 9 && i < 19 ? 100 + i - 9 : 0);
  OK(cudaGraphDestroy(graph));

  graph = captured(stream, [](cudaStream_t stream, void *data) {
    auto [array, values] = *(Run *)data;
    OK(cudaMemcpy2DToArrayAsync(array, 2, 0, values, 6, 6, 2, cudaMemcpyDeviceToDevice, stream));
  }, &run_of);
  EXPECT_ERROR(cudaGraphMemcpyNodeGetParams(only_node(graph, cudaGraphNodeTypeMemcpy), &params), cudaErrorNotSupported);
  OK(cudaGraphDestroy(graph));

  // A whole window is read back, in elements.
  graph = captured(stream, [](cudaStream_t stream, void *data) {
    auto [array, values] = *(Run *)data;
    OK(cudaMemcpy2DToArrayAsync(array, 8, 1, values, 12, 12, 3, cudaMemcpyDeviceToDevice, stream));
  }, &run_of);
  OK(cudaGraphMemcpyNodeGetParams(only_node(graph, cudaGraphNodeTypeMemcpy), &params));
  EXPECT(params.dstArray == run_of.array && params.dstPos.x == 2 && params.dstPos.y == 1 && params.extent.width == 3 &&
         params.extent.height == 3 && params.extent.depth == 1 && params.srcPtr.ptr == run_of.values && params.srcPtr.pitch == 12);
  OK(cudaGraphDestroy(graph));
  OK(cudaFreeArray(run_of.array));
}

// A fill in three dimensions is one node, and CUDA's form has two.
static void fills(cudaStream_t stream) {
  cudaPitchedPtr box;
  cudaExtent extent = make_cudaExtent(20, 3, 4);
  OK(cudaMalloc3D(&box, extent));
  OK(cudaMemset(box.ptr, 0, box.pitch * 12));
  cudaGraph_t graph = captured(stream, [](cudaStream_t stream, void *data) {
    OK(cudaMemset3DAsync(*(cudaPitchedPtr *)data, 9, make_cudaExtent(20, 2, 3), stream));
  }, &box);
  cudaMemsetParams params = {};
  EXPECT_ERROR(cudaGraphMemsetNodeGetParams(only_node(graph, cudaGraphNodeTypeMemset), &params), cudaErrorNotSupported);
  run(graph);
  std::vector<unsigned char> found(box.pitch * 12);
  OK(cudaMemcpy(found.data(), box.ptr, found.size(), cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < found.size(); ++i) {
    size_t x = i % box.pitch, y = i / box.pitch % 3, z = i / box.pitch / 3;
    EXPECT_AT(i, found[i], x < 20 && y < 2 && z < 3 ? 9 : 0);
  }
  OK(cudaGraphDestroy(graph));
  OK(cudaFree(box.ptr));
}

// Memory has one address: one instance at a time, no copies, no part of another graph, and its nodes and edges stay.
static void memory() {
  cudaGraph_t graph, around, copy;
  cudaGraphNode_t made, filled, freed, child;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphCreate(&around, 0));
  cudaMemAllocNodeParams params = {};
  params.poolProps.allocType = cudaMemAllocationTypePinned;
  params.poolProps.location = {cudaMemLocationTypeDevice, 0};
  params.bytesize = N * sizeof(int);
  cudaMemAllocNodeParams wrong = params;
  wrong.poolProps.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  EXPECT_ERROR(cudaGraphAddMemAllocNode(&made, graph, nullptr, 0, &wrong), cudaErrorNotSupported);
  wrong = params, wrong.poolProps.location.type = cudaMemLocationTypeHost;
  EXPECT_ERROR(cudaGraphAddMemAllocNode(&made, graph, nullptr, 0, &wrong), cudaErrorNotSupported);
  wrong = params, wrong.poolProps.location.id = 1;
  EXPECT_ERROR(cudaGraphAddMemAllocNode(&made, graph, nullptr, 0, &wrong), cudaErrorInvalidDevice);
  OK(cudaGraphAddMemAllocNode(&made, graph, nullptr, 0, &params));
  int *data = (int *)params.dptr, value = 5, *out = managed<int>(N);
  void *args[] = {&data, &value};
  cudaKernelNodeParams kernel = {(void *)fill, dim3(1), dim3(N), 0, args, nullptr};
  OK(cudaGraphAddKernelNode(&filled, graph, &made, 1, &kernel));
  cudaGraphNode_t copied;
  OK(cudaGraphAddMemcpyNode1D(&copied, graph, &filled, 1, out, data, N * sizeof(int), cudaMemcpyDeviceToDevice));
  OK(cudaGraphAddMemFreeNode(&freed, graph, &copied, 1, data));
  cudaGraphExec_t first, second;
  OK(cudaGraphInstantiateWithFlags(&first, graph, 0));
  EXPECT_ERROR(cudaGraphInstantiateWithFlags(&second, graph, 0), cudaErrorNotSupported);
  EXPECT_ERROR(cudaGraphClone(&copy, graph), cudaErrorNotSupported);
  EXPECT_ERROR(cudaGraphAddChildGraphNode(&child, around, nullptr, 0, graph), cudaErrorNotSupported);
  for (cudaGraphNode_t node : {made, freed}) EXPECT_ERROR(cudaGraphDestroyNode(node), cudaErrorNotSupported);
#if CUDART_VERSION >= 13000
  EXPECT_ERROR(cudaGraphRemoveDependencies(graph, &made, &filled, nullptr, 1), cudaErrorNotSupported);
#else
  EXPECT_ERROR(cudaGraphRemoveDependencies(graph, &made, &filled, 1), cudaErrorNotSupported);
#endif
  OK(cudaGraphLaunch(first, 0));
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < N; ++i) EXPECT_AT(i, out[i], 5);
  // With the first instance gone there may be another one.
  OK(cudaGraphExecDestroy(first));
  OK(cudaGraphInstantiateWithFlags(&second, graph, 0));
  out[3] = 0;
  OK(cudaGraphLaunch(second, 0));
  OK(cudaDeviceSynchronize());
  EXPECT(out[3] == 5);
  OK(cudaGraphExecDestroy(second));
  OK(cudaGraphDestroy(graph));
  OK(cudaGraphDestroy(around));
}

// Arguments in one piece; semaphores of other devices.
static void nodes() {
  cudaGraph_t graph;
  cudaGraphNode_t node;
  OK(cudaGraphCreate(&graph, 0));
  void *extra[] = {nullptr};
  cudaKernelNodeParams kernel = {(void *)fill, dim3(1), dim3(N), 0, nullptr, extra};
  EXPECT_ERROR(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &kernel), cudaErrorNotSupported);
  cudaExternalSemaphoreSignalNodeParams signal = {};
  EXPECT_ERROR(cudaGraphAddExternalSemaphoresSignalNode(&node, graph, nullptr, 0, &signal), cudaErrorNotSupported);
  size_t count = 7;
  OK(cudaGraphGetNodes(graph, nullptr, &count));
  EXPECT(count == 0);
  OK(cudaGraphDestroy(graph));
}

int main() {
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  runs_of_arrays(stream);
  fills(stream);
  memory();
  nodes();
  OK(cudaStreamDestroy(stream));
  // CHECK: ok
  return result();
}
