// Memory, symbols, streams, events, device and occupancy through the C ABI, with CUDA's own header.
#include "abi.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <vector>

static int failures;
#define CHECK(c) do { if (!(c)) { std::printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #c); failures++; } } while (0)
#define OK(c) do { cudaError_t err = (c); if (err) { std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #c, cudaGetErrorString(err)); failures++; } } while (0)
template <class T> static void **out(T **p) { return reinterpret_cast<void **>(p); }

static void kernel(void **) {}
static const uint32_t params[] = {8, 4, 8};
static const regrain_cpu_kernel kernels[] = {{"kernel", kernel, nullptr, params, 3, 0, 512, 1024, 0, nullptr, 0, nullptr}};
static const regrain_cpu_image image = {0x3130555043475252, kernels, 1, 0, nullptr};
static const fatbin_wrapper wrapper = {0x466243b1, 1, &image, nullptr}, bad_wrapper = {1, 1, &image, nullptr};
static char stub, bad_stub;

static void linear() {
  std::vector<int> host(1000), back(1000);
  for (int i = 0; i < 1000; i++) host[i] = i;
  int *d, *e;
  OK(cudaMalloc(out(&d), 4000)); OK(cudaMalloc(out(&e), 4000));
  CHECK(reinterpret_cast<uintptr_t>(d) % 256 == 0);
  OK(cudaMemcpy(d, host.data(), 4000, cudaMemcpyHostToDevice));
  OK(cudaMemcpy(e, d, 4000, cudaMemcpyDeviceToDevice));
  OK(cudaMemcpyAsync(back.data(), e, 4000, cudaMemcpyDefault, nullptr));
  CHECK(back == host);
  OK(cudaMemset(d, 0xff, 4000)); OK(cudaMemcpyPeer(e, 0, d, 0, 4000)); OK(cudaMemcpy(back.data(), e, 4000, cudaMemcpyDeviceToHost));
  CHECK(back[999] == -1);
  CHECK(cudaMemcpy(host.data(), d, 4, static_cast<cudaMemcpyKind>(9)) == cudaErrorInvalidMemcpyDirection);
  CHECK(cudaMemcpy(back.data(), host.data(), 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(d, host.data(), 4001, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemset(d, 0, 4001) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(nullptr, d, 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  CHECK(cudaFree(d + 1) == cudaErrorInvalidValue);
  CHECK(cudaMalloc(out(&d), size_t(1) << 50) == cudaErrorMemoryAllocation);
  cudaPointerAttributes at;
  OK(cudaPointerGetAttributes(&at, e + 10)); CHECK(at.type == cudaMemoryTypeDevice && at.devicePointer == e + 10);
  OK(cudaPointerGetAttributes(&at, host.data())); CHECK(at.type == cudaMemoryTypeUnregistered);
  OK(cudaFree(d)); OK(cudaFree(e)); CHECK(cudaFree(e) == cudaErrorInvalidValue);
  int *m, *h, *dev;
  OK(cudaMallocManaged(out(&m), 64, cudaMemAttachGlobal)); OK(cudaMemPrefetchAsync(m, 64, 0, nullptr)); OK(cudaMemAdvise(m, 64, cudaMemAdviseSetReadMostly, 0));
  OK(cudaFree(m));
  OK(cudaHostAlloc(out(&h), 64, cudaHostAllocMapped)); OK(cudaHostGetDevicePointer(out(&dev), h, 0)); CHECK(dev == h);
  CHECK(cudaFree(h) == cudaErrorInvalidValue); OK(cudaFreeHost(h));
  OK(cudaHostRegister(host.data(), 4000, 0)); CHECK(cudaHostRegister(host.data(), 4000, 0) == cudaErrorHostMemoryAlreadyRegistered);
  OK(cudaHostUnregister(host.data())); CHECK(cudaHostUnregister(host.data()) == cudaErrorHostMemoryNotRegistered);
  OK(cudaMallocAsync(out(&d), 64, nullptr)); OK(cudaFreeAsync(d, nullptr));
  size_t free = 0, total = 0; OK(cudaMemGetInfo(&free, &total)); CHECK(total >= free && free > 0);
}
static void pitched() {
  char *d; size_t pitch; char host[10][7], back[10][7];
  for (int i = 0; i < 70; i++) host[i / 7][i % 7] = char(i);
  OK(cudaMallocPitch(out(&d), &pitch, 7, 10)); CHECK(pitch == 512);
  OK(cudaMemcpy2D(d, pitch, host, 7, 7, 10, cudaMemcpyHostToDevice));
  std::memset(back, 0, 70);
  OK(cudaMemcpy2D(back, 7, d, pitch, 7, 10, cudaMemcpyDeviceToHost)); CHECK(!std::memcmp(host, back, 70));
  OK(cudaMemset2D(d + 1, pitch, 9, 3, 10)); OK(cudaMemcpy2D(back, 7, d, pitch, 7, 10, cudaMemcpyDeviceToHost));
  CHECK(back[4][0] == 28 && back[4][1] == 9 && back[4][3] == 9 && back[4][4] == 32);
  CHECK(cudaMemcpy2D(d, 4, host, 7, 7, 10, cudaMemcpyHostToDevice) == cudaErrorInvalidPitchValue);
  OK(cudaFree(d));
  cudaPitchedPtr p; OK(cudaMalloc3D(&p, {8, 4, 3}));
  int cube[3][4][2], got[3][4][2];
  for (int i = 0; i < 24; i++) (&cube[0][0][0])[i] = i;
  cudaMemcpy3DParms c = {};
  c.srcPtr = {cube, 8, 2, 4}; c.dstPtr = p; c.extent = {8, 4, 3}; c.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&c));
  c.srcPtr = p; c.dstPtr = {got, 8, 2, 4}; c.kind = cudaMemcpyDeviceToHost; OK(cudaMemcpy3D(&c));
  CHECK(!std::memcmp(cube, got, sizeof cube));
  OK(cudaMemset3D(p, 0, {8, 4, 3})); OK(cudaMemcpy3D(&c)); CHECK(got[2][3][1] == 0); OK(cudaFree(p.ptr));
  cudaArray_t array; cudaChannelFormatDesc f = {32, 0, 0, 0, cudaChannelFormatKindFloat};
  float plane[3][5], plane2[3][5] = {};
  for (int i = 0; i < 15; i++) plane[i / 5][i % 5] = float(i);
  OK(cudaMallocArray(&array, &f, 5, 3, 0)); OK(cudaMemcpy2DToArray(array, 0, 0, plane, 20, 20, 3, cudaMemcpyHostToDevice));
  cudaMemcpy3DParms a = {}; a.srcArray = array; a.srcPos = {1, 1, 0}; a.dstPtr = {plane2, 20, 5, 3}; a.extent = {2, 2, 1}; a.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&a)); CHECK(plane2[0][0] == 6 && plane2[1][1] == 12);
  a.extent = {5, 2, 1}; CHECK(cudaMemcpy3D(&a) == cudaErrorInvalidValue);
  OK(cudaFreeArray(array));
}
static void calls(void *p) { ++*static_cast<int *>(p); }
static void streams() {
  cudaStream_t s, t; cudaEvent_t a, b; float ms = -1; int count = 0;
  OK(cudaStreamCreate(&s)); OK(cudaStreamCreateWithPriority(&t, cudaStreamNonBlocking, -9));
  int priority; unsigned flags; OK(cudaStreamGetPriority(t, &priority)); OK(cudaStreamGetFlags(t, &flags)); CHECK(priority == -5 && flags == 1);
  OK(cudaEventCreate(&a)); OK(cudaEventCreate(&b));
  CHECK(cudaEventElapsedTime(&ms, a, b) == cudaErrorInvalidResourceHandle);
  OK(cudaEventRecord(a, s)); usleep(20000); OK(cudaLaunchHostFunc(s, calls, &count)); OK(cudaEventRecord(b, s)); OK(cudaEventSynchronize(b));
  OK(cudaEventElapsedTime(&ms, a, b)); CHECK(ms >= 20 && ms < 2000 && count == 1);
  OK(cudaStreamWaitEvent(t, b, 0)); OK(cudaStreamQuery(s)); OK(cudaEventQuery(a)); OK(cudaStreamSynchronize(cudaStreamPerThread));
  OK(cudaStreamDestroy(s)); CHECK(cudaStreamSynchronize(s) == cudaErrorInvalidResourceHandle); OK(cudaEventDestroy(a)); OK(cudaStreamDestroy(t));
  CHECK(cudaEventRecord(a, nullptr) == cudaErrorInvalidResourceHandle);
  cudaStreamCaptureStatus status; OK(cudaStreamIsCapturing(nullptr, &status)); CHECK(status == cudaStreamCaptureStatusNone);
  CHECK(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal) == cudaErrorStreamCaptureUnsupported); CHECK(cudaGetLastError() == cudaErrorStreamCaptureUnsupported);
}
static void device() {
  int n; cudaDeviceProp p; OK(cudaGetDeviceCount(&n)); CHECK(n == 1); OK(cudaGetDeviceProperties(&p, 0)); CHECK(cudaSetDevice(1) == cudaErrorInvalidDevice);
  CHECK(!std::strncmp(p.name, "Regrain CPU (", 13) && p.warpSize == 32 && p.major == 8 && p.minor == 0 && p.maxThreadsPerBlock == 1024 && p.cooperativeLaunch == 1);
  int v; OK(cudaDeviceGetAttribute(&v, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0)); CHECK(v == int(p.sharedMemPerBlockOptin));
  OK(cudaRuntimeGetVersion(&v)); CHECK(v == 12090);
  size_t size; OK(cudaDeviceSetLimit(cudaLimitStackSize, 4096)); OK(cudaDeviceGetLimit(&size, cudaLimitStackSize)); CHECK(size == 4096);
  cudaFuncAttributes f; OK(cudaFuncGetAttributes(&f, &stub)); CHECK(f.sharedSizeBytes == 1024 && f.maxThreadsPerBlock == 512 && f.maxDynamicSharedSizeBytes == 48128);
  OK(cudaFuncSetAttribute(&stub, cudaFuncAttributeMaxDynamicSharedMemorySize, 90000)); OK(cudaFuncGetAttributes(&f, &stub)); CHECK(f.maxDynamicSharedSizeBytes == 90000);
  CHECK(cudaFuncSetAttribute(&stub, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20) == cudaErrorInvalidValue);
  OK(cudaLaunchKernel(&stub, 1, 32, nullptr, 80000, nullptr)); CHECK(cudaLaunchKernel(&stub, 1, 32, nullptr, 90001, nullptr) == cudaErrorInvalidValue);
  CHECK(cudaLaunchKernel(&stub, 1, 1024, nullptr, 0, nullptr) == cudaErrorInvalidValue);
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&v, &stub, 256, 0)); CHECK(v == 8);
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&v, &stub, 128, 31 << 10)); CHECK(v == 5);
  size_t at, bytes; OK(cudaFuncGetParamInfo(&stub, 2, &at, &bytes)); CHECK(at == 16 && bytes == 8); CHECK(cudaFuncGetParamInfo(&stub, 3, &at, &bytes) == cudaErrorInvalidValue);
  CHECK(!std::strcmp(cudaGetErrorName(cudaErrorLaunchFailure), "cudaErrorLaunchFailure") && !std::strcmp(cudaGetErrorString(cudaErrorLaunchFailure), "unspecified launch failure"));
  CHECK(!std::strcmp(cudaGetErrorString(static_cast<cudaError_t>(5555)), "unrecognized error code"));
  CHECK(cudaLaunchKernel(&bad_stub, 1, 1, nullptr, 0, nullptr) == cudaErrorInvalidKernelImage);
  cudaGetLastError(); OK(cudaPeekAtLastError()); OK(cudaDeviceReset());
  cudaMemPool_t pool; OK(cudaDeviceGetDefaultMemPool(&pool, 0)); uint64_t keep = 1 << 20, read = 0;
  OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep)); OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &read)); CHECK(read == keep);
  cudaLaunchConfig_t config = {}; config.gridDim = 1; config.blockDim = 32; cudaLaunchAttribute attr = {}; config.attrs = &attr; config.numAttrs = 1;
  attr.id = cudaLaunchAttributeCooperative; attr.val.cooperative = 1; OK(cudaLaunchKernelExC(&config, &stub, nullptr));
  attr.id = cudaLaunchAttributeClusterDimension; attr.val.clusterDim.x = 2; attr.val.clusterDim.y = attr.val.clusterDim.z = 1;
  CHECK(cudaLaunchKernelExC(&config, &stub, nullptr) == cudaErrorNotSupported);
}

int main() {
  void **h = __cudaRegisterFatBinary(&wrapper), **bad = __cudaRegisterFatBinary(&bad_wrapper);
  __cudaRegisterFunction(h, &stub, &stub, "kernel", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  __cudaRegisterFunction(bad, &bad_stub, &bad_stub, "kernel", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  linear(); pitched(); streams(); device();
  __cudaUnregisterFatBinary(h);
  if (failures) std::printf("%d failed\n", failures); else std::printf("all passed\n");
  return failures != 0;
}
