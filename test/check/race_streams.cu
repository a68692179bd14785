// Races between grids and copies of different streams, on request, and what orders streams.

// REQUIRES: cuda-toolkit
// RUN: %regrain --offload-arch=cpu -g -O2 -fregrain-check=race %s -o %t && env REGRAIN_CHECK_RACES=streams %t 2>&1 | FileCheck %s
// RUN: %t 2>&1 | FileCheck %s --check-prefix=USUAL
// USUAL-NOT: Race

#include "Inputs/cases.h"

__global__ void put(int *p, int value) { p[threadIdx.x] = value + threadIdx.x; }
__global__ void take(const int *p, int *q) { q[threadIdx.x] = p[threadIdx.x]; }
__global__ void count(int *p) { atomicAdd(p, 1); }

struct Streams {
  cudaStream_t one, other, apart;
  cudaEvent_t event;
  Streams() {
    CHECKED(cudaStreamCreate(&one));
    CHECKED(cudaStreamCreate(&other));
    CHECKED(cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking));
    CHECKED(cudaEventCreate(&event));
  }
};

// CHECK-LABEL: case 1{{$}}
// CHECK-NEXT: Race of a read and an earlier write of __global__ memory between streams
// CHECK-NEXT: at take(int const*, int*) in {{.*}}race_streams.cu:11:
// CHECK-NEXT: by thread (0,0,0) in block (0,0,0) of take
// CHECK-NEXT: The write is at put(int*, int) in {{.*}}race_streams.cu:10:{{.*}} by block 0 of its grid
// CHECK-NEXT: 0 bytes inside an allocation of 128 bytes
// CHECK-NEXT: SUMMARY: 1 error, met 32 times
void not_ordered() {
  Streams s;
  int *p = zeros<int>(32), *q = zeros<int>(32);
  put<<<1, 32, 0, s.one>>>(p, 1);
  take<<<1, 32, 0, s.other>>>(p, q);
}

// CHECK-LABEL: case 2{{$}}
// CHECK-NEXT: Race of a copy and an earlier write of __global__ memory between streams
// CHECK-NEXT: at copied_too_early() in {{.*}}race_streams.cu:[[@LINE+7]]
// CHECK-NEXT: The write is at put(int*, int)
// CHECK-NEXT: SUMMARY: 1 error
void copied_too_early() {
  Streams s;
  int *p = zeros<int>(32), host[32];
  put<<<1, 32, 0, s.apart>>>(p, 1);
  CHECKED(cudaMemcpyAsync(host, p, sizeof host, cudaMemcpyDeviceToHost, s.one));
}

// CHECK-LABEL: case 3{{$}}
// CHECK-NEXT: Race of a write and an earlier write of __global__ memory between streams
// CHECK-NEXT: race_streams.cu:10:
// CHECK: The write is by a copy or a fill
void event_of_another_time() {
  Streams s;
  int *p = zeros<int>(32);
  CHECKED(cudaEventRecord(s.event, s.one));
  CHECKED(cudaMemsetAsync(p, 1, 128, s.one));
  CHECKED(cudaStreamWaitEvent(s.other, s.event));
  put<<<1, 32, 0, s.other>>>(p, 1);
}

// CHECK-LABEL: case 4{{$}}
// CHECK-NEXT: Race of a write and an earlier read of __global__ memory between streams
void default_stream_and_one_apart() {
  Streams s;
  int *p = zeros<int>(32), *q = zeros<int>(32);
  CHECKED(cudaDeviceSynchronize());
  take<<<1, 32, 0, s.apart>>>(p, q);
  put<<<1, 32>>>(p, 1);
}

// CHECK-LABEL: case 5{{$}}
// CHECK-NEXT: SUMMARY: 0 errors
void ordered() {
  Streams s;
  int *p = zeros<int>(32), *q = zeros<int>(32), *host;
  CHECKED(cudaMallocHost(&host, 128));
  CHECKED(cudaDeviceSynchronize());
  put<<<1, 32, 0, s.one>>>(p, 1);
  put<<<1, 32, 0, s.one>>>(p, 2);
  CHECKED(cudaEventRecord(s.event, s.one));
  CHECKED(cudaStreamWaitEvent(s.apart, s.event));
  take<<<1, 32, 0, s.apart>>>(p, q);
  CHECKED(cudaStreamSynchronize(s.apart));
  put<<<1, 32, 0, s.other>>>(p, 3);
  put<<<1, 32>>>(p, 4);
  put<<<1, 32, 0, s.one>>>(p, 5);
  CHECKED(cudaMemcpy(host, p, 128, cudaMemcpyDeviceToHost));
  CHECKED(cudaMemcpyAsync(p, host, 128, cudaMemcpyHostToDevice, s.apart));
  CHECKED(cudaEventRecord(s.event, s.apart));
  CHECKED(cudaEventSynchronize(s.event));
  put<<<1, 32, 0, s.other>>>(p, 6);
  while (cudaStreamQuery(s.other) != cudaSuccess) {}
  take<<<1, 32, 0, s.one>>>(p, q);
  CHECKED(cudaLaunchHostFunc(s.one, [](void *) {}, nullptr));
  put<<<1, 32, 0, s.apart>>>(p, 7);
  CHECKED(cudaFree(p));
}

// CHECK-LABEL: case 6{{$}}
// CHECK-NEXT: SUMMARY: 0 errors
void only_read_or_counted() {
  Streams s;
  int *p = zeros<int>(32), *q = zeros<int>(32), *r = zeros<int>(32);
  CHECKED(cudaDeviceSynchronize());
  take<<<1, 32, 0, s.one>>>(p, q);
  take<<<1, 32, 0, s.apart>>>(p, r);
  count<<<1, 32, 0, s.one>>>(p);
  count<<<1, 32, 0, s.apart>>>(p);
}

// CHECK-LABEL: case 7{{$}}
// CHECK-NEXT: SUMMARY: 0 errors
void graph() {
  Streams s;
  int *p = zeros<int>(32), *q = zeros<int>(32);
  cudaEvent_t joined;
  cudaGraph_t graph;
  cudaGraphExec_t made;
  CHECKED(cudaEventCreate(&joined));
  CHECKED(cudaDeviceSynchronize());
  CHECKED(cudaStreamBeginCapture(s.one, cudaStreamCaptureModeGlobal));
  put<<<1, 32, 0, s.one>>>(p, 1);
  CHECKED(cudaEventRecord(s.event, s.one));
  CHECKED(cudaStreamWaitEvent(s.apart, s.event));
  take<<<1, 32, 0, s.apart>>>(p, q);
  CHECKED(cudaEventRecord(joined, s.apart));
  CHECKED(cudaStreamWaitEvent(s.one, joined));
  put<<<1, 32, 0, s.one>>>(p, 2);
  CHECKED(cudaStreamEndCapture(s.one, &graph));
  CHECKED(cudaGraphInstantiate(&made, graph, 0));
  CHECKED(cudaGraphLaunch(made, s.other));
  put<<<1, 32, 0, s.other>>>(p, 3);
}

const Case cases[] = {
    not_ordered, copied_too_early, event_of_another_time, default_stream_and_one_apart, ordered, only_read_or_counted, graph,
};
RUN(cases)
