// Accesses of memory that is not there: found with the line, the thread and the allocation, at all levels of optimisation.

// REQUIRES: cuda-toolkit
// RUN: %regrain --offload-arch=cpu -g -O2 -fregrain-check=memory %s -o %t && %t 2>&1 | FileCheck %s
// RUN: %regrain --offload-arch=cpu -g -O0 -fregrain-check=memory %s -o %t.0 && %t.0 2>&1 | FileCheck %s

#include "Inputs/cases.h"

// CHECK-LABEL: case 1{{$}}
__global__ void behind(int *p, int *out) {
  // CHECK-NEXT: ========= Invalid __global__ read of size 4 bytes
  // CHECK-NEXT: at behind(int*, int*) in {{.*}}memory.cu:[[@LINE+3]]:22
  // CHECK-NEXT: by thread (31,0,0) in block (0,0,0) of behind(int*, int*)
  // CHECK-NEXT: is right behind an allocation of 124 bytes made by cudaMalloc at {{.*}}cases.h:14
  out[threadIdx.x] = p[threadIdx.x];
}
// CHECK-NEXT: ERROR SUMMARY: 1 error{{$}}
// CHECK-NEXT: exit 86

// CHECK-LABEL: case 2{{$}}
__global__ void before(int *p) {
  // CHECK-NEXT: Invalid __global__ write of size 4 bytes
  // CHECK-NEXT: memory.cu:[[@LINE+3]]:
  // CHECK-NEXT: by thread (0,1,0)
  // CHECK-NEXT: is 4 bytes before an allocation of 128 bytes
  if (threadIdx.y == 1) p[-1] = 1;
}

// CHECK-LABEL: case 3{{$}}
__global__ void across(double *p) {
  // CHECK-NEXT: Misaligned __global__ write of size 8 bytes
  // CHECK-NEXT: memory.cu:[[@LINE+7]]:
  // CHECK-NEXT: thread (3,0,0)
  // CHECK-NEXT: is no multiple of 8
  // CHECK-NEXT: Invalid __global__ write of size 8 bytes
  // CHECK-NEXT: memory.cu:[[@LINE+3]]:
  // CHECK-NEXT: thread (3,0,0)
  // CHECK-NEXT: is 4 bytes in front of the end of an allocation of 32 bytes
  if (threadIdx.x == 3) *reinterpret_cast<double *>(reinterpret_cast<char *>(p) + 28) = 1;
}

// CHECK-LABEL: case 4{{$}}
__global__ void null(int *p) {
  // CHECK-NEXT: Invalid __global__ write of size 4 bytes
  // CHECK-NEXT: memory.cu:[[@LINE+3]]:
  // CHECK-NEXT: thread (0,0,0)
  // CHECK-NEXT: is null, or an offset from it
  p[threadIdx.x] = 1;
}

// CHECK-LABEL: case 5{{$}}
__global__ void of_host(int *p) {
  // CHECK-NEXT: Invalid __global__ read of size 4 bytes
  // CHECK-NEXT: memory.cu:[[@LINE+3]]:
  // CHECK-NEXT: thread (0,0,0)
  // CHECK-NEXT: is not memory of the device; perhaps it is the host's
  if (p[threadIdx.x] == 12345) __trap();
}

// CHECK-LABEL: case 6{{$}}
__global__ void freed(int *p) {
  // CHECK-NEXT: Invalid __global__ write of size 4 bytes
  // CHECK-NEXT: memory.cu:[[@LINE+3]]:
  // CHECK-NEXT: thread (0,0,0)
  // CHECK-NEXT: is 8 bytes inside an allocation of 64 bytes made by cudaMalloc at {{.*}}, freed by cudaFree at {{.*}}memory.cu:[[# @LINE + 3]]
  p[2] = 1;
}
void use_after_free() { int *p = zeros<int>(16); cudaFree(p); freed<<<1, 1>>>(p); }

// CHECK-LABEL: case 7{{$}}
__global__ void counts(unsigned *p) {
  // CHECK-NEXT: Invalid __global__ atomic operation of size 4 bytes
  // CHECK-NEXT: memory.cu:[[@LINE+2]]:
  // CHECK-NEXT: thread (4,0,0)
  atomicInc(&p[threadIdx.x], 7);
}

// CHECK-LABEL: case 8{{$}}
__global__ void own_array(int n, int *out) {
  int local[8];
  for (int i = 0; i < 8; ++i) local[i] = i;
  // CHECK-NEXT: Invalid __local__ read of size 4 bytes
  // CHECK-NEXT: memory.cu:[[@LINE+3]]:
  // CHECK-NEXT: thread (2,0,0)
  // CHECK-NEXT: is right behind an array of the thread of 32 bytes
  *out = local[n + threadIdx.x];
}

// CHECK-LABEL: case 9{{$}}
__global__ void tile_of_block(int n) {
  __shared__ float tile[32];
  // CHECK-NEXT: Invalid __shared__ write of size 4 bytes
  // CHECK-NEXT: memory.cu:[[@LINE+3]]:
  // CHECK-NEXT: thread (28,0,0)
  // CHECK-NEXT: is right behind the shared variable {{.*}}tile of 128 bytes
  tile[threadIdx.x + n] = 1;
}

// CHECK-LABEL: case 10{{$}}
__global__ void dynamic_tile() {
  extern __shared__ float room[];
  // CHECK-NEXT: Invalid __shared__ write of size 4 bytes
  // CHECK-NEXT: memory.cu:[[@LINE+3]]:
  // CHECK-NEXT: thread (16,0,0)
  // CHECK-NEXT: is right behind the block's dynamic shared memory of 64 bytes
  room[threadIdx.x] = 1;
}

// CHECK-LABEL: case 11{{$}}
__device__ int table[4];
__global__ void variable_of_device(int n) {
  // CHECK-NEXT: Invalid __global__ write of size 4 bytes
  // CHECK-NEXT: memory.cu:[[@LINE+3]]:
  // CHECK-NEXT: thread (2,0,0)
  // CHECK-NEXT: is right behind the variable table of 16 bytes
  table[threadIdx.x + n] = 1;
}

// CHECK-LABEL: case 12{{$}}
__constant__ float weights[3];
__global__ void constants(int n, float *out) {
  // CHECK-NEXT: Invalid __global__ read of size 4 bytes
  // CHECK-NEXT: memory.cu:[[@LINE+3]]:
  // CHECK-NEXT: thread (0,0,0)
  // CHECK-NEXT: is 8 bytes before the variable weights of 12 bytes
  *out = weights[n];
}

// CHECK-LABEL: case 13{{$}}
struct Large { int values[12]; };
__global__ void whole(Large *to, const Large *from) {
  // CHECK-NEXT: Invalid __global__ write of size 48 bytes
  // CHECK-NEXT: memory.cu:[[@LINE+3]]:
  // CHECK-NEXT: thread (1,0,0)
  // CHECK-NEXT: is right behind an allocation of 48 bytes
  to[threadIdx.x] = from[threadIdx.x];
}

// CHECK-LABEL: case 14{{$}}
__global__ void four(float4 *p) {
  // CHECK: Invalid __global__ write of size
  // CHECK-NEXT: memory.cu:[[@LINE+3]]:
  // CHECK-NEXT: thread (1,0,0)
  // CHECK-NEXT: is {{.*}} allocation of 24 bytes
  p[threadIdx.x] = make_float4(1, 2, 3, 4);
}

// CHECK-LABEL: case 15{{$}}
__device__ __noinline__ int helper(const int *p, int i) {
  // CHECK-NEXT: Invalid __global__ read of size 4 bytes
  // CHECK-NEXT: at helper(int const*, int) in {{.*}}memory.cu:[[@LINE+3]]:
  // CHECK-NEXT: by thread (0,0,0) in block (1,0,0) of calls(int const*, int*)
  // CHECK-NEXT: is 36 bytes behind an allocation of 64 bytes
  return p[i];
}
__global__ void calls(const int *p, int *out) { *out = helper(p, blockIdx.x * 25); }

// CHECK-LABEL: case 16{{$}}
__global__ void read_only(const int *p, int *out) {
  // CHECK-NEXT: Invalid __global__ read of size 4 bytes
  // CHECK-NEXT: at read_only(int const*, int*) in {{.*}}memory.cu:[[@LINE+1]]:
  *out = __ldg(p + 4);
}

// CHECK-LABEL: case 17{{$}}
__global__ void heap_of_kernel() {
  int *p = static_cast<int *>(malloc(16));
  // CHECK-NEXT: Invalid __global__ write of size 4 bytes
  // CHECK-NEXT: memory.cu:[[@LINE+3]]:
  // CHECK-NEXT: thread (0,0,0)
  // CHECK-NEXT: is right behind an allocation made in a kernel of 16 bytes
  for (int i = 0; i <= 4; ++i) p[i] = i;
  // CHECK-NEXT: A kernel frees what it has not allocated, or has freed
  free(p);
  free(p);
}

// CHECK-LABEL: case 18{{$}}
__global__ void managed_memory(int *p) {
  // CHECK-NEXT: Invalid __global__ write of size 4 bytes
  // CHECK-NEXT: memory.cu:[[@LINE+3]]:
  // CHECK-NEXT: thread (2,0,0)
  // CHECK-NEXT: is right behind a managed allocation of 8 bytes made by cudaMallocManaged
  p[threadIdx.x] = 1;
}

// CHECK-LABEL: case 19{{$}}
__device__ __noinline__ void through_pointer(float *tile, int i) {
  // CHECK-NEXT: Invalid __shared__ write of size 4 bytes
  // CHECK-NEXT: at through_pointer(float*, int) in {{.*}}memory.cu:[[@LINE+2]]:
  // CHECK-NEXT: thread (0,0,0)
  tile[i] = 1;
}
__global__ void hands_over(int n) {
  extern __shared__ float room[];
  through_pointer(room, n);
}

// What is wrong is not done: loads give 0, stores are lost, and the kernel goes on.
// CHECK-LABEL: case 20{{$}}
__global__ void goes_on(int *p, int *out) {
  int wrong = p[100];
  p[100] = 7;
  out[0] = wrong;
  out[1] = 5;
}
// CHECK: read of size 4 bytes
// CHECK: write of size 4 bytes
// CHECK: got 0 5
// CHECK-NEXT: SUMMARY: 2 errors

// CHECK-LABEL: case 21{{$}}
void free_twice() {
  int *p = zeros<int>(4);
  cudaFree(p);
  // CHECK-NEXT: Program hit cudaErrorInvalidValue (error 1) in cudaFree
  // CHECK-NEXT: at {{.*}}free_twice{{.*}} in {{.*}}memory.cu:[[@LINE+2]]
  // CHECK-NEXT: was freed before, by cudaFree at {{.*}}memory.cu:[[# @LINE - 3]]
  CHECKED(cudaFree(p));
}

// CHECK-LABEL: case 22{{$}}
void free_inside() {
  // CHECK-NEXT: Program hit cudaErrorInvalidValue (error 1) in cudaFree
  // CHECK-NEXT: memory.cu:[[@LINE+2]]
  // CHECK-NEXT: is not the beginning of an allocation
  CHECKED(cudaFree(zeros<int>(4) + 1));
}

// CHECK-LABEL: case 23{{$}}
void copy_beyond() {
  int host[8] = {};
  // CHECK-NEXT: Program hit cudaErrorInvalidValue (error 1) in cudaMemcpy
  // CHECK-NEXT: memory.cu:[[@LINE+1]]
  CHECKED(cudaMemcpy(zeros<int>(4), host, sizeof host, cudaMemcpyHostToDevice));
}

// CHECK-LABEL: case 24{{$}}
void fill_beyond() {
  // CHECK-NEXT: Program hit cudaErrorInvalidValue (error 1) in cudaMemset
  // CHECK-NEXT: memory.cu:[[@LINE+1]]
  CHECKED(cudaMemset(zeros<int>(4), 0, 20));
}

// CHECK-LABEL: case 25{{$}}
void too_many_threads() {
  // CHECK-NEXT: Program hit cudaErrorInvalidConfiguration (error 9) in cudaLaunchKernel
  dynamic_tile<<<1, 2000>>>();
}

const Case cases[] = {
    [] { behind<<<1, 32>>>(zeros<int>(31), zeros<int>(32)); },
    [] { before<<<1, dim3(1, 2)>>>(zeros<int>(32)); },
    [] { across<<<1, 4>>>(zeros<double>(4)); },
    [] { null<<<1, 1>>>(nullptr); },
    [] { of_host<<<1, 1>>>(new int[1000]); },
    use_after_free,
    [] { counts<<<1, 5>>>(zeros<unsigned>(4)); },
    [] { own_array<<<1, 3>>>(6, zeros<int>(1)); },
    [] { tile_of_block<<<1, 32>>>(4); },
    [] { dynamic_tile<<<1, 17, 64>>>(); },
    [] { variable_of_device<<<1, 3>>>(2); },
    [] { constants<<<1, 1>>>(-2, zeros<float>(1)); },
    [] { whole<<<1, 2>>>(zeros<Large>(1), zeros<Large>(2)); },
    [] { four<<<1, 2>>>(reinterpret_cast<float4 *>(zeros<float>(6))); },
    [] { calls<<<2, 1>>>(zeros<int>(16), zeros<int>(1)); },
    [] { read_only<<<1, 1>>>(zeros<int>(4), zeros<int>(1)); },
    [] { heap_of_kernel<<<1, 1>>>(); },
    [] { int *p; cudaMallocManaged(&p, 8); managed_memory<<<1, 3>>>(p); },
    [] { hands_over<<<1, 1, 16>>>(5); },
    [] {
      int *out = zeros<int>(2), host[2];
      goes_on<<<1, 1>>>(zeros<int>(4), out);
      cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
      fprintf(stderr, "got %d %d\n", host[0], host[1]);
    },
    free_twice, free_inside, copy_beyond, fill_beyond, too_many_threads,
};
RUN(cases)
