// Times of kernels on an NVIDIA GPU, for any executable, by CUPTI's activity records:
//
//   gcc -O2 -shared -fPIC kernel_times.c -I$CUPTI/include -L$CUPTI/lib64 -lcupti -o kernel_times.so
//   CUDA_INJECTION64_PATH=$PWD/kernel_times.so KERNEL_TIMES=times.txt ./program
//
// At the end of the program the file named by KERNEL_TIMES gets a line for each kernel: nanoseconds in all, the least of one launch,
// launches, registers of a thread, bytes of shared memory (static and dynamic) of a block, the kernel's name.
#include <cupti.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kernel {
  char *name;
  uint64_t total, least, launches;
  unsigned registers, shared;
};

static struct kernel *kernels;
static size_t count;

static struct kernel *find(const char *name) {
  for (size_t i = 0; i < count; ++i)
    if (!strcmp(kernels[i].name, name))
      return &kernels[i];
  kernels = realloc(kernels, (count + 1) * sizeof *kernels);
  kernels[count] = (struct kernel){.name = strdup(name), .least = UINT64_MAX};
  return &kernels[count++];
}

static void CUPTIAPI request(uint8_t **buffer, size_t *size, size_t *records) {
  *size = 8 << 20;
  *buffer = aligned_alloc(8, *size);
  *records = 0;
}

static void CUPTIAPI complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
  CUpti_Activity *record = NULL;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
      continue;
    const CUpti_ActivityKernel9 *launch = (const CUpti_ActivityKernel9 *)record;
    struct kernel *kernel = find(launch->name);
    const uint64_t time = launch->end - launch->start;
    kernel->total += time;
    kernel->least = time < kernel->least ? time : kernel->least;
    ++kernel->launches;
    kernel->registers = launch->registersPerThread;
    kernel->shared = launch->staticSharedMemory + launch->dynamicSharedMemory;
  }
  free(buffer);
}

static void report(void) {
  cuptiActivityFlushAll(1);
  const char *path = getenv("KERNEL_TIMES");
  FILE *out = path ? fopen(path, "w") : stderr;
  if (!out)
    return;
  for (size_t i = 0; i < count; ++i)
    fprintf(out, "%llu %llu %llu %u %u %s\n", (unsigned long long)kernels[i].total, (unsigned long long)kernels[i].least,
            (unsigned long long)kernels[i].launches, kernels[i].registers, kernels[i].shared, kernels[i].name);
  if (path)
    fclose(out);
}

// The driver calls this when it is initialised.
int InitializeInjection(void) {
  cuptiActivityRegisterCallbacks(request, complete);
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  atexit(report);
  return 1;
}
