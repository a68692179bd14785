#include <cstdio>

__global__ void reverse(float *data) {
  __shared__ float tile[64];
  tile[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = tile[63 - threadIdx.x];
}

int main() {
  float host[64], *device;
  for (int i = 0; i < 64; ++i) host[i] = i;
  cudaMalloc(&device, sizeof host);
  cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
  reverse<<<1, 64>>>(device);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%g ... %g: %s\n", host[0], host[63], cudaGetErrorString(cudaGetLastError()));
}
