// Races between the threads of a block, and what is none.

// REQUIRES: cuda-toolkit
// RUN: %regrain --offload-arch=cpu -g -O2 -fregrain-check=race,memory,sync %s -o %t && %t 2>&1 | FileCheck %s
// RUN: %regrain --offload-arch=cpu -g -O0 -fregrain-check=race %s -o %t.0 && %t.0 2>&1 | FileCheck %s

#include "Inputs/cases.h"

// CHECK-LABEL: case 1{{$}}
__global__ void read_of_neighbour(int *out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = threadIdx.x;
  // CHECK-NEXT: ========= Race of a read and an earlier write of __shared__ memory
  // CHECK-NEXT: at read_of_neighbour(int*) in {{.*}}race.cu:[[@LINE+3]]:
  // CHECK-NEXT: by thread (33,0,0) in block (0,0,0) of read_of_neighbour(int*)
  // CHECK-NEXT: The write is at read_of_neighbour(int*) in {{.*}}race.cu:[[# @LINE - 4]]:{{.*}} by thread (1,0,0)
  if (threadIdx.x == 33) out[0] = tile[1];
}
// CHECK: SUMMARY: 1 error

// CHECK-LABEL: case 2{{$}}
__global__ void two_writers() {
  __shared__ int last;
  // CHECK-NEXT: Race of a write and an earlier write of __shared__ memory
  // CHECK-NEXT: race.cu:[[@LINE+3]]:
  // CHECK-NEXT: thread (1,0,0)
  // CHECK-NEXT: The write is at {{.*}}race.cu:[[# @LINE + 1]]:{{.*}} by thread (0,0,0)
  last = threadIdx.x;
}

// CHECK-LABEL: case 3{{$}}
__global__ void write_after_read(int *p) {
  __shared__ int tile[64];
  tile[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  int other = tile[(threadIdx.x + 1) % 64];
  // CHECK-NEXT: Race of a {{read and an earlier write|write and an earlier read}} of __shared__ memory
  // CHECK-NEXT: race.cu:[[# @LINE + 1]]:
  tile[threadIdx.x] = other + p[threadIdx.x];
}

// CHECK-LABEL: case 4{{$}}
__global__ void histogram(const int *p, int *out) {
  __shared__ int counts[8];
  if (threadIdx.x < 8) counts[threadIdx.x] = 0;
  __syncthreads();
  // CHECK-NEXT: Race of an atomic operation and an earlier read of __shared__ memory
  // CHECK-NEXT: race.cu:[[@LINE+3]]:
  // CHECK-NEXT: by thread (57,0,0)
  // CHECK-NEXT: The read is at {{.*}}race.cu:[[# @LINE + 2]]:{{.*}} by thread (56,0,0)
  atomicAdd(&counts[p[threadIdx.x]], 1);
  if (threadIdx.x >= 56) out[threadIdx.x - 56] = counts[threadIdx.x - 56];
}

// CHECK-LABEL: case 5{{$}}
__global__ void zeroed_too_late(const int *p) {
  __shared__ int counts[8];
  if (threadIdx.x < 8) counts[threadIdx.x] = 0;
  // CHECK-NEXT: Race of an atomic operation and an earlier write of __shared__ memory
  // CHECK-NEXT: race.cu:[[@LINE+1]]:
  atomicAdd(&counts[p[threadIdx.x]], 1);
}

// CHECK-LABEL: case 6{{$}}
__global__ void lanes(int *p) {
  __shared__ int tile[32];
  tile[threadIdx.x] = p[threadIdx.x];
  __syncwarp();
  for (int step = 16; step > 0; step /= 2)
    // CHECK-NEXT: Race of a {{.*}} of __shared__ memory
    // CHECK-NEXT: race.cu:[[@LINE+1]]:
    if (threadIdx.x < step) tile[threadIdx.x] += tile[threadIdx.x + step];
  p[threadIdx.x] = tile[0];
}

// CHECK-LABEL: case 7{{$}}
__global__ void in_global_memory(int *p) {
  // CHECK-NEXT: Race of a write and an earlier read of __global__ memory
  // CHECK-NEXT: race.cu:[[@LINE+3]]:
  // CHECK-NEXT: by thread (32,0,0)
  // CHECK-NEXT: The read is at {{.*}}race.cu:[[# @LINE + 2]]:{{.*}} by thread (0,0,0)
  p[threadIdx.x] = threadIdx.x + 1;
  p[threadIdx.x] += p[(threadIdx.x + 32) % 64];
}

// CHECK-LABEL: case 8{{$}}
__global__ void warps_only(int *p) {
  extern __shared__ int room[];
  // CHECK-NEXT: Race of a write and an earlier read of __shared__ memory
  // CHECK-NEXT: race.cu:[[@LINE+3]]:
  // CHECK-NEXT: by thread (32,0,0)
  // CHECK-NEXT: The read is at {{.*}}race.cu:[[# @LINE + 3]]:{{.*}} by thread (0,0,0)
  room[threadIdx.x] = p[threadIdx.x];
  __syncwarp();
  p[threadIdx.x] = room[threadIdx.x ^ 32];
}

// What is no race.
// CHECK-LABEL: case 9{{$}}
// CHECK-NEXT: SUMMARY: 0 errors
// CHECK-NEXT: exit 0
__global__ void ordered(int *p, unsigned *arrivals) {
  __shared__ int tile[64];
  __shared__ unsigned char bytes[64];
  __shared__ volatile int flag;
  __shared__ int lock, sum, found;
  bytes[threadIdx.x] = threadIdx.x;  // Words of several threads.
  tile[threadIdx.x] = p[threadIdx.x];
  if (threadIdx.x == 0) lock = sum = flag = found = 0;
  __syncthreads();
  for (int step = 32; step > 0; step /= 2) {
    if (threadIdx.x < step) tile[threadIdx.x] += tile[threadIdx.x + step];
    __syncthreads();
  }
  int mine = tile[0] + bytes[63 - threadIdx.x];
  __syncthreads();
  tile[threadIdx.x] = mine;
  __syncwarp();
  mine += tile[threadIdx.x ^ 1];
  mine += __shfl_xor_sync(~0u, mine, 2);
  if (mine != 0) found = 1;  // All store the same.
  while (atomicCAS(&lock, 0, 1)) {}
  __threadfence_block();
  sum += mine;
  __threadfence_block();
  atomicExch(&lock, 0);
  __syncthreads();
  if (threadIdx.x == 0) {
    p[100] = sum + found;
    __threadfence();
    flag = 1;
  } else if (threadIdx.x == 40) {
    while (!flag) {}
    p[101] = p[100];
  }
  p[threadIdx.x] = mine;
  __threadfence();
  __shared__ bool is_last;
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicInc(arrivals, gridDim.x) == gridDim.x - 1;
  __syncthreads();
  if (is_last) p[128 + threadIdx.x] = p[63 - threadIdx.x];
}

// One lane of a warp tells one of another, which tells its own.
// CHECK-LABEL: case 10{{$}}
// CHECK-NEXT: SUMMARY: 0 errors
__global__ void told(int *p) {
  __shared__ int data[32], ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    data[threadIdx.x] = p[threadIdx.x];
    __syncwarp();
    if (threadIdx.x == 0) atomicExch(&ready, 1);
  } else {
    if (threadIdx.x == 32)
      while (!atomicAdd(&ready, 0)) {}
    __syncwarp();
    p[threadIdx.x] = data[63 - threadIdx.x];
  }
}

// Who has returned has come to all barriers.
// CHECK-LABEL: case 11{{$}}
// CHECK-NEXT: SUMMARY: 0 errors
__global__ void returned(int *p) {
  __shared__ int tile[64];
  tile[threadIdx.x] = p[threadIdx.x];
  if (threadIdx.x >= 32) return;
  __syncthreads();
  p[threadIdx.x] = tile[threadIdx.x + 32];
}

const Case cases[] = {
    [] { read_of_neighbour<<<1, 64>>>(zeros<int>(1)); },
    [] { two_writers<<<1, 2>>>(); },
    [] { write_after_read<<<1, 64>>>(zeros<int>(64)); },
    [] { histogram<<<1, 64>>>(zeros<int>(64), zeros<int>(8)); },
    [] { zeroed_too_late<<<1, 64>>>(zeros<int>(64)); },
    [] { int ones[32]; for (int &one : ones) one = 1; lanes<<<1, 32>>>(device<int>(32, ones)); },
    [] { in_global_memory<<<1, 64>>>(zeros<int>(64)); },
    [] { warps_only<<<1, 64, 256>>>(zeros<int>(64)); },
    [] { ordered<<<2, 64>>>(zeros<int>(200), zeros<unsigned>(1)); },
    [] { told<<<1, 64>>>(zeros<int>(64)); },
    [] { returned<<<1, 64>>>(zeros<int>(64)); },
};
RUN(cases)
