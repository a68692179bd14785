// Two kernels whose grain can be changed, launched with a constant block shape: one adds three neighbours that it keeps in
// shared memory, the other reads a long way of each thread's own.
#include <cstdio>
#include <vector>

__global__ void smooth(float *out, const float *in, int n) {
  __shared__ float tile[66];
  int i = blockIdx.x * 64 + threadIdx.x;
  tile[threadIdx.x + 1] = i < n ? in[i] : 0.0f;
  if (threadIdx.x == 0)
    tile[0] = i > 0 ? in[i - 1] : 0.0f;
  if (threadIdx.x == 63)
    tile[65] = i + 1 < n ? in[i + 1] : 0.0f;
  __syncthreads();
  if (i < n)
    out[i] = 0.25f * (tile[threadIdx.x] + 2 * tile[threadIdx.x + 1] + tile[threadIdx.x + 2]);
}

__global__ void polynomial(float *out, const float *in, int n, int degree) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n)
    return;
  float x = in[i], sum = 0.0f;
  for (int k = 0; k < degree; ++k)
    sum = sum * x * 0.25f + 0.5f;
  out[i] = sum;
}

int main(int argc, char **) {
  const int n = 100000 + argc;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i)
    host[i] = (i % 64) / 64.0f;
  float *a, *b;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  cudaMemcpy(a, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  for (int step = 0; step < 40; ++step) {
    smooth<<<(n + 63) / 64, 64>>>(b, a, n);
    polynomial<<<(n + 127) / 128, 128>>>(a, b, n, 3);
  }
  cudaMemcpy(host.data(), a, n * sizeof(float), cudaMemcpyDeviceToHost);
  unsigned sum = 0;
  for (int i = 0; i < n; ++i)
    sum = sum * 31 + __builtin_bit_cast(unsigned, host[i]);
  std::printf("digest %08x, %s\n", sum, cudaGetErrorString(cudaGetLastError()));
  return 0;
}
