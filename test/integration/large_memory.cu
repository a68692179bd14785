// Memory that is large enough for large pages: where it begins and ends, that no two arrays meet, and that it is given back.
// RUN: %regrain -O3 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

#include <cstdint>
#include <vector>

__global__ void mark(unsigned char *memory, size_t size, unsigned char with) {
  size_t part = size / 64;
  for (size_t i = threadIdx.x * part; i < (threadIdx.x == 63 ? size : (threadIdx.x + 1) * part); i += 4093)
    memory[i] = with;
  if (threadIdx.x == 63)
    memory[size - 1] = with;
}

int main() {
  const size_t sizes[] = {(4u << 20) - 1, 4u << 20, (4u << 20) + 1, (6u << 20) + 300, 1000};
  size_t before, after, total;
  EXPECT(cudaMemGetInfo(&before, &total) == cudaSuccess);
  for (int round = 0; round < 2; ++round) {
    std::vector<unsigned char *> arrays;
    for (int i = 0; i < 20; ++i) {
      unsigned char *memory = nullptr;
      EXPECT(cudaMalloc(&memory, sizes[i % 5]) == cudaSuccess);
      EXPECT_AT(i, reinterpret_cast<uintptr_t>(memory) % 256, 0u);
      arrays.push_back(memory);
    }
    for (int i = 0; i < 20; ++i)
      mark<<<1, 64>>>(arrays[i], sizes[i % 5], i + 1);
    EXPECT(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < 20; ++i) {
      size_t size = sizes[i % 5];
      std::vector<unsigned char> copy(size + 1);
      EXPECT(cudaMemcpy(copy.data(), arrays[i], size, cudaMemcpyDeviceToHost) == cudaSuccess);
      EXPECT_AT(i, int(copy[0]), i + 1);
      EXPECT_AT(i, int(copy[size - 1]), i + 1);
      EXPECT(cudaMemcpy(copy.data(), arrays[i], size + 1, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
      EXPECT(cudaFree(arrays[i] + 256) == cudaErrorInvalidValue);
    }
    for (unsigned char *memory : arrays)
      EXPECT(cudaFree(memory) == cudaSuccess);
    EXPECT(cudaFree(arrays[1]) == cudaErrorInvalidValue);
  }
  EXPECT(cudaMemGetInfo(&after, &total) == cudaSuccess);
  EXPECT(before == after);
  return result();
}
