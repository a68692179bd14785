// Shared memory of a kernel that was not raised, an instance of a template, beside a kernel that runs as whole blocks: both forms of the
// source have it, and it is one.
// RUN: %regrain --offload-arch=cpu -O2 -std=c++17 %s -o %t && %t
// RUN: %regrain --offload-arch=cpu -O2 -std=c++17 -fgpu-rdc %s -o %t && %t
template <int N> __global__ void raised(int *out) {
  __shared__ int tile[N];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  atomicAdd(out, tile[N - 1 - threadIdx.x]);
}
template <int N> __global__ void kept(int *out) {
  __shared__ alignas(8) long bar;
  unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(N) : "memory");
  __syncthreads();
  long token;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(at) : "memory");
  int done = 0;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }" : "=r"(done) : "r"(at), "l"(token) : "memory");
  atomicAdd(out, 1);
}
int main() {
  int *p;
  cudaMallocManaged(&p, sizeof *p);
  *p = 0;
  raised<64><<<1, 64>>>(p);
  kept<64><<<1, 64>>>(p);
  return cudaDeviceSynchronize() || *p != 2016 + 64;
}
