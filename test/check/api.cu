// What CUDA's functions refuse, and what they are given in the wrong direction.

// REQUIRES: cuda-toolkit
// RUN: %regrain --offload-arch=cpu -g -O2 -fregrain-check=memory %s -o %t && %t 2>&1 | FileCheck %s
// RUN: echo "api api.cu:34" > %t.known && env REGRAIN_CHECK_SUPPRESS=%t.known %t 3 2>&1 | FileCheck %s --check-prefix=KNOWN
// KNOWN: SUMMARY: 0 errors

#include "Inputs/cases.h"

// CHECK-LABEL: case 1{{$}}
void destroyed_stream() {
  cudaStream_t stream;
  CHECKED(cudaStreamCreate(&stream));
  CHECKED(cudaStreamDestroy(stream));
  // CHECK-NEXT: Program hit cudaErrorInvalidResourceHandle (error 400) in cudaStreamSynchronize
  // CHECK-NEXT: at destroyed_stream() in {{.*}}api.cu:[[@LINE+1]]
  CHECKED(cudaStreamSynchronize(stream));
}

// CHECK-LABEL: case 2{{$}}
void destroyed_event() {
  cudaEvent_t event;
  CHECKED(cudaEventCreate(&event));
  CHECKED(cudaEventDestroy(event));
  // CHECK-NEXT: Program hit cudaErrorInvalidResourceHandle (error 400) in cudaEventRecord
  // CHECK-NEXT: api.cu:[[@LINE+1]]
  CHECKED(cudaEventRecord(event));
}

// CHECK-LABEL: case 3{{$}}
void to_the_device_as_if_to_the_host() {
  // CHECK-NEXT: A copy to the host has memory of the device as its destination
  // CHECK-NEXT: api.cu:[[@LINE+1]]
  CHECKED(cudaMemcpy(zeros<int>(4), zeros<int>(4), 16, cudaMemcpyDeviceToHost));
}

// CHECK-LABEL: case 4{{$}}
void from_the_device_as_if_from_the_host() {
  // CHECK-NEXT: A copy from the host has memory of the device as its source
  // CHECK-NEXT: api.cu:[[@LINE+1]]
  CHECKED(cudaMemcpy(zeros<int>(4), zeros<int>(4), 16, cudaMemcpyHostToDevice));
}

// CHECK-LABEL: case 5{{$}}
void to_the_host_as_if_to_the_device() {
  int host[4] = {};
  // CHECK-NEXT: Program hit cudaErrorInvalidValue (error 1) in cudaMemcpy
  // CHECK-NEXT: api.cu:[[@LINE+1]]
  CHECKED(cudaMemcpy(host, zeros<int>(4), 16, cudaMemcpyHostToDevice));
}

// CHECK-LABEL: case 6{{$}}
void never_recorded() {
  cudaEvent_t one, other;
  float time;
  CHECKED(cudaEventCreate(&one));
  CHECKED(cudaEventCreate(&other));
  // CHECK-NEXT: Program hit cudaErrorInvalidResourceHandle (error 400) in cudaEventElapsedTime
  // CHECK-NEXT: api.cu:[[@LINE+1]]
  CHECKED(cudaEventElapsedTime(&time, one, other));
}

// CHECK-LABEL: case 7{{$}}
__global__ void traps() { __trap(); }
// CHECK: A kernel failed with cudaErrorLaunchFailure, and the program did not ask
void fails_unseen() {
  traps<<<1, 1>>>();
  exit(0);
}

// CHECK-LABEL: case 8{{$}}
// CHECK-NEXT: SUMMARY: 0 errors
void right() {
  int *managed, *pinned, host[4] = {};
  CHECKED(cudaMallocManaged(&managed, 16));
  CHECKED(cudaMallocHost(&pinned, 16));
  CHECKED(cudaMemcpy(managed, host, 16, cudaMemcpyHostToDevice));
  CHECKED(cudaMemcpy(pinned, managed, 16, cudaMemcpyDeviceToHost));
  CHECKED(cudaMemcpy(zeros<int>(4), pinned, 16, cudaMemcpyHostToDevice));
  CHECKED(cudaMemcpy(zeros<int>(4), zeros<int>(4), 16, cudaMemcpyDefault));
  CHECKED(cudaFree(nullptr));
}

const Case cases[] = {
    destroyed_stream, destroyed_event, to_the_device_as_if_to_the_host, from_the_device_as_if_from_the_host,
    to_the_host_as_if_to_the_device, never_recorded, fails_unseen, right,
};
RUN(cases)
