// Kernels for programs that run on more than one device: a launch with a barrier, one of each stream, and what came of them.
#include <cstdio>
__device__ int offset = 5;
__global__ void mirror(float *out, int n, float by) {
  __shared__ float tile[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? out[i] : 0;
  __syncthreads();
  if (i < n) out[i] = tile[63 - threadIdx.x] * by + blockIdx.x;
}
__global__ void shift(float *out) { out[blockIdx.x * blockDim.x + threadIdx.x] += offset; }
int main() {
  const int blocks = 11, n = 64 * blocks;
  float host[n], *device;
  cudaStream_t stream;
  cudaEvent_t done;
  for (int i = 0; i < n; i++) host[i] = i;
  cudaError_t error = cudaMalloc(&device, sizeof host);
  if (error) return printf("no memory: %s, code %d\n", cudaGetErrorName(error), error), 1;
  cudaStreamCreate(&stream);
  cudaEventCreate(&done);
  cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
  mirror<<<blocks, 64>>>(device, n, 2.0f);
  cudaDeviceSynchronize();
  shift<<<blocks, 64, 0, stream>>>(device);
  cudaEventRecord(done, stream);
  cudaStreamWaitEvent(0, done, 0);
  error = cudaEventSynchronize(done);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < n; i++) wrong += host[i] != (i / 64 * 64 + 63 - i % 64) * 2.0f + i / 64 + 5;
  printf("%s, %d wrong\n", cudaGetErrorName(error), wrong);
}
