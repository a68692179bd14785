// Races between blocks, on request, and what may be in order.

// REQUIRES: cuda-toolkit
// RUN: %regrain --offload-arch=cpu -g -O2 -fregrain-check=race %s -o %t && env REGRAIN_CHECK_RACES=blocks %t 2>&1 | FileCheck %s
// RUN: %t 2>&1 | FileCheck %s --check-prefix=USUAL
// RUN: %regrain --offload-arch=cpu -g -O0 -fregrain-check=race,memory %s -o %t.0 && env REGRAIN_CHECK_RACES=blocks,streams %t.0 2>&1 | FileCheck %s
// RUN: env REGRAIN_CHECK_RACES=block %t 2>&1 | FileCheck %s --check-prefix=WRONG

// WRONG: warning: expected REGRAIN_CHECK_RACES to be of 'blocks' and 'streams', got 'block'
// USUAL-NOT: Race

#include <cooperative_groups.h>

#include "Inputs/cases.h"

// CHECK-LABEL: case 1{{$}}
__global__ void halo(int *p) {
  int i = blockIdx.x * 32 + threadIdx.x;
  // CHECK-NEXT: Race of a {{(write|read) and an earlier (read|write)}} of __global__ memory between blocks of a grid
  // CHECK-NEXT: at halo(int*) in {{.*}}race_blocks.cu:[[@LINE+4]]:
  // CHECK-NEXT: by thread ({{.*}}) in block ({{.*}}) of halo(int*)
  // CHECK-NEXT: The {{read|write}} is at halo(int*) in {{.*}}race_blocks.cu:[[# @LINE + 2]]:{{.*}} by block ({{[0-3]}},0,0)
  // CHECK-NEXT: bytes inside an allocation of 1024 bytes
  p[i] = p[i + 32] + i + 1;
}
// CHECK-NEXT: SUMMARY: 1 error
// CHECK-NEXT: exit 86

// CHECK-LABEL: case 2{{$}}
__global__ void one_result(int *p) {
  // CHECK-NEXT: Race of a write and an earlier write of __global__ memory between blocks of a grid
  // CHECK-NEXT: race_blocks.cu:[[@LINE+1]]:
  if (threadIdx.x == 0) *p = blockIdx.x + 1;
}

// CHECK-LABEL: case 3{{$}}
__device__ int total[2];
__global__ void sum() {
  // CHECK-NEXT: Race of a {{(write|read) and an earlier (read|write)}} of __global__ memory between blocks of a grid
  // CHECK-NEXT: race_blocks.cu:[[@LINE+1]]:
  if (threadIdx.x == 0) total[1] += blockIdx.x + 1;
}

// CHECK-LABEL: case 4{{$}}
__global__ void counted_too_late(int *p, int *out, unsigned *count) {
  if (threadIdx.x == 0) atomicInc(count, 100);
  __syncthreads();
  p[blockIdx.y * 32 + threadIdx.x] = threadIdx.x + 1;
  // CHECK-NEXT: Race of a {{(write|read) and an earlier (read|write)}} of __global__ memory between blocks of a grid
  // CHECK-NEXT: race_blocks.cu:
  // CHECK-NEXT: by thread
  // CHECK-NEXT: by block (0,{{[0-3]}},0)
  out[blockIdx.y * 32 + threadIdx.x] = p[(blockIdx.y + 1) % 4 * 32 + threadIdx.x];
}

// CHECK-LABEL: case 5{{$}}
__global__ void bytes_of_two(unsigned char *p) {
  // CHECK-NEXT: Race of a write and an earlier write
  // CHECK-NEXT: race_blocks.cu:[[@LINE+1]]:
  p[(blockIdx.x * 6 + threadIdx.x) % 10] = blockIdx.x + 1;
}

// What is no race, or may be none.
// CHECK-LABEL: case 6{{$}}
// CHECK-NEXT: SUMMARY: 0 errors
__global__ void last_block(int *p, unsigned *count, unsigned char *bytes, int *found, int *sum) {
  __shared__ bool is_last;
  p[blockIdx.x * 32 + threadIdx.x] = threadIdx.x;
  __threadfence();
  bytes[blockIdx.x * 33 + threadIdx.x] = threadIdx.x;  // Words of two blocks.
  *found = 1;
  atomicAdd(sum, threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicInc(count, gridDim.x) == gridDim.x - 1;
  __syncthreads();
  if (is_last) p[512 + threadIdx.x] = p[threadIdx.x] + p[32 + threadIdx.x] + *sum;
}

// CHECK-LABEL: case 7{{$}}
// CHECK-NEXT: SUMMARY: 0 errors
__global__ void phases(int *p, int *q) {
  int i = blockIdx.x * 32 + threadIdx.x;
  p[i] = i + 1;
  cooperative_groups::this_grid().sync();
  q[i] = p[(i + 32) % 128];
  cooperative_groups::this_grid().sync();
  p[i] = q[(i + 64) % 128];
}

// CHECK-LABEL: case 8{{$}}
// CHECK-NEXT: SUMMARY: 0 errors
__global__ void look_back(int *p, volatile int *ready) {
  if (threadIdx.x == 0) {
    int before = 0;
    if (blockIdx.x != 0) {
      while (ready[blockIdx.x - 1] == 0) {}
      __threadfence();
      before = p[blockIdx.x - 1];
    }
    p[blockIdx.x] = before + blockIdx.x + 1;
    __threadfence();
    ready[blockIdx.x] = 1;
  }
}

// Grids that follow one another.
// CHECK-LABEL: case 9{{$}}
// CHECK-NEXT: SUMMARY: 0 errors
__global__ void shift(const int *p, int *q) {
  int i = blockIdx.x * 32 + threadIdx.x;
  q[i] = p[i + 32] + 1;
}

void run_phases() {
  int *p = zeros<int>(128), *q = zeros<int>(128);
  void *arguments[] = {&p, &q};
  CHECKED(cudaLaunchCooperativeKernel(phases, 4, 32, arguments));
}
void run_shifts() {
  int *p = zeros<int>(256), *q = zeros<int>(256);
  for (int i = 0; i < 3; ++i) {
    shift<<<4, 32>>>(p, q);
    shift<<<4, 32>>>(q, p);
  }
}

const Case cases[] = {
    [] { halo<<<4, 32>>>(zeros<int>(256)); },
    [] { one_result<<<4, 32>>>(zeros<int>(1)); },
    [] { sum<<<4, 32>>>(); },
    [] { counted_too_late<<<dim3(1, 4), 32>>>(zeros<int>(128), zeros<int>(128), zeros<unsigned>(1)); },
    [] { bytes_of_two<<<2, 6>>>(zeros<unsigned char>(32)); },
    [] {
      last_block<<<4, 32>>>(zeros<int>(1024), zeros<unsigned>(1), zeros<unsigned char>(256), zeros<int>(1), zeros<int>(1));
    },
    run_phases,
    [] { look_back<<<8, 32>>>(zeros<int>(8), zeros<int>(8)); },
    run_shifts,
};
RUN(cases)
