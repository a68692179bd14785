// Grids and blocks of all shapes.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

__global__ void identify(unsigned *out) {
  unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  unsigned size = blockDim.x * blockDim.y * blockDim.z;
  unsigned *o = out + 8 * (block * size + thread);
  o[0] += 1;
  o[1] = threadIdx.x | threadIdx.y << 10 | threadIdx.z << 20;
  o[2] = blockIdx.x | blockIdx.y << 10 | blockIdx.z << 20;
  o[3] = blockDim.x | blockDim.y << 11 | blockDim.z << 22;
  o[4] = gridDim.x | gridDim.y << 10 | gridDim.z << 20;
  asm("mov.u32 %0, %%laneid;" : "=r"(o[5]));
  o[6] = __syncthreads_count(thread % 2);
  o[7] = __ballot_sync(__activemask(), threadIdx.x % 2 == 0);
}

void check(dim3 grid, dim3 block) {
  unsigned blocks = grid.x * grid.y * grid.z, size = block.x * block.y * block.z;
  unsigned *out = managed<unsigned>(8 * blocks * size);
  identify<<<grid, block>>>(out);
  finish_kernel();
  for (unsigned b = 0; b < blocks; ++b)
    for (unsigned t = 0; t < size; ++t) {
      unsigned *o = out + 8 * (b * size + t);
      EXPECT_AT(t, o[0], 1u);
      EXPECT_AT(t, o[1], t % block.x | t / block.x % block.y << 10 | t / block.x / block.y << 20);
      EXPECT_AT(b, o[2], b % grid.x | b / grid.x % grid.y << 10 | b / grid.x / grid.y << 20);
      EXPECT_AT(t, o[3], block.x | block.y << 11 | block.z << 22);
      EXPECT_AT(t, o[4], grid.x | grid.y << 10 | grid.z << 20);
      EXPECT_AT(t, o[5], t % 32);
      EXPECT_AT(t, o[6], size / 2);
      unsigned even = 0;
      for (unsigned l = 0; l < 32 && t / 32 * 32 + l < size; ++l)
        even |= unsigned((t / 32 * 32 + l) % block.x % 2 == 0) << l;
      EXPECT_AT(t, o[7], even);
    }
  OK(cudaFree(out));
}

__global__ void far(unsigned *out) { atomicMax(out, blockIdx.x + blockIdx.y); }

int main() {
  check(1, 1);
  check(7, 33);
  check(3, 1024);
  check(dim3(3, 4, 2), dim3(5, 3, 7));
  check(dim3(1, 5), dim3(1, 17));
  check(dim3(2, 1, 3), dim3(16, 16, 4));
  check(dim3(1, 1, 2), dim3(1, 1, 64));
  unsigned *out = managed<unsigned>(1);
  far<<<dim3(1, 65535), 1>>>(out);
  finish_kernel();
  EXPECT_AT(0, *out, 65534u);
  far<<<100000, 1>>>(out);
  finish_kernel();
  EXPECT_AT(0, *out, 99999u);
  return result();
}
