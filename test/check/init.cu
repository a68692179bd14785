// Reads of what nobody has written.

// REQUIRES: cuda-toolkit
// RUN: %regrain --offload-arch=cpu -g -O2 -fregrain-check=init,memory %s -o %t && %t 2>&1 | FileCheck %s

#include "Inputs/cases.h"

// CHECK-LABEL: case 1{{$}}
__global__ void never_written(const int *p, int *out) {
  // CHECK-NEXT: ========= Uninitialized __global__ read of size 4 bytes
  // CHECK-NEXT: at never_written(int const*, int*) in {{.*}}init.cu:[[@LINE+3]]:
  // CHECK-NEXT: thread (0,0,0)
  // CHECK-NEXT: is 0 bytes inside an allocation of 128 bytes made by cudaMalloc
  out[threadIdx.x] = p[threadIdx.x];
}
// CHECK-NEXT: SUMMARY: 1 error, met 32 times

// CHECK-LABEL: case 2{{$}}
__global__ void written_in_part(const int *p, int *out) {
  // CHECK-NEXT: Uninitialized __global__ read of size 4 bytes
  // CHECK-NEXT: init.cu:[[@LINE+3]]:
  // CHECK-NEXT: thread (16,0,0)
  // CHECK-NEXT: is 64 bytes inside
  out[threadIdx.x] = p[threadIdx.x];
}

// CHECK-LABEL: case 3{{$}}
__global__ void shared_array(int *out) {
  __shared__ int tile[32];
  if (threadIdx.x < 31) tile[threadIdx.x] = 1;
  __syncthreads();
  // CHECK-NEXT: Uninitialized __shared__ read of size 4 bytes
  // CHECK-NEXT: init.cu:[[@LINE+3]]:
  // CHECK-NEXT: thread (31,0,0)
  // CHECK-NEXT: is 124 bytes inside the shared variable {{.*}}tile of 128 bytes
  out[threadIdx.x] = tile[threadIdx.x];
}

// The block before has written it.
// CHECK-LABEL: case 4{{$}}
__global__ void dynamic_shared(int *out) {
  extern __shared__ int room[];
  if (blockIdx.x == 0) room[threadIdx.x] = 1;
  // CHECK-NEXT: Uninitialized __shared__ read of size 4 bytes
  // CHECK-NEXT: init.cu:[[@LINE+3]]:
  // CHECK-NEXT: thread (0,0,0) in block (1,0,0)
  // CHECK-NEXT: is 0 bytes inside the block's dynamic shared memory of 128 bytes
  out[threadIdx.x] = room[threadIdx.x];
}

// CHECK-LABEL: case 5{{$}}
__global__ void counted(int *p) {
  // CHECK-NEXT: Uninitialized __global__ atomic operation of size 4 bytes
  // CHECK-NEXT: init.cu:[[@LINE+1]]:
  atomicAdd(p, 1);
}

// A copy has what was written, and only that.
// CHECK-LABEL: case 6{{$}}
__global__ void copied(const int *p, int *out) {
  // CHECK-NEXT: Uninitialized __global__ read of size 4 bytes
  // CHECK-NEXT: init.cu:[[@LINE+2]]:
  // CHECK-NEXT: thread (8,0,0)
  out[threadIdx.x] = p[threadIdx.x];
}
void copy() {
  int *from = device<int>(16), *to = device<int>(16);
  cudaMemset(from, 0, 32);
  cudaMemcpy(to, from, 64, cudaMemcpyDeviceToDevice);
  copied<<<1, 16>>>(to, zeros<int>(16));
}

// CHECK-LABEL: case 7{{$}}
__global__ void heap_of_kernel(int *out) {
  int *p = static_cast<int *>(malloc(16));
  p[0] = 1;
  // CHECK-NEXT: Uninitialized __global__ read of size 4 bytes
  // CHECK-NEXT: init.cu:[[@LINE+1]]:
  *out = p[0] + p[1];
  free(p);
}

// All ways to write: none is missed.
// CHECK-LABEL: case 8{{$}}
// CHECK-NEXT: SUMMARY: 0 errors
struct Pair { char c; double d; };
__device__ int variable;
__global__ void writes(int *a, Pair *pairs, float *sines, int *vector) {
  a[threadIdx.x] = 1;
  Pair pair;
  pair.c = 1;
  pair.d = 2;
  pairs[threadIdx.x] = pair;
  sincosf(1.0f, &sines[2 * threadIdx.x], &sines[2 * threadIdx.x + 1]);
  reinterpret_cast<int4 *>(vector)[threadIdx.x] = make_int4(1, 2, 3, 4);
}
__global__ void reads(const int *a, const Pair *pairs, const float *sines, const int *vector, const int *fields, double *out) {
  Pair pair = pairs[threadIdx.x];
  out[threadIdx.x] = a[threadIdx.x] + pair.c + pair.d + sines[2 * threadIdx.x + 1] + vector[4 * threadIdx.x + 3] +
                     fields[threadIdx.x] + variable;
}
void all_ways() {
  int *a = device<int>(32), *vector = device<int>(128), *fields;
  Pair *pairs = device<Pair>(32);
  float *sines = device<float>(64);
  size_t pitch;
  int host[32] = {};
  cudaMallocPitch(&fields, &pitch, 64, 2);
  cudaMemcpy2D(fields, pitch, host, 64, 64, 2, cudaMemcpyHostToDevice);
  cudaMemset2D(fields, pitch, 0, 128, 1);
  writes<<<1, 32>>>(a, pairs, sines, vector);
  reads<<<1, 32>>>(a, pairs, sines, vector, fields, device<double>(32));
}

const Case cases[] = {
    [] { never_written<<<1, 32>>>(device<int>(32), zeros<int>(32)); },
    [] {
      int *p = device<int>(32);
      cudaMemset(p, 0, 64);
      written_in_part<<<1, 32>>>(p, zeros<int>(32));
    },
    [] { shared_array<<<1, 32>>>(device<int>(32)); },
    [] { dynamic_shared<<<2, 32, 128>>>(device<int>(32)); },
    [] { counted<<<1, 1>>>(device<int>(1)); },
    copy,
    [] { heap_of_kernel<<<1, 1>>>(device<int>(1)); },
    all_ways,
};
RUN(cases)
