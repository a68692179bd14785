// What a program sees of an AMD GPU where it differs from NVIDIA's: run with an image (images.h) and a part of the test.
#include "checks.h"

static void launches() {
  int *d; OK(cudaMalloc(out(&d), 4)); Args args(d);
  OK(cudaLaunchKernel(stubs, dim3(4, 5, 6), dim3(8, 4, 2), args.list, 128, nullptr));
  OK(cudaLaunchKernel(stubs, 1, 1, args.list, 0, cudaStreamLegacy));
  OK(cudaLaunchCooperativeKernel(stubs, 2, 64, args.list, 0, cudaStreamPerThread));
  cudaLaunchConfig_t config = {}; config.gridDim = 4; config.blockDim = 32; cudaLaunchAttribute attrs[2] = {};
  config.attrs = attrs; config.numAttrs = 2;
  attrs[0].id = cudaLaunchAttributeClusterDimension; attrs[0].val.clusterDim = {1, 1, 1};
  attrs[1].id = cudaLaunchAttributePriority; attrs[1].val.priority = 1;
  OK(cudaLaunchKernelExC(&config, stubs, args.list));
  attrs[1].id = cudaLaunchAttributeCooperative; attrs[1].val.cooperative = 1;
  OK(cudaLaunchKernelExC(&config, stubs, args.list));
  attrs[0].val.clusterDim = {2, 1, 1};
  IS(cudaLaunchKernelExC(&config, stubs, args.list), cudaErrorNotSupported);
  for (dim3 block : {dim3(1025), dim3(0), dim3(1, 1, 65), dim3(64, 32)}) IS(cudaLaunchKernel(stubs, 1, block,
      args.list, 0, nullptr), cudaErrorInvalidConfiguration);
  IS(launch(2, args), cudaErrorInvalidDeviceFunction); IS(launch(3, args), cudaErrorInvalidDeviceFunction);
  cudaFuncAttributes f; OK(cudaFuncGetAttributes(&f, stubs));
  CHECK(f.maxThreadsPerBlock == 1024 && f.maxDynamicSharedSizeBytes == 49152 && f.preferredShmemCarveout == -1
      && f.ptxVersion == 80 && f.binaryVersion == 80);
  // As in CUDA, more shared memory than 48 KiB is asked for first; HIP is not asked.
  IS(cudaLaunchKernel(stubs, 1, 1, args.list, 60000, nullptr), cudaErrorInvalidValue);
  OK(cudaFuncSetAttribute(stubs, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
  OK(cudaLaunchKernel(stubs, 1, 1, args.list, 60000, nullptr));
  IS(cudaLaunchKernel(stubs, 1, 1, args.list, 65537, nullptr), cudaErrorInvalidValue);
  IS(cudaFuncSetAttribute(stubs, cudaFuncAttributeMaxDynamicSharedMemorySize, 65537), cudaErrorInvalidValue);
  OK(cudaFuncSetAttribute(stubs, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
  IS(cudaFuncSetAttribute(stubs, cudaFuncAttribute(3), 1), cudaErrorInvalidValue);
  OK(cudaFuncSetCacheConfig(stubs, cudaFuncCachePreferL1));
  int blocks; OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, stubs, 256, 0)); CHECK(blocks == 8);
  OK(cudaFree(d));
}

// Warps are CUDA's also where waves have 64 lanes; numbers of attributes are CUDA's.
static void figures() {
  cudaDeviceProp p; OK(cudaGetDeviceProperties(&p, 0));
  CHECK(!std::strcmp(p.name, "Stand-in AMD GPU 0") && p.major == 8 && p.minor == 0 && p.warpSize == 32);
  CHECK(p.multiProcessorCount == 104 && p.maxGridSize[1] == 65535 && p.maxGridSize[2] == 65535 && p.maxThreadsDim[2] == 64 && p.totalConstMem == 65536
      && p.l2CacheSize == 190);
  CHECK(p.sharedMemPerBlock == 49152 && p.sharedMemPerBlockOptin == 65536 && p.sharedMemPerMultiprocessor == 65536);
  int value, version;
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0)); CHECK(value == 32);
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0)); CHECK(value == 1024);
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrClusterLaunch, 0)); CHECK(value == 0);
  IS(cudaDeviceGetAttribute(&value, cudaDeviceAttr(2000), 0), cudaErrorInvalidValue);
  OK(cudaDriverGetVersion(&version)); CHECK(version == 13000);
  OK(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrPerformanceRank, 0, 0));
  IS(cudaDeviceGetP2PAttribute(&value, cudaDeviceP2PAttr(0), 0, 0), cudaErrorInvalidValue);
  size_t size;
  OK(cudaDeviceGetLimit(&size, cudaLimitPrintfFifoSize)); CHECK(size == 1 << 20);
  OK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 4096)); OK(cudaDeviceGetLimit(&size, cudaLimitPrintfFifoSize));
  CHECK(size == 4096);
  IS(cudaDeviceGetLimit(&size, cudaLimitPersistingL2CacheSize), cudaErrorUnsupportedLimit);
  char id[32]; OK(cudaDeviceGetPCIBusId(id, 32, 0)); CHECK(!std::strcmp(id, "0000:01:00.0"));
}

// Kernels of printing.cpp: they print, fail an assertion, trap.
static void printing() {
  int lines = 3; void *list[] = {&lines};
  cudaStream_t s; OK(cudaStreamCreate(&s));
  OK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1024));
  std::printf("before\n");
  OK(cudaLaunchKernel(stubs, 1, 1, list, 0, s)); OK(cudaStreamSynchronize(s));
  std::printf("between\n");
  IS(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 2048), cudaErrorInvalidValue);
  // More than there is room for at once: what does not fit is dropped, and there is room again after waiting.
  lines = 1000; OK(cudaLaunchKernel(stubs, 1, 1, list, 0, nullptr)); OK(cudaDeviceSynchronize());
  std::printf("again\n");
  lines = 1; OK(cudaLaunchKernel(stubs, 1, 1, list, 0, nullptr)); OK(cudaDeviceSynchronize());
  std::printf("after\n");
  lines = 2; OK(cudaLaunchKernel(stubs, 1, 1, list, 0, nullptr));
  // Shown when the program ends, at the latest.
}
static void fails(int which, cudaError_t error) {
  int *d, none = 0; void *list[] = {&none};
  OK(cudaLaunchKernel(stubs + which, 1, 1, list, 0, nullptr)); OK(cudaGetLastError());
  IS(cudaDeviceSynchronize(), error); IS(cudaGetLastError(), error); IS(cudaGetLastError(), error);
  IS(cudaMalloc(out(&d), 4), error); IS(cudaLaunchKernel(stubs, 1, 1, list, 0, nullptr), error);
  OK(cudaDeviceReset()); OK(cudaGetLastError());
  int lines = 1; list[0] = &lines;
  OK(cudaMalloc(out(&d), 4)); OK(cudaLaunchKernel(stubs, 1, 1, list, 0, nullptr)); OK(cudaDeviceSynchronize());
}
static void asserting() { fails(1, cudaErrorAssert); }
static void trapping() { fails(2, cudaErrorLaunchFailure); }

int main(int, char **argv) {
  register_program(argv[1]);
  CHECK(__regrain_device_kind() == 2);
  struct { const char *name; void (*run)(); } parts[] = {{"launches", launches}, {"figures", figures},
      {"printing", printing}, {"asserting", asserting}, {"trapping", trapping}};
  for (auto &part : parts) if (!std::strcmp(part.name, argv[2])) part.run();
  return verdict();
}
