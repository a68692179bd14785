// new, delete, malloc and free on the device.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

struct Node {
  int key;
  Node *left = nullptr, *right = nullptr;
  __device__ Node(int k) : key(k) {}
  __device__ ~Node() {
    delete left;
    delete right;
  }
  __device__ void insert(int k) {
    Node *&child = k < key ? left : right;
    if (child)
      child->insert(k);
    else
      child = new Node(k);
  }
  __device__ int sum() const { return key + (left ? left->sum() : 0) + (right ? right->sum() : 0); }
};

__device__ int destroyed;
struct Counted {
  int v = 3;
  __device__ ~Counted() { atomicAdd(&destroyed, v); }
};

__global__ void tree(int *out) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  Node *root = new Node(500);
  for (int i = 0; i < 20; ++i)
    root->insert((i * 379 + t * 31) % 1000);
  out[t] = root->sum();
  delete root;
}

__global__ void arrays(int *out, int n) {
  int *a = new int[n];
  auto *c = new Counted[4];
  double *m = static_cast<double *>(malloc(n * sizeof(double)));
  int sum = 0;
  for (int i = 0; i < n; ++i)
    a[i] = i * threadIdx.x, m[i] = i;
  for (int i = 0; i < n; ++i)
    sum += a[i] + int(m[i]);
  out[threadIdx.x] = sum;
  delete[] a;
  delete[] c;
  free(m);
  free(nullptr);
}

// Allocated by one thread, used by the block, and by a later kernel.
__device__ int *kept;
__global__ void allocate(int *out) {
  __shared__ int *data;
  if (threadIdx.x == 0)
    data = new int[blockDim.x];
  __syncthreads();
  data[threadIdx.x] = threadIdx.x + 1;
  __syncthreads();
  out[threadIdx.x] = data[blockDim.x - 1 - threadIdx.x];
  if (threadIdx.x == 0)
    kept = data;
}
__global__ void use(int *out) {
  out[threadIdx.x] = kept[threadIdx.x] * 2;
  __syncthreads();
  if (threadIdx.x == 0)
    delete[] kept;
}

int main() {
  int *out = managed<int>(128);
  OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20));
  tree<<<4, 32>>>(out);
  finish_kernel();
  for (int t = 0; t < 128; ++t) {
    int sum = 500;
    for (int i = 0; i < 20; ++i)
      sum += (i * 379 + t * 31) % 1000;
    EXPECT_AT(t, out[t], sum);
  }
  arrays<<<1, 32>>>(out, 100);
  finish_kernel();
  for (int t = 0; t < 32; ++t)
    EXPECT_AT(t, out[t], 4950 * t + 4950);
  int d = 0;
  OK(cudaMemcpyFromSymbol(&d, destroyed, sizeof d));
  EXPECT_AT(0, d, 32 * 4 * 3);
  allocate<<<1, 64>>>(out);
  finish_kernel();
  for (int t = 0; t < 64; ++t)
    EXPECT_AT(t, out[t], 64 - t);
  use<<<1, 64>>>(out);
  finish_kernel();
  for (int t = 0; t < 64; ++t)
    EXPECT_AT(t, out[t], 2 * t + 2);
  return result();
}
