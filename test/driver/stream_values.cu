// Streams of the driver that wait for values in memory and write some: between streams, and between a stream and the host.
//
// RUN: %regrain --offload-arch=cpu -O2 %s -o %t -lcuda && env REGRAIN_CPU_THREADS=2 timeout 60 %t | FileCheck %s
// RUN: env REGRAIN_CPU_THREADS=1 timeout 60 %t | FileCheck %s
// CHECK: done, 0 wrong

#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>

static int wrong = 0;
#define EXPECT(condition) \
  do { \
    if (!(condition)) printf("line %d: %s\n", __LINE__, #condition), ++wrong; \
  } while (0)
#define OK(call) EXPECT((call) == CUDA_SUCCESS)
#define FAILS(code, call) EXPECT((call) == code)

__global__ void add(int *p, int what) { *p = *p * 10 + what; }

// Whether a stream is still at work.
static bool waits(CUstream stream) { return cuStreamQuery(stream) == CUDA_ERROR_NOT_READY; }

int main() {
  unsigned *word;
  unsigned long long *wide;
  int *order;
  cudaHostAlloc(&word, 64, cudaHostAllocMapped);
  cudaMallocManaged(&order, sizeof *order);
  cudaMalloc(&wide, sizeof *wide);
  cudaMemset(wide, 0, sizeof *wide);
  volatile unsigned *seen = word;
  CUdeviceptr at = (CUdeviceptr)word, wide_at = (CUdeviceptr)wide;
  CUstream one, other;
  OK(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));

  // The host lets a stream go on, by each kind of comparison.
  struct {
    unsigned flags, value, before, then;
  } comparisons[] = {{CU_STREAM_WAIT_VALUE_GEQ, 5, 4, 7},
                     {CU_STREAM_WAIT_VALUE_GEQ, 0xfffffffe, 0xfffffff0, 1},
                     {CU_STREAM_WAIT_VALUE_EQ, 3, 4, 3},
                     {CU_STREAM_WAIT_VALUE_AND, 6, 9, 4},
                     {CU_STREAM_WAIT_VALUE_NOR, 0xff, 0xffffff00, 0xfffffe00}};
  for (auto &c : comparisons) {
    *seen = c.before, *order = 0;
    OK(cuStreamWaitValue32(one, at, c.value, c.flags));
    add<<<1, 1, 0, one>>>(order, 1);
    EXPECT(waits(one));
    *seen = c.then;
    OK(cuStreamSynchronize(one));
    EXPECT(*order == 1);
  }

  // So does another stream, with a word of 64 bits; and the default stream waits like others.
  *order = 0;
  OK(cuStreamWaitValue64(one, wide_at, 1ull << 40, CU_STREAM_WAIT_VALUE_EQ));
  add<<<1, 1, 0, one>>>(order, 2);
  EXPECT(waits(one));
  *seen = 0;
  OK(cuStreamWaitValue32(nullptr, at, 1, CU_STREAM_WAIT_VALUE_EQ));
  EXPECT(waits(nullptr));
  add<<<1, 1, 0, other>>>(order, 1);
  OK(cuStreamWriteValue64(other, wide_at, 1ull << 40, CU_STREAM_WRITE_VALUE_DEFAULT));
  OK(cuStreamSynchronize(one));
  EXPECT(*order == 12);
  OK(cuStreamWriteValue32(other, at, 1, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
  OK(cuStreamSynchronize(nullptr));

  // More streams wait than threads are there.
  CUstream many[12];
  *seen = 0, *order = 0;
  for (CUstream &stream : many) {
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamWaitValue32(stream, at, 9, CU_STREAM_WAIT_VALUE_EQ));
  }
  OK(cuStreamWriteValue32(other, at, 9, 0));
  OK(cuCtxSynchronize());

  // A batch is done in order: who waits for its second value finds the first.
  CUstreamBatchMemOpParams batch[3] = {};
  batch[0].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  batch[0].writeValue.address = at, batch[0].writeValue.value = 41;
  batch[1].operation = CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
  batch[2].operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
  batch[2].writeValue.address = wide_at, batch[2].writeValue.value64 = 42;
  OK(cuStreamWaitValue64(one, wide_at, 42, CU_STREAM_WAIT_VALUE_EQ));
  OK(cuStreamBatchMemOp(other, 3, batch, 0));
  OK(cuStreamSynchronize(one));
  EXPECT(*seen == 41);

  // What is refused: memory that is not the device's, that is not aligned, flags that are none, streams that record.
  unsigned own;
  CUgraph graph;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(one, (CUdeviceptr)&own, 0, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue64(one, wide_at + 4, 0, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(one, at, 0, 4));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp(one, 1000, batch, 0));
  batch[1].operation = (CUstreamBatchMemOpType)77;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp(one, 3, batch, 0));
  OK(cuStreamBeginCapture(one, CU_STREAM_CAPTURE_MODE_RELAXED));
  FAILS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamWriteValue32(one, at, 0, 0));
  cuStreamEndCapture(one, &graph);

  CUdevice device;
  OK(cuDeviceGet(&device, 0));
  for (CUdevice_attribute which : {CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR}) {
    int has = 0;
    OK(cuDeviceGetAttribute(&has, which, device));
    EXPECT(has == 1);
  }
  printf("done, %d wrong\n", wrong);
  return wrong;
}
