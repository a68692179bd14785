// What nodes of graphs do, read back and changed, in graphs and instances; copies of graphs, and objects that graphs have.
// REQUIRES: cuda-toolkit
// RUN: rm -rf %t.dot && %regrain -O2 --offload-arch=cpu -w -I %root/test/integration %s -o %t && %t %t.dot
// RUN: FileCheck %s --input-file=%t.dot
// RUN: env REGRAIN_CPU_STREAMS=synchronous %t %t.dot
// RUN: %if nvcc %{ %regrain --cuda-path=%cuda13 -O2 --offload-arch=cpu -w -I %root/test/integration %s -o %t.13 && %t.13 %t.dot %}
#include "check.h"
#include <chrono>
#include <cstring>
#include <thread>

constexpr int N = 256;

__device__ int variable[4];
__global__ void add(int *data, int v) { data[threadIdx.x] += v; }
__global__ void multiply(int *data, int v) { data[threadIdx.x] *= v; }
__global__ void take(int *out) { out[threadIdx.x] = variable[threadIdx.x % 4]; }

static void call(void *by) { ++*static_cast<int *>(by); }

static void kernels() {
  int *data = managed<int>(N), three = 3, four = 4;
  memset(data, 0, N * sizeof *data);
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  void *args[] = {&data, &three};
  cudaKernelNodeParams params = {(void *)add, dim3(1), dim3(N), 64, args, nullptr}, found = {};
  cudaGraphNode_t node, fill;
  OK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  OK(cudaGraphKernelNodeGetParams(node, &found));
  EXPECT(found.func == (void *)add && found.gridDim.x == 1 && found.blockDim.x == N && found.sharedMemBytes == 64);
  EXPECT(*(int **)found.kernelParams[0] == data && *(int *)found.kernelParams[1] == 3 && !found.extra);
  // As it was read, with another argument.
  found.kernelParams[1] = &four;
  OK(cudaGraphKernelNodeSetParams(node, &found));
  OK(cudaGraphKernelNodeGetParams(node, &found));
  EXPECT(*(int *)found.kernelParams[1] == 4);

  cudaGraphExec_t instance;
  OK(cudaGraphInstantiateWithFlags(&instance, graph, 0));
  OK(cudaGraphLaunch(instance, 0));
  params.func = (void *)multiply, four = 5, args[1] = &four;
  OK(cudaGraphExecKernelNodeSetParams(instance, node, &params));
  OK(cudaGraphLaunch(instance, 0));
  OK(cudaDeviceSynchronize());
  EXPECT(data[7] == 20);

  unsigned enabled = 9;
  OK(cudaGraphNodeGetEnabled(instance, node, &enabled));
  EXPECT(enabled == 1);
  OK(cudaGraphNodeSetEnabled(instance, node, 0));
  OK(cudaGraphLaunch(instance, 0));
  OK(cudaDeviceSynchronize());
  OK(cudaGraphNodeGetEnabled(instance, node, &enabled));
  EXPECT(data[7] == 20 && enabled == 0);
  OK(cudaGraphNodeSetEnabled(instance, node, 1));
  OK(cudaGraphLaunch(instance, 0));
  OK(cudaDeviceSynchronize());
  EXPECT(data[7] == 100);

  cudaLaunchAttributeValue value = {}, read = {};
  value.priority = -2;
  OK(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributePriority, &value));
  OK(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributePriority, &read));
  EXPECT(read.priority == -2);
  value = {}, value.cooperative = 1;
  OK(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeCooperative, &value));
  cudaGraphNode_t other;
  OK(cudaGraphAddKernelNode(&other, graph, &node, 1, &params));
  OK(cudaGraphKernelNodeGetAttribute(other, cudaLaunchAttributeCooperative, &read));
  EXPECT(read.cooperative == 0);
  OK(cudaGraphKernelNodeCopyAttributes(other, node));
  OK(cudaGraphKernelNodeGetAttribute(other, cudaLaunchAttributeCooperative, &read));
  EXPECT(read.cooperative == 1);
  value = {}, value.clusterDim.x = 2, value.clusterDim.y = value.clusterDim.z = 1;
  EXPECT_ERROR(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeClusterDimension, &value), cudaErrorNotSupported);
  cudaMemsetParams bytes = {data, 0, 7, 1, N, 1};
  OK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &bytes));
  EXPECT_ERROR(cudaGraphKernelNodeGetParams(fill, &found), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaGraphKernelNodeGetAttribute(fill, cudaLaunchAttributePriority, &read), cudaErrorInvalidValue);
  cudaMemsetParams same = {};
  OK(cudaGraphMemsetNodeGetParams(fill, &same));
  EXPECT(same.dst == data && same.value == 7 && same.elementSize == 1 && same.width == N && same.height == 1);
  OK(cudaGraphExecDestroy(instance));
  OK(cudaGraphDestroy(graph));
}

static void copies() {
  int host[4] = {1, 2, 3, 4}, *data = managed<int>(N), back[4] = {};
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t in, launched, out, hosted, line;
  OK(cudaGraphAddMemcpyNodeToSymbol(&in, graph, nullptr, 0, variable, host, sizeof host, 0, cudaMemcpyHostToDevice));
  void *args[] = {&data};
  cudaKernelNodeParams params = {(void *)take, dim3(1), dim3(N), 0, args, nullptr};
  OK(cudaGraphAddKernelNode(&launched, graph, &in, 1, &params));
  OK(cudaGraphAddMemcpyNodeFromSymbol(&out, graph, &launched, 1, back, variable, 8, 8, cudaMemcpyDeviceToHost));
  EXPECT_ERROR(
      cudaGraphAddMemcpyNodeFromSymbol(&out, graph, nullptr, 0, back, variable, 8, 12, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  int calls = 0;
  cudaHostNodeParams what = {call, &calls}, read = {};
  OK(cudaGraphAddHostNode(&hosted, graph, &out, 1, &what));
  OK(cudaGraphHostNodeGetParams(hosted, &read));
  EXPECT(read.fn == call && read.userData == &calls);
  OK(cudaGraphAddMemcpyNode1D(&line, graph, &hosted, 1, data + 8, data, 16, cudaMemcpyDeviceToDevice));
  cudaMemcpy3DParms copy = {};
  OK(cudaGraphMemcpyNodeGetParams(line, &copy));
  EXPECT(copy.srcPtr.ptr == data && copy.dstPtr.ptr == data + 8 && copy.extent.width == 16 && copy.extent.height == 1 && copy.extent.depth == 1);
  EXPECT(copy.kind == cudaMemcpyDeviceToDevice);
  OK(cudaGraphMemcpyNodeSetParams(line, &copy));
  cudaGraphExec_t instance;
  OK(cudaGraphInstantiateWithFlags(&instance, graph, 0));
  OK(cudaGraphLaunch(instance, 0));
  OK(cudaDeviceSynchronize());
  EXPECT(data[5] == 2 && data[9] == 2 && back[0] == 3 && back[1] == 4 && calls == 1);
  int others[4] = {10, 20, 30, 40};
  OK(cudaGraphExecMemcpyNodeSetParamsToSymbol(instance, in, variable, others, sizeof others, 0, cudaMemcpyHostToDevice));
  OK(cudaGraphExecMemcpyNodeSetParamsFromSymbol(instance, out, back, variable, 4, 4, cudaMemcpyDeviceToHost));
  OK(cudaGraphLaunch(instance, 0));
  OK(cudaDeviceSynchronize());
  EXPECT(data[5] == 20 && back[0] == 20 && back[1] == 4 && calls == 2);
  OK(cudaGraphExecDestroy(instance));
  OK(cudaGraphDestroy(graph));
}

static void children() {
  int *data = managed<int>(N), one = 1, two = 2, five = 5;
  memset(data, 0, N * sizeof *data);
  cudaGraph_t inner, outer, found, clone;
  OK(cudaGraphCreate(&inner, 0));
  OK(cudaGraphCreate(&outer, 0));
  void *args[] = {&data, &one};
  cudaKernelNodeParams params = {(void *)add, dim3(1), dim3(N), 0, args, nullptr};
  cudaGraphNode_t node, child, inside, cloned;
  OK(cudaGraphAddKernelNode(&node, inner, nullptr, 0, &params));
  OK(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, inner));
  OK(cudaGraphChildGraphNodeGetGraph(child, &found));
  size_t number = 1;
  OK(cudaGraphGetNodes(found, &inside, &number));
  EXPECT(number == 1 && inside != node && found != inner);
  // The child's graph is its own, and can be changed.
  OK(cudaGraphDestroy(inner));
  args[1] = &two;
  OK(cudaGraphKernelNodeSetParams(inside, &params));
  cudaGraphExec_t instance;
  OK(cudaGraphInstantiateWithFlags(&instance, outer, 0));
  OK(cudaGraphLaunch(instance, 0));
  OK(cudaDeviceSynchronize());
  EXPECT(data[0] == 2);
  args[1] = &five;
  OK(cudaGraphExecKernelNodeSetParams(instance, inside, &params));
  OK(cudaGraphLaunch(instance, 0));
  OK(cudaDeviceSynchronize());
  EXPECT(data[0] == 7);
  // Another graph of this shape in its place, and one of another shape.
  OK(cudaGraphCreate(&inner, 0));
  args[1] = &one;
  OK(cudaGraphAddKernelNode(&node, inner, nullptr, 0, &params));
  OK(cudaGraphExecChildGraphNodeSetParams(instance, child, inner));
  OK(cudaGraphLaunch(instance, 0));
  OK(cudaDeviceSynchronize());
  EXPECT(data[0] == 8);
  OK(cudaGraphAddKernelNode(&node, inner, &node, 1, &params));
  EXPECT_ERROR(cudaGraphExecChildGraphNodeSetParams(instance, child, inner), cudaErrorInvalidValue);

  OK(cudaGraphClone(&clone, outer));
  OK(cudaGraphNodeFindInClone(&cloned, child, clone));
  cudaGraphNodeType type;
  OK(cudaGraphNodeGetType(cloned, &type));
  EXPECT(cloned != child && type == cudaGraphNodeTypeGraph);
  EXPECT_ERROR(cudaGraphNodeFindInClone(&cloned, node, clone), cudaErrorInvalidValue);
  OK(cudaGraphDestroy(outer));
  cudaGraphExec_t second;
  OK(cudaGraphInstantiateWithFlags(&second, clone, 0));
  OK(cudaGraphLaunch(second, 0));
  OK(cudaDeviceSynchronize());
  EXPECT(data[0] == 10);

  // A launch that is recorded is a child, too.
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  OK(cudaGraphLaunch(second, stream));
  OK(cudaStreamEndCapture(stream, &outer));
  number = 1;
  OK(cudaGraphGetNodes(outer, &child, &number));
  OK(cudaGraphChildGraphNodeGetGraph(child, &found));
  OK(cudaGraphExecDestroy(second));
  OK(cudaGraphInstantiateWithFlags(&second, outer, 0));
  OK(cudaGraphLaunch(second, stream));
  OK(cudaStreamSynchronize(stream));
  EXPECT(data[0] == 12);
}

static cudaGraphExecUpdateResult update(cudaGraphExec_t instance, cudaGraph_t graph, cudaGraphNode_t *node) {
  cudaGraphExecUpdateResultInfo info = {};
  cudaError_t error = cudaGraphExecUpdate(instance, graph, &info);
  EXPECT(error == (info.result == cudaGraphExecUpdateSuccess ? cudaSuccess : cudaErrorGraphExecUpdateFailure));
  *node = info.errorNode;
  return info.result;
}

static void updates() {
  int *data = managed<int>(N), one = 1;
  void *args[] = {&data, &one};
  cudaKernelNodeParams params = {(void *)add, dim3(1), dim3(N), 0, args, nullptr};
  cudaMemsetParams bytes = {data, 0, 7, 1, N, 1};
  cudaGraph_t graph, other, longer;
  cudaGraphNode_t node, second, wrong;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  OK(cudaGraphAddKernelNode(&second, graph, &node, 1, &params));
  cudaGraphExec_t instance;
  cudaGraphInstantiateParams how = {};
  how.flags = cudaGraphInstantiateFlagUseNodePriority;
  OK(cudaGraphInstantiateWithParams(&instance, graph, &how));
  EXPECT(how.result_out == cudaGraphInstantiateSuccess);
  unsigned long long flags = 0;
  OK(cudaGraphExecGetFlags(instance, &flags));
  EXPECT(flags == cudaGraphInstantiateFlagUseNodePriority);
  EXPECT(update(instance, graph, &wrong) == cudaGraphExecUpdateSuccess);
  OK(cudaGraphCreate(&other, 0));
  OK(cudaGraphAddKernelNode(&node, other, nullptr, 0, &params));
  OK(cudaGraphAddMemsetNode(&second, other, &node, 1, &bytes));
  EXPECT(update(instance, other, &wrong) == cudaGraphExecUpdateErrorNodeTypeChanged && wrong == second);
  OK(cudaGraphCreate(&longer, 0));
  OK(cudaGraphAddKernelNode(&node, longer, nullptr, 0, &params));
  EXPECT(update(instance, longer, &wrong) == cudaGraphExecUpdateErrorTopologyChanged);
  OK(cudaGraphAddKernelNode(&second, longer, nullptr, 0, &params));
  EXPECT(update(instance, longer, &wrong) == cudaGraphExecUpdateErrorTopologyChanged && wrong == second);
}

static void events() {
  cudaEvent_t one, other, found;
  OK(cudaEventCreate(&one));
  OK(cudaEventCreate(&other));
  cudaGraph_t graph;
  cudaGraphNode_t records, waits;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddEventRecordNode(&records, graph, nullptr, 0, one));
  OK(cudaGraphAddEventWaitNode(&waits, graph, &records, 1, one));
  OK(cudaGraphEventRecordNodeGetEvent(records, &found));
  EXPECT(found == one);
  EXPECT_ERROR(cudaGraphEventRecordNodeGetEvent(waits, &found), cudaErrorInvalidValue);
  OK(cudaGraphEventWaitNodeSetEvent(waits, other));
  OK(cudaGraphEventWaitNodeGetEvent(waits, &found));
  EXPECT(found == other);
  cudaGraphExec_t instance;
  OK(cudaGraphInstantiateWithFlags(&instance, graph, 0));
  OK(cudaGraphExecEventRecordNodeSetEvent(instance, records, other));
  OK(cudaGraphExecEventWaitNodeSetEvent(instance, waits, other));
  OK(cudaGraphLaunch(instance, 0));
  OK(cudaDeviceSynchronize());
  float time;
  EXPECT_ERROR(cudaEventElapsedTime(&time, one, other), cudaErrorInvalidResourceHandle);
  OK(cudaEventElapsedTime(&time, other, other));
}

static void objects() {
  int destroyed = 0;
  cudaUserObject_t object, moved;
  cudaGraph_t graph, clone;
  OK(cudaGraphCreate(&graph, 0));
  EXPECT_ERROR(cudaUserObjectCreate(&object, &destroyed, call, 1, 0), cudaErrorInvalidValue);
  OK(cudaUserObjectCreate(&object, &destroyed, call, 1, cudaUserObjectNoDestructorSync));
  OK(cudaUserObjectRetain(object, 2));
  OK(cudaGraphRetainUserObject(graph, object, 1, 0));
  OK(cudaUserObjectRelease(object, 3));
  EXPECT(destroyed == 0);
  EXPECT_ERROR(cudaGraphReleaseUserObject(graph, object, 2), cudaErrorInvalidValue);
  cudaGraphExec_t instance;
  OK(cudaGraphInstantiateWithFlags(&instance, graph, 0));
  OK(cudaGraphClone(&clone, graph));
  OK(cudaGraphReleaseUserObject(graph, object, 1));
  OK(cudaGraphDestroy(clone));
  EXPECT(destroyed == 0);
  OK(cudaGraphExecDestroy(instance));
  EXPECT(destroyed == 1);
  EXPECT_ERROR(cudaUserObjectRetain(object, 1), cudaErrorInvalidValue);
  OK(cudaUserObjectCreate(&moved, &destroyed, call, 1, cudaUserObjectNoDestructorSync));
  OK(cudaGraphRetainUserObject(graph, moved, 1, cudaGraphUserObjectMove));
  OK(cudaGraphDestroy(graph));
  EXPECT(destroyed == 2);
}

// Launches of one instance do not overlap, whatever streams they are in.
static void alone(void *at_work) {
  EXPECT(!*static_cast<volatile bool *>(at_work));
  *static_cast<volatile bool *>(at_work) = true;
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  *static_cast<volatile bool *>(at_work) = false;
}
static void one_at_a_time() {
  bool at_work = false;
  cudaHostNodeParams what = {alone, &at_work};
  cudaGraph_t graph;
  cudaGraphNode_t node;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddHostNode(&node, graph, nullptr, 0, &what));
  cudaGraphExec_t instance;
  OK(cudaGraphInstantiateWithFlags(&instance, graph, 0));
  cudaStream_t streams[3];
  for (cudaStream_t &stream : streams) {
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaGraphLaunch(instance, stream));
  }
  OK(cudaDeviceSynchronize());
}

static void picture(const char *path) {
  int *data = managed<int>(N), one = 1;
  void *args[] = {&data, &one};
  cudaKernelNodeParams params = {(void *)add, dim3(3), dim3(N), 0, args, nullptr};
  cudaMemsetParams bytes = {data, 0, 7, 1, N, 1};
  cudaGraph_t graph, inner;
  cudaGraphNode_t filled, added, child;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphCreate(&inner, 0));
  OK(cudaGraphAddMemsetNode(&filled, graph, nullptr, 0, &bytes));
  OK(cudaGraphAddKernelNode(&added, graph, &filled, 1, &params));
  OK(cudaGraphAddMemsetNode(&filled, inner, nullptr, 0, &bytes));
  OK(cudaGraphAddChildGraphNode(&child, graph, &added, 1, inner));
  EXPECT_ERROR(cudaGraphDebugDotPrint(graph, "/nowhere/at.all", 0), cudaErrorOperatingSystem);
  OK(cudaGraphDebugDotPrint(graph, path, cudaGraphDebugDotFlagsKernelNodeParams));
}
// CHECK: digraph dot {
// CHECK-NEXT: subgraph cluster_1 {
// CHECK: "graph_1_node_0"[shape="rectangle" label="0\nMEMSET"];
// CHECK-NEXT: "graph_1_node_1"[shape="record" label="1|KERNEL|_Z3addPii|{grid|[3, 1, 1]}|{block|[256, 1, 1]}|{shared bytes|0}"];
// CHECK-NEXT: "graph_1_node_2"[shape="rectangle" label="2\nGRAPH"];
// CHECK-NEXT: "graph_1_node_0" -> "graph_1_node_1";
// CHECK-NEXT: "graph_1_node_1" -> "graph_1_node_2";
// CHECK-NEXT: subgraph cluster_2 {
// CHECK: "graph_2_node_0"[shape="rectangle" label="0\nMEMSET"];

int main(int argc, char **argv) {
  kernels();
  copies();
  children();
  updates();
  events();
  objects();
  one_at_a_time();
  picture(argv[1]);
  return result();
}
