// Memory of graphs on the CPU target: nodes that allocate and free, by hand and recorded, and who may free what when.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 --offload-arch=cpu -w -I %root/test/integration %s -o %t && %t
// RUN: env REGRAIN_CPU_STREAMS=synchronous %t
// RUN: %if nvcc %{ %regrain --cuda-path=%cuda13 -O2 --offload-arch=cpu -w -I %root/test/integration %s -o %t.13 && %t.13 %}
#include "check.h"
#include <cstring>

constexpr int N = 1 << 20;

__global__ void set(int *data, int v) { data[blockIdx.x * blockDim.x + threadIdx.x] = v; }
__global__ void add(int *to, const int *from) { to[blockIdx.x * blockDim.x + threadIdx.x] += from[blockIdx.x * blockDim.x + threadIdx.x]; }

static cudaMemAllocNodeParams wanted(size_t bytes) {
  cudaMemAllocNodeParams params = {};
  params.poolProps.allocType = cudaMemAllocationTypePinned;
  params.poolProps.location.type = cudaMemLocationTypeDevice;
  params.bytesize = bytes;
  return params;
}

static unsigned long long attribute(cudaGraphMemAttributeType which) {
  unsigned long long value = ~0ull;
  OK(cudaDeviceGetGraphMemAttribute(0, which, &value));
  return value;
}

static cudaGraphNode_t kernel(cudaGraph_t graph, cudaGraphNode_t after, void *function, void **args) {
  cudaKernelNodeParams params = {function, dim3(N / 256), dim3(256), 0, args, nullptr};
  cudaGraphNode_t node;
  OK(cudaGraphAddKernelNode(&node, graph, &after, 1, &params));
  return node;
}

// What is allocated and freed in each launch, and addresses that are used again where the first memory is free.
static void inside() {
  int *result = managed<int>(N), three = 3, four = 4;
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  auto params = wanted(N * sizeof(int)), second = params, third = params;
  cudaGraphNode_t made, freed, again, copied, apart, gone;
  OK(cudaGraphAddMemAllocNode(&made, graph, nullptr, 0, &params));
  EXPECT(params.dptr != nullptr);
  void *fill_args[] = {&params.dptr, &three}, *copy_args[] = {&result, &params.dptr};
  cudaGraphNode_t filled = kernel(graph, made, (void *)set, fill_args);
  cudaGraphNode_t added = kernel(graph, filled, (void *)add, copy_args);
  OK(cudaGraphAddMemFreeNode(&freed, graph, &added, 1, params.dptr));
  OK(cudaGraphAddMemAllocNode(&again, graph, &freed, 1, &second));
  EXPECT(second.dptr == params.dptr);
  // Not behind the node that frees.
  OK(cudaGraphAddMemAllocNode(&apart, graph, &added, 1, &third));
  EXPECT(third.dptr != params.dptr);
  OK(cudaGraphAddMemFreeNode(&gone, graph, &apart, 1, third.dptr));
  void *more_args[] = {&second.dptr, &four};
  filled = kernel(graph, again, (void *)set, more_args);
  added = kernel(graph, filled, (void *)add, copy_args);
  OK(cudaGraphAddMemFreeNode(&freed, graph, &added, 1, second.dptr));

  cudaGraphNodeType type;
  OK(cudaGraphNodeGetType(made, &type));
  EXPECT(type == cudaGraphNodeTypeMemAlloc);
  OK(cudaGraphNodeGetType(freed, &type));
  EXPECT(type == cudaGraphNodeTypeMemFree);
  cudaMemAllocNodeParams read = {};
  OK(cudaGraphMemAllocNodeGetParams(made, &read));
  EXPECT(read.dptr == params.dptr && read.bytesize == N * sizeof(int) && read.poolProps.allocType == cudaMemAllocationTypePinned);
  void *pointer = nullptr;
  OK(cudaGraphMemFreeNodeGetParams(freed, &pointer));
  EXPECT(pointer == second.dptr);
  EXPECT_ERROR(cudaGraphMemFreeNodeGetParams(made, &pointer), cudaErrorInvalidValue);

  cudaGraphExec_t instance, other;
  cudaGraph_t clone;
  OK(cudaGraphInstantiateWithFlags(&instance, graph, 0));
  EXPECT_ERROR(cudaGraphInstantiateWithFlags(&other, graph, 0), cudaErrorNotSupported);
  EXPECT_ERROR(cudaGraphClone(&clone, graph), cudaErrorNotSupported);
  EXPECT_ERROR(cudaGraphDestroyNode(made), cudaErrorNotSupported);
  EXPECT(attribute(cudaGraphMemAttrUsedMemCurrent) == 0);
  for (int i = 0; i < 3; ++i)
    OK(cudaGraphLaunch(instance, 0));
  OK(cudaDeviceSynchronize());
  EXPECT(result[5] == 21 && result[N - 1] == 21);
  EXPECT(attribute(cudaGraphMemAttrUsedMemCurrent) == 2 * N * sizeof(int));
  EXPECT(attribute(cudaGraphMemAttrReservedMemHigh) == 2 * N * sizeof(int));
  OK(cudaDeviceGraphMemTrim(0));
  EXPECT(attribute(cudaGraphMemAttrReservedMemCurrent) == 0 && attribute(cudaGraphMemAttrUsedMemHigh) == 2 * N * sizeof(int));
  unsigned long long value = 1;
  EXPECT_ERROR(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &value), cudaErrorInvalidValue);
  value = 0;
  EXPECT_ERROR(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &value), cudaErrorInvalidValue);
  OK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &value));
  EXPECT(attribute(cudaGraphMemAttrUsedMemHigh) == 0);
  OK(cudaGraphLaunch(instance, 0));
  OK(cudaDeviceSynchronize());
  EXPECT(result[5] == 28);
  OK(cudaGraphExecDestroy(instance));
  OK(cudaGraphInstantiateWithFlags(&instance, graph, 0));
  OK(cudaGraphExecDestroy(instance));
  OK(cudaGraphDestroy(graph));
  EXPECT(attribute(cudaGraphMemAttrUsedMemCurrent) == 0);
}

// What a launch leaves is the program's.
static void outside() {
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  int three = 3, host[2] = {};
  cudaGraph_t graph, frees;
  cudaGraphNode_t made, freed;
  OK(cudaGraphCreate(&graph, 0));
  auto params = wanted(N * sizeof(int));
  OK(cudaGraphAddMemAllocNode(&made, graph, nullptr, 0, &params));
  void *args[] = {&params.dptr, &three};
  kernel(graph, made, (void *)set, args);
  cudaIpcMemHandle_t handle;
  EXPECT_ERROR(cudaIpcGetMemHandle(&handle, params.dptr), cudaErrorNotSupported);
  OK(cudaGraphCreate(&frees, 0));
  OK(cudaGraphAddMemFreeNode(&freed, frees, nullptr, 0, params.dptr));
  EXPECT_ERROR(cudaGraphAddMemFreeNode(&freed, frees, nullptr, 0, host), cudaErrorInvalidValue);
  cudaGraphExec_t instance, freeing, by_itself;
  OK(cudaGraphInstantiateWithFlags(&instance, graph, 0));
  OK(cudaGraphInstantiateWithFlags(&freeing, frees, 0));
  EXPECT_ERROR(cudaGraphLaunch(freeing, stream), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaFreeAsync(params.dptr, stream), cudaErrorInvalidValue);
  OK(cudaGraphLaunch(instance, stream));
  EXPECT_ERROR(cudaGraphLaunch(instance, stream), cudaErrorInvalidValue);
  OK(cudaMemcpyAsync(host, params.dptr, sizeof host, cudaMemcpyDeviceToHost, stream));
  OK(cudaStreamSynchronize(stream));
  EXPECT(host[0] == 3 && host[1] == 3);
  OK(cudaGraphLaunch(freeing, stream));
  EXPECT_ERROR(cudaGraphLaunch(freeing, stream), cudaErrorInvalidValue);
  OK(cudaGraphLaunch(instance, stream));
  OK(cudaFreeAsync(params.dptr, stream));
  OK(cudaGraphLaunch(instance, stream));
  OK(cudaFree(params.dptr));
  EXPECT_ERROR(cudaFree(params.dptr), cudaErrorInvalidValue);
  OK(cudaGraphExecDestroy(instance));
  OK(cudaGraphInstantiateWithFlags(&by_itself, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  OK(cudaGraphLaunch(by_itself, stream));
  OK(cudaGraphLaunch(by_itself, stream));
  // It outlives its graph.
  OK(cudaGraphExecDestroy(by_itself));
  OK(cudaGraphExecDestroy(freeing));
  OK(cudaGraphDestroy(graph));
  OK(cudaGraphDestroy(frees));
  OK(cudaDeviceGraphMemTrim(0));
  OK(cudaMemcpyAsync(host, (int *)params.dptr + N - 2, sizeof host, cudaMemcpyDeviceToHost, stream));
  OK(cudaStreamSynchronize(stream));
  EXPECT(host[0] == 3 && host[1] == 3);
  OK(cudaFreeAsync(params.dptr, stream));
  OK(cudaStreamSynchronize(stream));
  EXPECT_ERROR(cudaFreeAsync(params.dptr, stream), cudaErrorInvalidValue);
  OK(cudaStreamDestroy(stream));
}

static void recorded() {
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  int *one, *two, *result = managed<int>(N), *outer;
  OK(cudaMallocAsync(&outer, 4, stream));
  cudaGraph_t graph;
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  OK(cudaMallocAsync(&one, N * sizeof(int), stream));
  set<<<N / 256, 256, 0, stream>>>(one, 5);
  add<<<N / 256, 256, 0, stream>>>(result, one);
  OK(cudaFreeAsync(one, stream));
  OK(cudaMallocAsync(&two, N * sizeof(int), stream));
  EXPECT(one == two);
  set<<<N / 256, 256, 0, stream>>>(two, 7);
  add<<<N / 256, 256, 0, stream>>>(result, two);
  OK(cudaFreeAsync(two, stream));
  OK(cudaStreamEndCapture(stream, &graph));
  size_t number = 0;
  OK(cudaGraphGetNodes(graph, nullptr, &number));
  EXPECT(number == 8);
  cudaGraphExec_t instance;
  OK(cudaGraphInstantiateWithFlags(&instance, graph, 0));
  for (int i = 0; i < 4; ++i)
    OK(cudaGraphLaunch(instance, stream));
  OK(cudaStreamSynchronize(stream));
  EXPECT(result[0] == 48 && result[N - 1] == 48);
  // An instance with memory is no part of another graph, and what was allocated before is not freed in one.
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_ERROR(cudaGraphLaunch(instance, stream), cudaErrorNotSupported);
  EXPECT_ERROR(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_ERROR(cudaFreeAsync(outer, stream), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  OK(cudaFreeAsync(outer, stream));
  OK(cudaStreamSynchronize(stream));
}

int main() {
  inside();
  outside();
  recorded();
  return result();
}
