// Threads that do not meet as they should.

// REQUIRES: cuda-toolkit
// RUN: %regrain --offload-arch=cpu -g -O2 -fregrain-check=sync %s -o %t && %t 2>&1 | FileCheck %s
// RUN: %regrain --offload-arch=cpu -g -O0 -fregrain-check=all %s -o %t.0 && %t.0 2>&1 | FileCheck %s --check-prefix=ALL

#include "Inputs/cases.h"

// CHECK-LABEL: case 1{{$}}
// ALL: case 1{{$}}
// ALL: do not meet at one __syncthreads()
__global__ void branches(int *p) {
  // CHECK-NEXT: ========= Threads of a block do not meet at one __syncthreads()
  // CHECK-NEXT: at branches(int*) in {{.*}}sync.cu:[[@LINE+5]]
  // CHECK-NEXT: by block (0,0,0) of branches(int*)
  // CHECK-NEXT: 32 threads wait at {{.*}}sync.cu:[[# @LINE + 3]]
  // CHECK-NEXT: 32 threads wait at {{.*}}sync.cu:[[# @LINE + 4]]
  if (threadIdx.x < 32) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}
// CHECK-NEXT: SUMMARY: 1 error{{$}}
// CHECK-NEXT: exit 86

// CHECK-LABEL: case 2{{$}}
__global__ void warp_and_block(int *p) {
  // CHECK-NEXT: Deadlock: no thread of the block can go on
  // CHECK-NEXT: at warp_and_block(int*) in {{.*}}sync.cu:[[@LINE+5]]
  // CHECK-NEXT: by block (0,0,0)
  // CHECK-NEXT: 16 threads wait at a warp operation in {{.*}}sync.cu:[[# @LINE + 3]], the first is thread (0,0,0)
  // CHECK-NEXT: 16 threads wait at __syncthreads() in {{.*}}sync.cu:[[# @LINE + 3]], the first is thread (16,0,0)
  if (threadIdx.x < 16)
    p[threadIdx.x] = __shfl_sync(~0u, p[threadIdx.x], 0);
  __syncthreads();
}

// CHECK-LABEL: case 3{{$}}
__global__ void not_in_mask(int *p) {
  // CHECK-NEXT: The mask of a warp operation does not name the calling thread
  // CHECK-NEXT: at not_in_mask(int*) in {{.*}}sync.cu:[[@LINE+3]]
  // CHECK-NEXT: by thread (16,0,0) in block (0,0,0)
  // CHECK-NEXT: The mask is 0x0000ffff, the thread is lane 16
  p[threadIdx.x] = __shfl_down_sync(0xffff, p[threadIdx.x], 1);
}

// CHECK-LABEL: case 4{{$}}
__global__ void masks_differ(int *p) {
  // CHECK-NEXT: Deadlock
  // CHECK-NEXT: sync.cu:[[@LINE+1]]
  p[threadIdx.x] = __ballot_sync(threadIdx.x & 1 ? ~0u : 0x55555557, threadIdx.x);
}

// CHECK-LABEL: case 5{{$}}
__global__ void rounds(int *p) {
  // CHECK-NEXT: do not meet at one __syncthreads()
  for (int i = 0; i < threadIdx.x / 32; ++i)
    // CHECK-NEXT: sync.cu:[[# @LINE + 4]]
    // CHECK: sync.cu:[[# @LINE + 1]]
    __syncthreads();
  p[threadIdx.x] = 1;
  __syncthreads();
}

// CHECK-LABEL: case 6{{$}}
__global__ void half_a_warp(int *p) {
  // CHECK-NEXT: Deadlock
  if (threadIdx.x < 16)
    // CHECK-NEXT: sync.cu:[[@LINE+1]]
    __syncwarp();
  else
    __syncwarp(0xffff0001);
}

// Threads that have returned are not waited for, and warps may be in part.
// CHECK-LABEL: case 7{{$}}
// CHECK-NEXT: SUMMARY: 0 errors
__global__ void right(int *p, int n) {
  if (threadIdx.x >= n) return;
  __syncthreads();
  int v = __shfl_down_sync(__activemask(), p[threadIdx.x], 1);
  if (threadIdx.x < 8) v += __shfl_xor_sync(0xff, v, 1);
  __syncthreads();
  p[threadIdx.x] = v + __syncthreads_count(v > 0);
}

const Case cases[] = {
    [] { branches<<<1, 64>>>(zeros<int>(64)); },
    [] { warp_and_block<<<1, 32>>>(zeros<int>(32)); },
    [] { not_in_mask<<<1, 17>>>(zeros<int>(32)); },
    [] { masks_differ<<<1, 32>>>(zeros<int>(32)); },
    [] { rounds<<<1, 64>>>(zeros<int>(64)); },
    [] { half_a_warp<<<1, 32>>>(zeros<int>(64)); },
    [] { right<<<1, 50>>>(zeros<int>(64), 41); },
};
RUN(cases)
