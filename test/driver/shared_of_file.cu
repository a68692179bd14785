// Shared memory of a file, whose name others can see: versions of a kernel have their own of it.
// RUN: %regrain --offload-arch=sm_80 -O2 -fregrain-coarsen-blocks=2 -fregrain-coarsen-threads=2 -c %s -o %t.o
// RUN: %regrain --offload-arch=cpu -O2 -fregrain-emulate=sm_80 -fregrain-coarsen-blocks=2 -fregrain-coarsen-threads=2 %s -o %t && %t
// REQUIRES: cuda-toolkit
__device__ __shared__ int tile[128];

__global__ void turn(int *out) {
  tile[threadIdx.x] = threadIdx.x + blockIdx.x;
  __syncthreads();
  out[blockIdx.x * 128 + threadIdx.x] = tile[127 - threadIdx.x];
}

int main() {
  int *p, wrong = 0;
  cudaMallocManaged(&p, 8 * 128 * sizeof *p);
  turn<<<8, 128>>>(p);
  if (cudaDeviceSynchronize())
    return 2;
  for (int i = 0; i < 8 * 128; ++i)
    wrong += p[i] != 127 - i % 128 + i / 128;
  return wrong != 0;
}
