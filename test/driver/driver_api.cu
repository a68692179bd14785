// CUDA's driver API on the CPU: contexts, memory, copies, fills, streams, events, launches, textures, and the runtime beside it.
//
// RUN: %regrain --offload-arch=cpu -O2 %s -o %t -lcuda && %t | FileCheck %s
// RUN: %regrain --offload-arch=cpu -O2 -DCUDA_API_PER_THREAD_DEFAULT_STREAM %s -o %t.threads -lcuda && %t.threads | FileCheck %s
// RUN: %if nvcc %{ %regrain --cuda-path=%cuda13 --offload-arch=cpu -O2 %s -o %t.13 -lcuda && %t.13 | FileCheck %s %}
// CHECK: done, 0 wrong

#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <thread>
#include <vector>

static int wrong = 0;
#define EXPECT(condition) \
  do { \
    if (!(condition)) printf("line %d: %s\n", __LINE__, #condition), ++wrong; \
  } while (0)
#define OK(call) EXPECT((call) == CUDA_SUCCESS)
#define FAILS(code, call) EXPECT((call) == code)

__global__ void scale(float *p, float by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] *= by;
}
struct Pair { double first; char second; };
__global__ void mixed(char a, double b, int *out, Pair c, short d) {
  if (threadIdx.x == 0) *out = a + int(b) + int(c.first) + c.second + d;
}
__global__ void fetch(CUtexObject t, float *out) { out[threadIdx.x] = tex2D<float>(t, threadIdx.x + 0.5f, 1.5f); }
__global__ void __launch_bounds__(128) bounded(float *p) {
  extern __shared__ float s[];
  s[threadIdx.x] = 1;
  p[threadIdx.x] = s[threadIdx.x];
}

static void before() {
  int count = -1;
  const char *text = "";
  FAILS(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
  OK(cuGetErrorName(CUDA_ERROR_INVALID_CONTEXT, &text));
  EXPECT(!strcmp(text, "CUDA_ERROR_INVALID_CONTEXT"));
  OK(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
  EXPECT(!strcmp(text, "out of memory"));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGetErrorName(CUresult(12345), &text));
  EXPECT(text == nullptr);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuInit(1));
  OK(cuInit(0));
}

static void devices(CUdevice device) {
  int count = 0, major = 0, minor = 0, warp = 0, version = 0;
  size_t bytes = 0;
  char name[256], few[4];
  CUuuid uuid;
  OK(cuDriverGetVersion(&version));
  EXPECT(version >= 12000);
  OK(cuDeviceGetCount(&count));
  EXPECT(count == 1);
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&count, 7));
  OK(cuDeviceGetName(name, sizeof name, device));
  EXPECT(strlen(name) > 3);
  OK(cuDeviceGetName(few, sizeof few, device));
  EXPECT(strlen(few) == 3);
  OK(cuDeviceTotalMem(&bytes, device));
  EXPECT(bytes > 1 << 20);
  OK(cuDeviceGetUuid(&uuid, device));
  OK(cuDeviceGetAttribute(&warp, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
  EXPECT(warp == 32);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(&warp, CUdevice_attribute(0), device));
  OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  OK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
  EXPECT(major == 8 && minor == 0);
  char bus[32];
  OK(cuDeviceGetPCIBusId(bus, sizeof bus, device));
  CUdevice again = -1;
  OK(cuDeviceGetByPCIBusId(&again, bus));
  EXPECT(again == device);
}

static CUcontext contexts(CUdevice device) {
  CUcontext first = nullptr, second = nullptr, current = nullptr, primary = nullptr;
  CUdeviceptr p = 0;
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&p, 16));
  OK(cuCtxGetCurrent(&current));
  EXPECT(current == nullptr);
#if CUDA_VERSION >= 13000
  CUctxCreateParams parameters = {};
  OK(cuCtxCreate(&first, &parameters, CU_CTX_SCHED_SPIN, device));
  OK(cuCtxCreate(&second, nullptr, 0, device));
#else
  OK(cuCtxCreate(&first, CU_CTX_SCHED_SPIN, device));
  OK(cuCtxCreate(&second, 0, device));
#endif
  unsigned flags = 0, version = 0, active = 0;
  OK(cuCtxGetCurrent(&current));
  EXPECT(current == second && first != second);
  OK(cuCtxPopCurrent(&current));
  EXPECT(current == second);
  OK(cuCtxGetFlags(&flags));
  EXPECT(flags == CU_CTX_SCHED_SPIN);
  OK(cuCtxGetApiVersion(first, &version));
  OK(cuCtxPushCurrent(second));
  OK(cuCtxDestroy(second));
  OK(cuCtxGetCurrent(&current));
  EXPECT(current == first);
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent(second));
  CUdevice of = -1;
  OK(cuCtxGetDevice(&of));
  EXPECT(of == device);
  OK(cuDevicePrimaryCtxRetain(&primary, device));
  int is_active = 0;
  OK(cuDevicePrimaryCtxGetState(device, &active, &is_active));
  EXPECT(is_active == 1);
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(primary));
  OK(cuDevicePrimaryCtxRelease(device));
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(device));
  size_t limit = 0;
  OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
  OK(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
  EXPECT(limit == 4096);
  FAILS(CUDA_ERROR_UNSUPPORTED_LIMIT, cuCtxGetLimit(&limit, CUlimit(99)));
  OK(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
  OK(cuCtxSynchronize());
  std::thread([&] {
    CUdeviceptr q = 0;
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&q, 16));
    OK(cuCtxSetCurrent(first));
    OK(cuMemAlloc(&q, 16));
    OK(cuMemFree(q));
  }).join();
  return first;
}

static void memory() {
  CUdeviceptr a = 0, b = 0, start = 0, managed = 0, pitched = 0;
  size_t size = 0, free = 0, total = 0, pitch = 0;
  int host[64], back[64];
  for (int i = 0; i < 64; ++i) host[i] = i;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&a, 0));
  OK(cuMemAlloc(&a, sizeof host));
  OK(cuMemAlloc(&b, sizeof host));
  OK(cuMemcpyHtoD(a, host, sizeof host));
  OK(cuMemcpyDtoD(b, a, sizeof host));
  OK(cuMemcpyDtoH(back, b, sizeof back));
  EXPECT(!memcmp(host, back, sizeof host));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(a, host, 2 * sizeof host));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(CUdeviceptr(back), host, sizeof host));
  OK(cuMemsetD32(a, 0x01020304, 64));
  OK(cuMemsetD16Async(a + 8, 0x0506, 2, nullptr));
  OK(cuMemsetD8(a + 12, 7, 4));
  OK(cuMemcpy(CUdeviceptr(back), a, sizeof back));
  EXPECT(back[0] == 0x01020304 && back[2] == 0x05060506 && back[3] == 0x07070707 && back[63] == 0x01020304);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(a + 2, 0, 1));
  OK(cuMemGetAddressRange(&start, &size, a + 100));
  EXPECT(start == a && size == sizeof host);
  FAILS(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange(&start, &size, CUdeviceptr(back)));
  OK(cuMemGetInfo(&free, &total));
  EXPECT(free < total);

  unsigned kind = 0, is_managed = 0;
  CUdeviceptr device_pointer = 0;
  void *pinned = nullptr, *mapped = nullptr;
  OK(cuMemHostAlloc(&pinned, 256, CU_MEMHOSTALLOC_DEVICEMAP));
  OK(cuMemHostGetDevicePointer(&device_pointer, pinned, 0));
  OK(cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CUdeviceptr(pinned)));
  EXPECT(kind == CU_MEMORYTYPE_HOST);
  OK(cuPointerGetAttribute(&mapped, CU_POINTER_ATTRIBUTE_HOST_POINTER, device_pointer));
  EXPECT(mapped == pinned);
  OK(cuMemFreeHost(pinned));
  OK(cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a));
  EXPECT(kind == CU_MEMORYTYPE_DEVICE);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CUdeviceptr(back)));
  CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED};
  void *places[] = {&kind, &is_managed};
  OK(cuPointerGetAttributes(2, names, places, CUdeviceptr(back)));
  EXPECT(kind == 0 && is_managed == 0);
  OK(cuMemAllocManaged(&managed, 256, CU_MEM_ATTACH_GLOBAL));
  OK(cuPointerGetAttributes(2, names, places, managed));
  EXPECT(kind == CU_MEMORYTYPE_DEVICE && is_managed == 1);
  *(int *)managed = 3;
  OK(cuMemFree(managed));
  OK(cuMemAllocHost(&pinned, 64));
  OK(cuMemFreeHost(pinned));
  OK(cuMemHostRegister(host, sizeof host, 0));
  OK(cuMemHostUnregister(host));

  OK(cuMemAllocPitch(&pitched, &pitch, 20, 3, 4));
  EXPECT(pitch >= 20);
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = host, copy.srcPitch = 32, copy.srcXInBytes = 4, copy.srcY = 1;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE, copy.dstDevice = pitched, copy.dstPitch = pitch;
  copy.WidthInBytes = 20, copy.Height = 3;
  OK(cuMemcpy2D(&copy));
  EXPECT(((int *)(pitched + 2 * pitch))[4] == (3 * 8 + 1 + 4));
  OK(cuMemsetD2D32(pitched, pitch, 9, 5, 3));
  EXPECT(((int *)(pitched + 2 * pitch))[4] == 9);
  copy.srcMemoryType = CUmemorytype(9);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&copy));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(nullptr));

  CUDA_MEMCPY3D cube = {};
  cube.srcMemoryType = CU_MEMORYTYPE_HOST, cube.srcHost = host, cube.srcPitch = 16, cube.srcHeight = 4;
  cube.dstMemoryType = CU_MEMORYTYPE_UNIFIED, cube.dstDevice = a, cube.dstPitch = 8, cube.dstHeight = 2;
  cube.WidthInBytes = 8, cube.Height = 2, cube.Depth = 3, cube.srcZ = 1;
  OK(cuMemcpy3D(&cube));
  OK(cuMemcpyDtoH(back, a, sizeof back));
  EXPECT(back[0] == 16 && back[3] == 21 && back[11] == 16 + 32 + 5);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(a + 4));
  OK(cuMemFree(a));
  OK(cuMemFree(b));
  OK(cuMemFree(pitched));
}

static void streams() {
  CUstream stream = nullptr;
  CUevent start = nullptr, end = nullptr;
  CUdeviceptr p = 0;
  unsigned flags = 9;
  int least = 1, greatest = 1, priority = 1, calls = 0;
  float ms = -1;
  CUcontext here = nullptr, of = nullptr;
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  OK(cuEventCreate(&start, 0));
  OK(cuEventCreate(&end, CU_EVENT_BLOCKING_SYNC));
  OK(cuEventRecord(start, stream));
  OK(cuMemAllocAsync(&p, 64, stream));
  OK(cuMemsetD8Async(p, 1, 64, stream));
  OK(cuLaunchHostFunc(stream, [](void *data) { ++*(int *)data; }, &calls));
  OK(cuStreamAddCallback(stream, [](CUstream, CUresult status, void *data) { *(int *)data += status ? 0 : 10; }, &calls, 0));
  OK(cuEventRecord(end, stream));
  OK(cuStreamWaitEvent(nullptr, end, 0));
  OK(cuEventSynchronize(end));
  OK(cuEventQuery(end));
  OK(cuStreamQuery(stream));
  OK(cuStreamSynchronize(stream));
  EXPECT(calls == 11);
  OK(cuEventElapsedTime(&ms, start, end));
  EXPECT(ms >= 0);
  OK(cuStreamGetFlags(stream, &flags));
  EXPECT(flags == CU_STREAM_NON_BLOCKING);
  OK(cuCtxGetStreamPriorityRange(&least, &greatest));
  EXPECT(greatest < least);
  OK(cuStreamGetPriority(stream, &priority));
  OK(cuCtxGetCurrent(&here));
  OK(cuStreamGetCtx(stream, &of));
  EXPECT(here == of);
  OK(cuMemFreeAsync(p, stream));
  OK(cuEventDestroy(start));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(start));
  OK(cuEventDestroy(end));
  OK(cuStreamDestroy(stream));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(stream));
}

static void launches() {
  CUfunction f = nullptr, m = nullptr, b = nullptr;
  EXPECT(cudaGetFuncBySymbol(&f, (const void *)scale) == cudaSuccess);
  EXPECT(cudaGetFuncBySymbol(&m, (const void *)mixed) == cudaSuccess);
  EXPECT(cudaGetFuncBySymbol(&b, (const void *)bounded) == cudaSuccess);
  CUdeviceptr p = 0;
  float by = 2, back[100];
  int n = 100, value = 0;
  OK(cuMemAlloc(&p, sizeof back));
  OK(cuMemsetD32(p, 0x3f800000, 100));
  void *args[] = {&p, &by, &n};
  OK(cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, nullptr, args, nullptr));
  OK(cuLaunchCooperativeKernel(f, 2, 1, 1, 64, 1, 1, 0, nullptr, args));
  CUlaunchConfig config = {};
  config.gridDimX = 1, config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 128, config.blockDimY = config.blockDimZ = 1;
  OK(cuLaunchKernelEx(&config, f, args, nullptr));
  OK(cuMemcpyDtoH(back, p, sizeof back));
  EXPECT(back[0] == 8 && back[99] == 8);
  // What the parameters are together, in one buffer.
  struct { char a; double b; CUdeviceptr out; Pair c; short d; } buffer = {1, 20, p, {300, 2}, 5000};
  size_t size = sizeof buffer;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  OK(cuLaunchKernel(m, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  OK(cuMemcpyDtoH(&value, p, sizeof value));
  EXPECT(value == 5323);
  size = 8;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(m, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  void *unknown[] = {(void *)7, &buffer, nullptr};
  FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(m, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, unknown));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 2048, 1, 1, 0, nullptr, args, nullptr));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(CUfunction(&n), 1, 1, 1, 1, 1, 1, 0, nullptr, args, nullptr));

  int threads = 0, shared = 0, blocks = 0, grid = 0, block = 0;
  OK(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, b));
  EXPECT(threads == 128);
  OK(cuFuncSetAttribute(b, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536));
  OK(cuFuncGetAttribute(&shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, b));
  EXPECT(shared == 65536);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuFuncGetAttribute(&shared, CUfunction_attribute(77), b));
  OK(cuFuncSetCacheConfig(b, CU_FUNC_CACHE_PREFER_SHARED));
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, b, 128, 0));
  EXPECT(blocks == 16);
  OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, b, nullptr, 0, 0));
  EXPECT(block == 128 && grid % 16 == 0);
  size_t offset = 0;
  OK(cuFuncGetParamInfo(m, 3, &offset, &size));
  EXPECT(offset == 24 && size == 16);
  OK(cuMemFree(p));
}

static void textures() {
  CUarray array = nullptr;
  CUDA_ARRAY_DESCRIPTOR descriptor = {4, 3, CU_AD_FORMAT_FLOAT, 1}, seen = {};
  float host[12], back[4];
  for (int i = 0; i < 12; ++i) host[i] = i;
  OK(cuArrayCreate(&array, &descriptor));
  OK(cuArrayGetDescriptor(&seen, array));
  EXPECT(seen.Width == 4 && seen.Height == 3 && seen.Format == CU_AD_FORMAT_FLOAT);
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = host, copy.srcPitch = 16;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY, copy.dstArray = array;
  copy.WidthInBytes = 16, copy.Height = 3;
  OK(cuMemcpy2D(&copy));
  CUDA_RESOURCE_DESC resource = {};
  resource.resType = CU_RESOURCE_TYPE_ARRAY, resource.res.array.hArray = array;
  CUDA_TEXTURE_DESC settings = {};
  settings.addressMode[0] = settings.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP;
  CUtexObject texture = 0;
  OK(cuTexObjectCreate(&texture, &resource, &settings, nullptr));
  CUdeviceptr p = 0;
  OK(cuMemAlloc(&p, sizeof back));
  fetch<<<1, 4>>>(texture, (float *)p);
  OK(cuMemcpyDtoH(back, p, sizeof back));
  EXPECT(back[0] == 4 && back[3] == 7);
  OK(cuMemcpyAtoH(back, array, 4, 8));
  EXPECT(back[0] == 1 && back[1] == 2);
  OK(cuTexObjectDestroy(texture));
  OK(cuArrayDestroy(array));
  // Integers that are always read as numbers: the format says how many channels there are.
  descriptor.Format = CU_AD_FORMAT_UNORM_INT8X1;
  unsigned char bytes[12] = {9, 9, 9, 9, 0, 51, 102, 255};
  OK(cuArrayCreate(&array, &descriptor));
  OK(cuArrayGetDescriptor(&seen, array));
  EXPECT(seen.Format == CU_AD_FORMAT_UNORM_INT8X1 && seen.NumChannels == 1);
  copy.srcHost = bytes, copy.srcPitch = copy.WidthInBytes = 4, copy.dstArray = array;
  OK(cuMemcpy2D(&copy));
  resource.res.array.hArray = array;
  settings.flags = CU_TRSF_READ_AS_INTEGER;
  OK(cuTexObjectCreate(&texture, &resource, &settings, nullptr));
  fetch<<<1, 4>>>(texture, (float *)p);
  OK(cuMemcpyDtoH(back, p, sizeof back));
  for (int i = 0; i < 4; ++i) EXPECT(back[i] == bytes[4 + i] / 255.0f);
  OK(cuTexObjectDestroy(texture));
  OK(cuArrayDestroy(array));
  descriptor.NumChannels = 2;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuArrayCreate(&array, &descriptor));
  descriptor.NumChannels = 1;
  descriptor.Format = CUarray_format(0x77);
  FAILS(CUDA_ERROR_NOT_SUPPORTED, cuArrayCreate(&array, &descriptor));
  OK(cuMemFree(p));
}

static void graphs() {
  CUgraph graph = nullptr;
  CUgraphExec instance = nullptr;
  CUgraphNode first = nullptr, second = nullptr;
  CUstream stream = nullptr;
  CUfunction f = nullptr;
  CUdeviceptr p = 0;
  float by = 3, value = 0;
  int n = 1;
  EXPECT(cudaGetFuncBySymbol(&f, (const void *)scale) == cudaSuccess);
  OK(cuMemAlloc(&p, 4));
  OK(cuMemsetD32(p, 0x3f800000, 1));
  OK(cuStreamCreate(&stream, 0));
  OK(cuGraphCreate(&graph, 0));
  void *args[] = {&p, &by, &n};
  CUDA_KERNEL_NODE_PARAMS node = {};
  node.func = f, node.gridDimX = node.gridDimY = node.gridDimZ = 1;
  node.blockDimX = node.blockDimY = node.blockDimZ = 1, node.kernelParams = args;
  OK(cuGraphAddKernelNode(&first, graph, nullptr, 0, &node));
  OK(cuGraphAddKernelNode(&second, graph, &first, 1, &node));
  OK(cuGraphInstantiate(&instance, graph, 0));
  OK(cuGraphLaunch(instance, stream));
  OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, args, nullptr));
  CUgraph captured = nullptr;
  OK(cuStreamEndCapture(stream, &captured));
  OK(cuMemcpyDtoH(&value, p, 4));
  EXPECT(value == 9);
  OK(cuGraphExecDestroy(instance));
  OK(cuGraphDestroy(captured));
  OK(cuGraphDestroy(graph));
  OK(cuStreamDestroy(stream));
  OK(cuMemFree(p));
}

static void absent() {
  CUmulticastObjectProp many = {};
  CUmemGenericAllocationHandle multicast = 0;
  FAILS(CUDA_ERROR_NOT_SUPPORTED, cuMulticastCreate(&multicast, &many));
  CUipcMemHandle ipc;
  // Memory of other processes: interprocess.cu.
  FAILS(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&ipc, 0));
  EXPECT(cudaGetLastError() == cudaSuccess);
}

static void names() {
  CUresult (*allocate)(CUdeviceptr *, size_t) = nullptr;
  CUresult (*release)(CUdeviceptr) = nullptr;
  CUdriverProcAddressQueryResult status;
  OK(cuGetProcAddress("cuMemAlloc", (void **)&allocate, 12000, 0, &status));
  EXPECT(status == CU_GET_PROC_ADDRESS_SUCCESS && (void *)allocate == (void *)&cuMemAlloc);
  FAILS(CUDA_ERROR_NOT_FOUND, cuGetProcAddress("cuNothing", (void **)&allocate, 12000, 0, &status));
  EXPECT(status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND && !allocate);
  cudaDriverEntryPointQueryResult found;
  EXPECT(cudaGetDriverEntryPointByVersion("cuMemFree", (void **)&release, 12000, 0, &found) == cudaSuccess);
  EXPECT(found == cudaDriverEntryPointSuccess && (void *)release == (void *)&cuMemFree);
  EXPECT(cudaGetDriverEntryPointByVersion("cuNothing", (void **)&release, 12000, 0, &found) == cudaSuccess);
  EXPECT(found == cudaDriverEntryPointSymbolNotFound);
}

// Memory, streams and events of one are those of the other.
static void beside_the_runtime() {
  CUdeviceptr p = 0;
  float *q = nullptr, value = 0;
  CUstream stream = nullptr;
  cudaEvent_t event = nullptr;
  OK(cuMemAlloc(&p, 400));
  OK(cuStreamCreate(&stream, 0));
  EXPECT(cudaMemset((void *)p, 0, 400) == cudaSuccess);
  EXPECT(cudaMalloc(&q, 4) == cudaSuccess);
  OK(cuMemsetD32(CUdeviceptr(q), 0x40000000, 1));
  scale<<<1, 1, 0, stream>>>(q, 4, 1);
  EXPECT(cudaEventCreate(&event) == cudaSuccess);
  OK(cuEventRecord(event, stream));
  EXPECT(cudaEventSynchronize(event) == cudaSuccess);
  OK(cuMemcpyDtoH(&value, CUdeviceptr(q), 4));
  EXPECT(value == 8);
  EXPECT(cudaStreamDestroy(stream) == cudaSuccess);
  EXPECT(cudaFree((void *)p) == cudaSuccess);
  OK(cuMemFree(CUdeviceptr(q)));
  // A thread that uses the runtime has the primary context.
  std::thread([] {
    CUcontext current = nullptr, primary = nullptr;
    OK(cuCtxGetCurrent(&current));
    OK(cuDevicePrimaryCtxRetain(&primary, 0));
    EXPECT(current && current == primary);
  }).join();
}

int main() {
  CUdevice device = -1;
  before();
  OK(cuDeviceGet(&device, 0));
  devices(device);
  CUcontext context = contexts(device);
  memory();
  streams();
  names();
  launches();
  textures();
  graphs();
  absent();
  beside_the_runtime();
  OK(cuCtxDestroy(context));
  printf("done, %d wrong\n", wrong);
}
