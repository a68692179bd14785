// What a program sees of the device of its process: run with an image (images.h) and a part of the test.
#include "checks.h"
#include <cstdlib>
#include <dlfcn.h>
#include <thread>

extern "C" {
cudaError_t cudaMemcpy_ptds(void *, const void *, size_t, cudaMemcpyKind);
cudaError_t cudaMemset_ptds(void *, int, size_t);
cudaError_t cudaMemcpyAsync_ptsz(void *, const void *, size_t, cudaMemcpyKind, cudaStream_t);
cudaError_t cudaLaunchKernel_ptsz(const void *, dim3, dim3, void **, size_t, cudaStream_t);
cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t);
cudaError_t cudaEventRecord_ptsz(cudaEvent_t, cudaStream_t);
cudaError_t cudaMemcpyToSymbol_ptds(const void *, const void *, size_t, size_t, cudaMemcpyKind);
}

// Which device it is, and what calls return.
static void kind() {
  int count = -1, *p = nullptr, host = 1;
  cudaError_t counted = cudaGetDeviceCount(&count), made = cudaMalloc(out(&p), 4);
  if (!made) cudaMemset(p, 0, 4);
  Args args(p);
  cudaError_t ran = launch(0, args), sync = cudaDeviceSynchronize();
  if (!made) cudaMemcpy(&host, p, 4, cudaMemcpyDeviceToHost);
  std::printf("%u %d %s %s %s %s %d\n", __regrain_device_kind(), count, name(counted), name(made), name(ran),
      name(sync), host);
}

static void memory() {
  std::vector<int> host(1000), back(1000);
  for (int i = 0; i < 1000; i++) host[i] = i * 3;
  int *d, *e, *m, *h, *seen; size_t free_before, free_after, total, pitch;
  OK(cudaMemGetInfo(&free_before, &total));
  OK(cudaMalloc(out(&d), 4000)); OK(cudaMalloc(out(&e), 4000));
  OK(cudaMemcpy(d, host.data(), 4000, cudaMemcpyHostToDevice)); OK(cudaMemcpy(e, d, 4000, cudaMemcpyDeviceToDevice));
  OK(cudaMemcpy(back.data(), e, 4000, cudaMemcpyDefault)); CHECK(back == host);
  OK(cudaMemset(e, 0xff, 4000)); OK(cudaMemcpyAsync(back.data(), e, 4000, cudaMemcpyDeviceToHost, nullptr));
  CHECK(back[999] == -1);
  IS(cudaMemcpy(d, host.data(), 4, cudaMemcpyKind(9)), cudaErrorInvalidMemcpyDirection);
  IS(cudaMemcpy2D(d, 4, host.data(), 7, 7, 10, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
  OK(cudaMallocPitch(out(&m), &pitch, 28, 10)); CHECK(pitch == 512);
  OK(cudaMemcpy2D(m, pitch, host.data(), 28, 28, 10, cudaMemcpyHostToDevice)); back.assign(1000, 0);
  OK(cudaMemcpy2DAsync(back.data(), 28, m, pitch, 28, 10, cudaMemcpyDeviceToHost, cudaStreamPerThread));
  CHECK(!std::memcmp(back.data(), host.data(), 280));
  OK(cudaMemset2D(m, pitch, 1, 28, 10)); OK(cudaMemcpy2D(back.data(), 28, m, pitch, 28, 10, cudaMemcpyDeviceToHost));
  CHECK(back[69] == 0x01010101);
  OK(cudaFree(m));
  cudaPitchedPtr p; OK(cudaMalloc3D(&p, {8, 4, 3}));
  cudaMemcpy3DParms c = {}; int cube[24] = {};
  c.srcPtr = {host.data(), 8, 2, 4}; c.dstPtr = p; c.extent = {8, 4, 3}; c.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&c));
  c.srcPtr = p; c.dstPtr = {cube, 8, 2, 4}; c.kind = cudaMemcpyDeviceToHost; OK(cudaMemcpy3D(&c));
  CHECK(!std::memcmp(cube, host.data(), sizeof cube));
  OK(cudaMemset3D(p, 0, {8, 4, 3})); OK(cudaMemcpy3DAsync(&c, nullptr)); CHECK(cube[23] == 0); OK(cudaFree(p.ptr));
  OK(cudaMallocManaged(out(&m), 64)); m[3] = 5; OK(cudaMemPrefetchAsync(m, 64, 0, nullptr));
  OK(cudaMemPrefetchAsync(m, 64, cudaCpuDeviceId, nullptr)); OK(cudaMemAdvise(m, 64, cudaMemAdviseSetReadMostly, 0));
  OK(cudaHostAlloc(out(&h), 64, cudaHostAllocMapped)); OK(cudaHostGetDevicePointer(out(&seen), h, 0)); CHECK(seen == h);
  unsigned flags; OK(cudaHostGetFlags(&flags, h)); CHECK(flags == cudaHostAllocMapped);
  OK(cudaHostRegister(host.data(), 4000, 0));
  IS(cudaHostRegister(host.data(), 4000, 0), cudaErrorHostMemoryAlreadyRegistered);
  cudaPointerAttributes at;
  OK(cudaPointerGetAttributes(&at, d + 5));
  CHECK(at.type == cudaMemoryTypeDevice && at.devicePointer == d + 5 && at.hostPointer == nullptr && at.device == 0);
  OK(cudaPointerGetAttributes(&at, m)); CHECK(at.type == cudaMemoryTypeManaged && at.hostPointer == m);
  OK(cudaPointerGetAttributes(&at, h)); CHECK(at.type == cudaMemoryTypeHost && at.devicePointer == h);
  OK(cudaPointerGetAttributes(&at, back.data()));
  CHECK(at.type == cudaMemoryTypeUnregistered && at.hostPointer == back.data());
  OK(cudaHostUnregister(host.data())); OK(cudaFreeHost(h)); OK(cudaFree(m)); OK(cudaFree(nullptr));
  OK(cudaFreeHost(nullptr));
  OK(cudaMallocAsync(out(&m), 64, cudaStreamPerThread)); OK(cudaFreeAsync(m, nullptr)); OK(cudaFree(d));
  OK(cudaFree(e));
  OK(cudaMalloc(out(&m), 0)); CHECK(m == nullptr);
  OK(cudaMemGetInfo(&free_after, &total)); CHECK(free_before == free_after);
  IS(cudaMalloc(out(&m), total + 1), cudaErrorMemoryAllocation); IS(cudaGetLastError(), cudaErrorMemoryAllocation);
  IS(cudaGetLastError(), cudaSuccess);
}

static void arrays() {
  cudaArray_t array, cube;
  cudaChannelFormatDesc f = {32, 32, 0, 0, cudaChannelFormatKindFloat}, g,
      bad = {32, 16, 0, 0, cudaChannelFormatKindFloat}; cudaExtent e; unsigned flags;
  float plane[3][10], part[2][4] = {}, solid[2][3][8], back[2][3][8] = {};
  for (int i = 0; i < 30; i++) (&plane[0][0])[i] = float(i);
  for (int i = 0; i < 48; i++) (&solid[0][0][0])[i] = float(i) / 2;
  OK(cudaMallocArray(&array, &f, 5, 3, 0)); OK(cudaArrayGetInfo(&g, &e, &flags, array));
  CHECK(g.x == 32 && g.y == 32 && g.z == 0 && g.f == cudaChannelFormatKindFloat && e.width == 5 && e.height == 3);
  OK(cudaMemcpy2DToArray(array, 0, 0, plane, 40, 40, 3, cudaMemcpyHostToDevice));
  OK(cudaMemcpy2DFromArrayAsync(part, 16, array, 8, 1, 16, 2, cudaMemcpyDeviceToHost, nullptr));
  CHECK(part[0][0] == 12 && part[1][3] == 25);
  IS(cudaMemcpy2DToArray(array, 0, 0, plane, 40, 40, 3, cudaMemcpyDeviceToHost), cudaErrorInvalidMemcpyDirection);
  OK(cudaMalloc3DArray(&cube, &f, {4, 3, 2})); cudaMemcpy3DParms c = {};
  c.srcPtr = {solid, 32, 4, 3}; c.dstArray = cube; c.extent = {4, 3, 2}; c.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&c));
  cudaMemcpy3DParms d = {}; d.srcArray = cube; d.srcPos = {1, 1, 1}; d.dstPtr = {back, 32, 4, 3};
  d.extent = {2, 2, 1}; d.kind = cudaMemcpyDeviceToHost; OK(cudaMemcpy3D(&d));
  CHECK(back[0][0][0] == solid[1][1][2] && back[0][1][3] == solid[1][2][5]); OK(cudaFreeArray(cube));
  OK(cudaFreeArray(array)); OK(cudaFreeArray(nullptr));
  if (__regrain_device_kind() == 1) IS(cudaMallocArray(&array, &bad, 5, 3), cudaErrorInvalidChannelDescriptor);
  if (__regrain_device_kind() == 2) {
    IS(cudaMalloc3DArray(&cube, &f, {4, 3, 2}, cudaArrayLayered), cudaErrorNotSupported);
    IS(cudaMalloc3DArray(&cube, &f, {4, 4, 6}, cudaArrayCubemap), cudaErrorNotSupported); return;
  }
  OK(cudaMalloc3DArray(&cube, &f, {4, 3, 2}, cudaArrayLayered)); OK(cudaArrayGetInfo(&g, &e, &flags, cube));
  CHECK(e.depth == 2 && flags == cudaArrayLayered); OK(cudaFreeArray(cube));
  OK(cudaMalloc3DArray(&cube, &f, {4, 4, 6}, cudaArrayCubemap)); OK(cudaFreeArray(cube));
  IS(cudaMalloc3DArray(&cube, &f, {4, 4, 6}, cudaArrayColorAttachment), cudaErrorNotSupported);
}

// Each setting has a value of its own, so that one in the place of another is seen.
static void textures() {
  cudaChannelFormatDesc bytes = {8, 8, 8, 8, cudaChannelFormatKindUnsigned},
      words = {32, 0, 0, 0, cudaChannelFormatKindSigned}, floats = {32, 0, 0, 0, cudaChannelFormatKindFloat}, held;
  cudaTextureObject_t t, u; cudaSurfaceObject_t s; cudaArray_t array, level; cudaMipmappedArray_t mipmap;
  cudaResourceDesc of = {}, seen; cudaTextureDesc set = {}, got; cudaResourceViewDesc view = {}, viewed;
  // Bytes of an array, filtered as fractions.
  OK(cudaMallocArray(&array, &bytes, 8, 4, cudaArraySurfaceLoadStore));
  of.resType = cudaResourceTypeArray; of.res.array.array = array;
  set.addressMode[0] = cudaAddressModeMirror; set.addressMode[1] = cudaAddressModeBorder;
  set.filterMode = cudaFilterModeLinear; set.readMode = cudaReadModeNormalizedFloat; set.sRGB = 1;
  for (int i = 0; i < 4; i++) set.borderColor[i] = float(i) / 4;
  set.normalizedCoords = 1; set.maxAnisotropy = 3;
  view.format = cudaResViewFormatSignedChar4; view.width = 8; view.height = 4;
  OK(cudaCreateTextureObject(&t, &of, &set, &view)); OK(cudaGetTextureObjectResourceDesc(&seen, t));
  CHECK(seen.resType == cudaResourceTypeArray && seen.res.array.array == array);
  OK(cudaGetTextureObjectTextureDesc(&got, t)); OK(cudaGetTextureObjectResourceViewDesc(&viewed, t));
  CHECK(!std::memcmp(&set, &got, sizeof set) && viewed.format == view.format && viewed.width == 8);
  set.readMode = cudaReadModeElementType;
  IS(cudaCreateTextureObject(&u, &of, &set, nullptr), cudaErrorInvalidFilterSetting);
  OK(cudaCreateSurfaceObject(&s, &of)); OK(cudaGetSurfaceObjectResourceDesc(&seen, s));
  CHECK(seen.res.array.array == array); OK(cudaDestroySurfaceObject(s)); OK(cudaDestroyTextureObject(t));
  IS(cudaGetTextureObjectTextureDesc(&got, t), cudaErrorInvalidValue);
  IS(cudaGetSurfaceObjectResourceDesc(&seen, s), cudaErrorInvalidValue);
  OK(cudaFreeArray(array)); OK(cudaMallocArray(&array, &bytes, 8, 4)); of.res.array.array = array;
  IS(cudaCreateSurfaceObject(&s, &of), cudaErrorInvalidValue); OK(cudaFreeArray(array));
  // Integers in pitched memory: what would repeat does not, in coordinates of texels.
  char *rows, *line; size_t pitch; OK(cudaMallocPitch(out(&rows), &pitch, 40, 3)); set = {}; of = {};
  of.resType = cudaResourceTypePitch2D; of.res.pitch2D.devPtr = rows; of.res.pitch2D.desc = words;
  of.res.pitch2D.width = 10; of.res.pitch2D.height = 3; of.res.pitch2D.pitchInBytes = pitch;
  OK(cudaCreateTextureObject(&t, &of, &set, nullptr)); OK(cudaGetTextureObjectResourceDesc(&seen, t));
  CHECK(seen.res.pitch2D.height == 3 && seen.res.pitch2D.desc.x == 32);
  IS(cudaGetTextureObjectResourceViewDesc(&viewed, t), cudaErrorInvalidValue); OK(cudaDestroyTextureObject(t));
  set.readMode = cudaReadModeNormalizedFloat;
  IS(cudaCreateTextureObject(&t, &of, &set, nullptr), cudaErrorInvalidNormSetting); OK(cudaFree(rows));
  // Linear memory is never filtered, so that the filter does not matter.
  OK(cudaMalloc(out(&line), 64)); set = {}; set.filterMode = cudaFilterModeLinear; of = {};
  of.resType = cudaResourceTypeLinear; of.res.linear.devPtr = line; of.res.linear.desc = words;
  of.res.linear.sizeInBytes = 64; OK(cudaCreateTextureObject(&t, &of, &set, nullptr));
  OK(cudaDestroyTextureObject(t)); OK(cudaFree(line));
  // Floats in levels.
  OK(cudaMallocMipmappedArray(&mipmap, &floats, {8, 4, 0}, 3, cudaArraySurfaceLoadStore)); unsigned flags;
  OK(cudaGetMipmappedArrayLevel(&level, mipmap, 1)); cudaExtent e; OK(cudaArrayGetInfo(&held, &e, &flags, level));
  CHECK(e.width == 4 && e.height == 2 && flags == cudaArraySurfaceLoadStore && held.f == cudaChannelFormatKindFloat);
  IS(cudaGetMipmappedArrayLevel(&level, mipmap, 3), cudaErrorInvalidValue);
  set.normalizedCoords = 1; set.mipmapFilterMode = cudaFilterModeLinear; set.mipmapLevelBias = 0.5f;
  set.minMipmapLevelClamp = 0.25f; set.maxMipmapLevelClamp = 1.5f; set.disableTrilinearOptimization = 1;
  set.seamlessCubemap = 1; of = {}; of.resType = cudaResourceTypeMipmappedArray; of.res.mipmap.mipmap = mipmap;
  view = {}; view.width = 4; view.height = 2; view.firstMipmapLevel = 1; view.lastMipmapLevel = 2;
  OK(cudaCreateTextureObject(&t, &of, &set, &view)); OK(cudaDestroyTextureObject(t)); of = {};
  of.res.array.array = level; OK(cudaCreateSurfaceObject(&s, &of)); OK(cudaDestroySurfaceObject(s));
  OK(cudaFreeMipmappedArray(mipmap)); OK(cudaFreeMipmappedArray(nullptr));
  OK(cudaDestroyTextureObject(0)); OK(cudaDestroySurfaceObject(0));
  // A reset forgets objects.
  OK(cudaMallocArray(&array, &words, 8)); of.res.array.array = array; set = {};
  OK(cudaCreateTextureObject(&t, &of, &set, nullptr)); OK(cudaDeviceReset());
  IS(cudaGetTextureObjectResourceDesc(&seen, t), cudaErrorInvalidValue);
}

// Memory that is not the device's, and freed twice: the stand-in's log calls it misuse.
static void misuse() {
  int *d, host = 0; OK(cudaMalloc(out(&d), 64));
  IS(cudaMemcpy(d, &host, 65, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  IS(cudaFree(d + 1), cudaErrorInvalidValue);
  OK(cudaFree(d)); IS(cudaFree(d), cudaErrorInvalidValue);
  cudaStream_t s; OK(cudaStreamCreate(&s)); OK(cudaStreamDestroy(s));
  IS(cudaStreamSynchronize(s), cudaErrorInvalidResourceHandle);
  cudaEvent_t e; OK(cudaEventCreate(&e)); OK(cudaEventDestroy(e));
  IS(cudaEventRecord(e, nullptr), cudaErrorInvalidResourceHandle);
}

static void count(void *data) { ++*static_cast<int *>(data); }
static void callback(cudaStream_t, cudaError_t error, void *data) { *static_cast<int *>(data) += 10 + error; }
static void streams() {
  cudaStream_t s, t; cudaEvent_t a, b; float ms = -1; int calls = 0, *d, host = 4, priority, least, greatest;
  unsigned flags;
  OK(cudaDeviceGetStreamPriorityRange(&least, &greatest)); CHECK(least == 0 && greatest == -5);
  OK(cudaStreamCreate(&s)); OK(cudaStreamCreateWithPriority(&t, cudaStreamNonBlocking, -9));
  OK(cudaStreamGetPriority(t, &priority)); OK(cudaStreamGetFlags(t, &flags)); CHECK(priority == -5 && flags == 1);
  OK(cudaMalloc(out(&d), 4)); Args args(d);
  OK(cudaMemcpyAsync(d, &host, 4, cudaMemcpyHostToDevice, s)); OK(launch(0, args, s)); OK(launch(0, args));
  OK(cudaLaunchKernel_ptsz(stubs, 1, 1, args.list, 0, nullptr));
  OK(cudaLaunchKernel_ptsz(stubs, 1, 1, args.list, 0, cudaStreamLegacy));
  OK(cudaMemcpy_ptds(&host, d, 4, cudaMemcpyDeviceToHost)); OK(cudaMemset_ptds(d, 0, 4));
  OK(cudaMemcpyAsync_ptsz(d, &host, 4, cudaMemcpyHostToDevice, nullptr));
  OK(cudaMemcpyToSymbol_ptds(scale, &host, 4, 0, cudaMemcpyHostToDevice)); OK(cudaStreamSynchronize_ptsz(nullptr));
  OK(cudaStreamSynchronize(nullptr));
  OK(cudaEventCreate(&a)); OK(cudaEventCreateWithFlags(&b, cudaEventBlockingSync));
  IS(cudaEventElapsedTime(&ms, a, b), cudaErrorInvalidResourceHandle);
  OK(cudaEventRecord(a, s)); OK(cudaEventRecord_ptsz(b, nullptr)); OK(cudaStreamWaitEvent(t, b, 0));
  OK(cudaEventQuery(a)); OK(cudaEventSynchronize(b));
  OK(cudaEventElapsedTime(&ms, a, b)); CHECK(ms >= 0 && ms < 1000);
  OK(cudaLaunchHostFunc(s, count, &calls)); OK(cudaStreamAddCallback(s, callback, &calls, 0));
  OK(cudaStreamSynchronize(s)); CHECK(calls == 11);
  cudaStreamCaptureStatus status; OK(cudaStreamIsCapturing(s, &status)); CHECK(status == cudaStreamCaptureStatusNone);
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed; OK(cudaThreadExchangeStreamCaptureMode(&mode));
  CHECK(mode == cudaStreamCaptureModeGlobal);
  IS(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal), cudaErrorNotSupported);
  int device = -1; OK(cudaStreamGetDevice(s, &device)); CHECK(device == 0);
  OK(cudaStreamQuery(s)); OK(cudaStreamDestroy(s)); OK(cudaStreamDestroy(t)); OK(cudaEventDestroy(a));
  OK(cudaEventDestroy(b)); OK(cudaFree(d));
  IS(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
}

static void symbols() {
  int to[4] = {9, 8, 7, 6}, back[4] = {}; void *address; size_t size;
  OK(cudaMemcpyToSymbol(scale, to, 16)); OK(cudaMemcpyFromSymbol(back, scale, 8, 8));
  CHECK(back[0] == 7 && back[1] == 6);
  OK(cudaMemcpyToSymbolAsync(scale, to, 4, 12, cudaMemcpyHostToDevice, cudaStreamPerThread));
  OK(cudaMemcpyFromSymbolAsync(back, scale, 16, 0, cudaMemcpyDeviceToHost, nullptr)); CHECK(back[3] == 9);
  OK(cudaGetSymbolAddress(&address, scale)); OK(cudaGetSymbolSize(&size, scale)); CHECK(size == 16);
  OK(cudaMemcpy(back, address, 16, cudaMemcpyDeviceToHost)); CHECK(back[2] == 7);
  IS(cudaMemcpyToSymbol(scale, to, 8, 12), cudaErrorInvalidValue);
  IS(cudaMemcpyToSymbol(stubs, to, 4), cudaErrorInvalidSymbol);
  IS(cudaMemcpyFromSymbol(back, scale, 4, 0, cudaMemcpyHostToDevice), cudaErrorInvalidMemcpyDirection);
}

static void launches() {
  int *d; OK(cudaMalloc(out(&d), 4)); Args args(d);
  OK(cudaLaunchKernel(stubs, dim3(4, 5, 6), dim3(8, 4, 2), args.list, 128, nullptr));
  OK(cudaLaunchCooperativeKernel(stubs, 2, 64, args.list, 0, cudaStreamPerThread));
  struct { long a, b, c; } three = {258, 2, 3}; void *one[] = {&three};
  OK(cudaLaunchKernel(stubs + 1, 1, 1, one, 0, nullptr));
  cudaLaunchConfig_t config = {}; config.gridDim = 4; config.blockDim = 32; cudaLaunchAttribute attrs[2] = {};
  config.attrs = attrs; config.numAttrs = 1;
  attrs[0].id = cudaLaunchAttributeClusterDimension; attrs[0].val.clusterDim = {2, 1, 1};
  OK(cudaLaunchKernelExC(&config, stubs, args.list));
  attrs[0].id = cudaLaunchAttributeCooperative; attrs[0].val.cooperative = 1;
  OK(cudaLaunchKernelExC(&config, stubs, args.list));
  for (dim3 grid : {dim3(0), dim3(1, 65536), dim3(1, 1, 65536)}) IS(cudaLaunchKernel(stubs, grid, 1, args.list, 0,
      nullptr), cudaErrorInvalidConfiguration);
  for (dim3 block : {dim3(1025), dim3(0), dim3(1, 1, 65), dim3(64, 32)}) IS(cudaLaunchKernel(stubs, 1, block,
      args.list, 0, nullptr), cudaErrorInvalidConfiguration);
  IS(cudaPeekAtLastError(), cudaErrorInvalidConfiguration); IS(cudaGetLastError(), cudaErrorInvalidConfiguration);
  OK(cudaGetLastError());
  IS(launch(2, args), cudaErrorInvalidDeviceFunction); IS(launch(3, args), cudaErrorInvalidDeviceFunction);
  IS(cudaLaunchKernel(&failures, 1, 1, nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  cudaFuncAttributes f; OK(cudaFuncGetAttributes(&f, stubs));
  CHECK(f.maxThreadsPerBlock == 1024 && f.numRegs == 32 && f.maxDynamicSharedSizeBytes == 49152
      && f.binaryVersion == 80);
  IS(cudaLaunchKernel(stubs, 1, 1, args.list, 60000, nullptr), cudaErrorInvalidValue);
  OK(cudaFuncSetAttribute(stubs, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
  OK(cudaLaunchKernel(stubs, 1, 1, args.list, 60000, nullptr));
  IS(cudaFuncSetAttribute(stubs, cudaFuncAttribute(3), 1), cudaErrorInvalidValue);
  int blocks; OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, stubs, 256, 0)); CHECK(blocks == 8);
  size_t at, size; OK(cudaFuncGetParamInfo(stubs, 2, &at, &size)); CHECK(at == 16 && size == 8); OK(cudaFree(d));
  CHECK(__regrain_keeps_grain() == 0);
  cudaDeviceProp p; OK(cudaGetDeviceProperties(&p, 0));
  CHECK(!std::strcmp(p.name,
      "Stand-in GPU 0") && p.major == 8 && p.minor == 0 && p.multiProcessorCount == 108 && p.maxGridSize[1] == 65535
      && p.l2CacheSize == 380 && p.sharedMemPerMultiprocessor == 810 && p.totalGlobalMem == 1 << 30);
  OK(cudaDeviceSetLimit(cudaLimitStackSize, 4096)); OK(cudaDeviceGetLimit(&size, cudaLimitStackSize));
  CHECK(size == 4096);
  char id[32]; OK(cudaDeviceGetPCIBusId(id, 32, 0)); CHECK(!std::strcmp(id, "0000:01:00.0"));
  IS(cudaDeviceGetAttribute(&blocks, cudaDevAttrWarpSize, 1), cudaErrorInvalidDevice);
  int version; OK(cudaDriverGetVersion(&version)); CHECK(version == 12090);
}

// The kernel fails when it runs: the launch is fine, and what follows is not, until the GPU is reset.
static void sticky() {
  int *d; OK(cudaMalloc(out(&d), 4)); Args args(d);
  OK(launch(0, args)); OK(cudaGetLastError());
  IS(cudaDeviceSynchronize(), cudaErrorLaunchFailure); IS(cudaGetLastError(), cudaErrorLaunchFailure);
  IS(cudaGetLastError(), cudaErrorLaunchFailure);
  IS(cudaMalloc(out(&d), 4), cudaErrorLaunchFailure); OK(cudaDeviceReset()); OK(cudaGetLastError());
  OK(cudaMalloc(out(&d), 4)); OK(cudaFree(d));
}

static void told() {
  int *d; cudaStream_t s;
  IS(cudaMalloc(out(&d), 4), cudaErrorMemoryAllocation); OK(cudaMalloc(out(&d), 4));
  IS(cudaStreamCreate(&s), cudaErrorUnknown);
  Args args(d); IS(launch(0, args), cudaErrorLaunchOutOfResources);
  IS(cudaGetLastError(), cudaErrorLaunchOutOfResources); OK(cudaDeviceSynchronize()); OK(cudaFree(d));
}

static void reset() {
  int *d, back[4] = {}, to[4] = {1, 2, 3, 4}; OK(cudaMalloc(out(&d), 64)); Args args(d); OK(launch(0, args));
  OK(cudaMemcpyToSymbol(scale, to, 16));
  std::thread other([&] { OK(cudaDeviceSynchronize()); OK(cudaMalloc(out(&d), 4)); });
  other.join();
  OK(cudaDeviceReset()); OK(cudaMemcpyFromSymbol(back, scale, 16)); CHECK(back[0] == 0); OK(cudaMalloc(out(&d), 4));
  args.pointer = d; OK(launch(0, args)); OK(cudaFree(d));
}

static void gpus() {
  int n, now, can; OK(cudaGetDeviceCount(&n)); CHECK(n == 2); OK(cudaGetDevice(&now)); CHECK(now == 0);
  IS(cudaSetDevice(2), cudaErrorInvalidDevice);
  int *a, *b, host = 42, back = 0; OK(cudaMalloc(out(&a), 4)); OK(cudaSetDevice(1)); OK(cudaGetDevice(&now));
  CHECK(now == 1); OK(cudaMalloc(out(&b), 4));
  OK(cudaDeviceCanAccessPeer(&can, 0, 1)); CHECK(can == 1); OK(cudaDeviceEnablePeerAccess(0, 0));
  IS(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessAlreadyEnabled); OK(cudaDeviceDisablePeerAccess(0));
  OK(cudaMemcpy(a, &host, 4, cudaMemcpyHostToDevice)); OK(cudaMemcpyPeer(b, 1, a, 0, 4));
  OK(cudaMemcpyPeerAsync(b, 1, a, 0, 4, nullptr)); OK(cudaMemcpy(&back, b, 4, cudaMemcpyDeviceToHost));
  CHECK(back == 42);
  IS(cudaMemcpyPeer(b, 2, a, 0, 4), cudaErrorInvalidDevice);
  Args args(b); OK(launch(0, args)); cudaStream_t s; OK(cudaStreamCreate(&s)); OK(cudaSetDevice(0));
  IS(launch(0, args, s), cudaErrorInvalidResourceHandle);
  OK(cudaStreamGetDevice(s, &now)); CHECK(now == 1);
  cudaPointerAttributes at; OK(cudaPointerGetAttributes(&at, b)); CHECK(at.device == 1);
  std::thread other([] { int mine
      = -1; OK(cudaGetDevice(&mine)); CHECK(mine == 0); OK(cudaSetDevice(1)); OK(cudaGetDevice(&mine));
  CHECK(mine == 1); });
  other.join(); OK(cudaGetDevice(&now)); CHECK(now == 0);
  if (__regrain_device_kind() != 1) return;
  // Another library of the process makes a GPU current through the driver.
  void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context = nullptr;
  auto retain = reinterpret_cast<int (*)(void **, int)>(dlsym(driver, "cuDevicePrimaryCtxRetain"));
  auto set = reinterpret_cast<int (*)(void *)>(dlsym(driver, "cuCtxSetCurrent"));
  CHECK(retain(&context, 1) == 0 && set(context) == 0); OK(cudaGetDevice(&now)); CHECK(now == 1);
  OK(launch(0, args, s));
  OK(cudaDeviceReset()); OK(cudaSetDevice(0)); OK(cudaFree(a)); OK(cudaSetDevice(1)); OK(cudaMalloc(out(&b), 4));
  args.pointer = b; OK(launch(0, args));
}

static void threads() {
  std::vector<std::thread> all;
  for (int t = 0; t < 4; t++)
    all.emplace_back([t] {
      OK(cudaSetDevice(t % 2)); cudaStream_t s; OK(cudaStreamCreate(&s));
      for (int i = 0; i < 20; i++) {
        int *d, to = t * 100 + i, back = 0; OK(cudaMalloc(out(&d), 4)); Args args(d);
        OK(cudaMemcpyAsync(d, &to, 4, cudaMemcpyHostToDevice, s)); OK(launch(0, args, s));
        OK(cudaMemcpyAsync(&back, d, 4, cudaMemcpyDeviceToHost, s)); OK(cudaStreamSynchronize(s)); CHECK(back == to);
        OK(cudaFree(d));
      }
      OK(cudaStreamDestroy(s)); OK(cudaGetLastError());
    });
  for (auto &t : all) t.join();
}

// A launch with two candidates, as a program that is built for profiling has it (crates/profiler/src/abi.rs).
struct Site { const char *kernel, *hash, *target, *version; int count,
    reserved; const char *const *grains; void *state; };
struct Token { alignas(8) char bytes[32]; };
extern "C" int __regrain_profile_begin(Site *, int, int, int, int, int, int, uint64_t, void *, Token *);
extern "C" void __regrain_profile_end(Site *, Token *, int);
static void profiled() {
  static const char *const grains[] = {"original", "b2x1x1"};
  static Site site = {"add", "00ff", "sm_80", "1", 2, 0, grains, nullptr};
  cudaStream_t s; int *d, chosen[2] = {}; OK(cudaStreamCreate(&s)); OK(cudaMalloc(out(&d), 4)); Args args(d);
  for (int i = 0; i < 40; i++) {
    Token token; int candidate = __regrain_profile_begin(&site, 2, 1, 1, 32, 1, 1, 0, s, &token);
    CHECK(candidate == 0 || candidate == 1); chosen[candidate & 1]++;
    __regrain_profile_end(&site, &token, launch(0, args, s));
  }
  CHECK(chosen[0] >= 5 && chosen[1] >= 5);
}

// The host may touch a managed variable before it calls anything.
static void managed() {
  CHECK(managed_pointer != nullptr); if (!managed_pointer) return;
  managed_pointer[2] = 77; int back[4]; OK(cudaMemcpy(back, managed_pointer, 16, cudaMemcpyDefault));
  CHECK(back[2] == 77);
  cudaPointerAttributes at; OK(cudaPointerGetAttributes(&at, managed_pointer));
  int n; OK(cudaGetDeviceCount(&n)); std::printf("type %d\n", at.type);
  if (n > 1) { int *d; OK(cudaSetDevice(1)); OK(cudaMalloc(out(&d), 4)); Args args(d); IS(launch(0, args),
      cudaErrorNotSupported); }
}

int main(int, char **argv) {
  // As a constructor of the program does that runs before clang's own.
  if (!std::strcmp(argv[2], "early")) { cudaFree(nullptr); argv[2] = const_cast<char *>("kind"); }
  register_program(argv[1]);
  struct { const char *name; void (*run)(); } parts[] = {{"kind", kind}, {"memory", memory}, {"arrays", arrays},
      {"textures", textures},
      {"misuse", misuse}, {"streams", streams}, {"symbols", symbols}, {"launches", launches},
    {"sticky", sticky}, {"told", told}, {"reset", reset}, {"gpus", gpus}, {"threads", threads}, {"managed", managed},
        {"profiled", profiled}};
  for (auto &part : parts) if (!std::strcmp(part.name, argv[2])) part.run();
  return verdict();
}
